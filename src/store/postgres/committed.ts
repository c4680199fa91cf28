import type { Write } from '#model';
import type { UnitOutcome } from '../store.ts';
import type { View } from './answers.ts';
import { KnownWorkflow, type KnownWorkflows } from './known.ts';
import type { AnsweredQuestion } from './lookups.ts';
import type { Window } from './window.ts';

/** A unit of a batch: what became of it, what it was told, and what was remembered of its workflow. */
interface CommittedUnit {
  readonly outcome: UnitOutcome;
  readonly view: View;
  readonly known: KnownWorkflow | undefined;
}

interface Parts {
  readonly units: readonly CommittedUnit[];
  /** The revisions of the workflows it is about, as they were found. */
  readonly revisions: ReadonlyMap<string, number>;
  readonly windows: ReadonlyMap<string, Window>;
  /** It was decided on what is remembered alone. */
  readonly isRemembered: boolean;
}

/** A batch that is being committed: which revisions rise with it, and what there is to remember of it. */
export class Committed {
  readonly #parts: Parts;
  /** The workflows of each unit. */
  readonly #workflows: readonly (readonly string[])[];
  /** The units of each workflow, by their place. */
  readonly #about = new Map<string, number[]>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#workflows = parts.units.map(({ view }) => view.workflows);
    for (const [place, workflows] of this.#workflows.entries())
      for (const workflow of workflows) {
        const places = this.#about.get(workflow);
        if (places === undefined) this.#about.set(workflow, [place]);
        else places.push(place);
      }
  }

  /** The workflows whose revisions rise with it: all that are changed, and all that were only remembered. */
  get raised(): readonly string[] {
    const { isRemembered, revisions, units } = this.#parts;
    if (isRemembered) return [...revisions.keys()];
    const changed = units.flatMap((unit, i) => (writesOf(unit).length > 0 ? (this.#workflows[i] ?? []) : []));
    const created = units.flatMap(writesOf).flatMap((write) => (write.set === 'workflow.created' ? write.row.id : []));
    return [...new Set([...changed, ...created])];
  }

  /** As far as that is worth it; what was remembered and is no longer so is forgotten. */
  remember(known: KnownWorkflows): void {
    for (const workflow of this.raised) {
      const followed = this.#followed(workflow, known);
      if (followed === undefined) known.forget(workflow);
      else known.keep(followed);
    }
  }

  #followed(workflow: string, known: KnownWorkflows): KnownWorkflow | undefined {
    const { units, revisions } = this.#parts;
    const places = this.#about.get(workflow) ?? [];
    // What is about several workflows at once is rare, and each would have to know its part.
    if (places.some((place) => this.#workflows[place]?.length !== 1)) return undefined;
    const about = places.flatMap((place) => units[place] ?? []);
    const writes = about.flatMap(writesOf);
    const next = about.find((unit) => unit.known)?.known ?? newlyKnown(workflow, writes, known);
    if (next === undefined) return undefined;
    this.#learn(next, about);
    try {
      return next.follow(writes, (revisions.get(workflow) ?? 0) + 1) ? next : undefined;
    } catch {
      // Too little was known for it. It is committed all the same, and is read anew when somebody asks.
      return undefined;
    }
  }

  #learn(known: KnownWorkflow, about: readonly CommittedUnit[]): void {
    const { isRemembered, windows } = this.#parts;
    // Then only what was taken not to be there is new.
    const isNews = ({ rows }: AnsweredQuestion) => !isRemembered || rows.length === 0;
    for (const { view } of about)
      for (const { question, rows } of view.told.filter(isNews)) known.learn(question, rows);
    const window = windows.get(known.id);
    if (window) known.learnWindow(window);
  }
}

function writesOf({ outcome }: CommittedUnit): readonly Write[] {
  return outcome.kind === 'done' ? outcome.writes : [];
}

/** From its first run on. */
function newlyKnown(workflow: string, writes: readonly Write[], known: KnownWorkflows): KnownWorkflow | undefined {
  const isBusy = writes.some(({ set }) => set === 'run.created');
  return isBusy && known.isWorthKnowing(workflow) ? new KnownWorkflow(workflow) : undefined;
}
