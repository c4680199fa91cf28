import type { LookupName, Question, Write } from '#model';
import { GATHERED, type Gathered, isGathered } from './gather.ts';

/** What units of a kind have asked for so far. */
export class Habits {
  readonly #lookups = new Map<string, Set<Gathered>>();
  readonly #audited = new Set<string>();
  /** The worker that units of a kind missed last: it is nearly always this process itself. */
  readonly #workers = new Map<string, Question>();

  /** A kind that was never seen may need anything. */
  of(kinds: readonly string[]): ReadonlySet<Gathered> {
    const all = Object.keys(GATHERED) as Gathered[];
    return new Set(kinds.flatMap((kind) => [...(this.#lookups.get(kind) ?? all)]));
  }

  workersOf(kind: string): readonly Question[] {
    const worker = this.#workers.get(kind);
    return worker === undefined ? [] : [worker];
  }

  missed(kind: string, questions: readonly Question[]): void {
    for (const question of questions) if (question.name === 'worker') this.#workers.set(kind, question);
  }

  isAudited(kinds: readonly string[]): boolean {
    return kinds.some((kind) => this.#audited.has(kind));
  }

  note(kind: string, asked: Iterable<LookupName>, writes: readonly Write[]): void {
    const lookups = this.#lookups.get(kind) ?? new Set();
    for (const name of asked) if (isGathered(name)) lookups.add(name);
    this.#lookups.set(kind, lookups);
    if (writes.some(isAudit)) this.#audited.add(kind);
  }
}

export function isAudit({ set }: Write): boolean {
  return set === 'audit.appended';
}
