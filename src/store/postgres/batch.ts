import { assert, type Clock } from '#base';
import type { LookupName, Question, Write } from '#model';
import type { Foresight, Unit } from '../store.ts';
import { Answers, isKeepable, keyOf, type Memory, View } from './answers.ts';
import { headIn, LOCK_AUDIT } from './apply.ts';
import type { PostgresConnection } from './connection.ts';
import type { Answer, Statement } from './flight.ts';
import {
  GATHERED,
  type Gathered,
  gather,
  isGathered,
  isOfWorkflow,
  lockWorkflows,
  type Waiting,
  workflowsAsked,
} from './gather.ts';
import { mayChange, rowLocks } from './holds.ts';
import { answersIn, gatheredLookup, lookupOf } from './lookups.ts';
import type { CommitMarks } from './lost-commit.ts';

/** A unit that still asks for more after so many rounds never ends. */
const ROUNDS_MAX = 40;

/** What became of each unit when it was decided; nothing is written yet. */
type Decision =
  | { readonly kind: 'done'; readonly writes: readonly Write[] }
  | { readonly kind: 'refused'; readonly error: Error }
  | { readonly kind: 'deferred'; readonly because: 'held' | 'changed' };

export interface DecidedBatch {
  readonly decisions: readonly Decision[];
  readonly head: ReturnType<typeof headIn>;
}

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

interface Surroundings {
  readonly connection: PostgresConnection;
  readonly memory: Memory;
  readonly habits: Habits;
  readonly marks: CommitMarks;
  /** Only for tests: else it is the database's clock that counts. */
  readonly clock: Clock | undefined;
}

/** Begins a transaction, reads what its units ask for, and decides each on what was read. It ends with the caller. */
export class Batch {
  readonly #units: readonly Unit[];
  readonly #foresights: readonly Foresight[];
  readonly #with: Surroundings;
  readonly #waiting: Waiting;
  readonly #questions = new Map<string, Question>();
  /** Questions of units whose workflow is known beforehand. */
  readonly #told = new Set<Question>();
  #answers: Answers;
  #now = 0;
  #audit: { readonly head: ReturnType<typeof headIn> } | undefined;

  constructor(units: readonly Unit[], waiting: Waiting, surroundings: Surroundings) {
    this.#units = units;
    this.#waiting = waiting;
    this.#with = surroundings;
    this.#answers = new Answers(surroundings.memory);
    this.#foresights = units.map((unit) => this.#foresightOf(unit));
    for (const { kind, questions } of this.#foresights)
      this.#ask([...questions, ...surroundings.habits.workersOf(kind)]);
  }

  async decide(): Promise<DecidedBatch> {
    await this.#begin();
    let views: readonly Looked[] = [];
    for (let round = 0; round < ROUNDS_MAX; round++) {
      // More answers change nothing for those who were told everything.
      const before = views;
      views = this.#units.map((unit, i) => (before[i]?.view.isOf(this.#answers) ? before[i] : this.#look(unit)));
      if (await this.#completed(views)) return this.#settled(views);
    }
    throw new Error(`bug: a unit was not decided in ${ROUNDS_MAX} rounds: ${this.#foresights.map((f) => f.kind)}`);
  }

  /** Fetches what the views could not be told, or begins anew where more has to be held. True when nothing is missing. */
  async #completed(views: readonly Looked[]): Promise<boolean> {
    const missing = this.#ask(views.flatMap(({ view }) => view.missing));
    for (const [position, { view }] of views.entries()) this.#with.habits.missed(this.#kindAt(position), view.missing);
    const unlocked = [...new Set(views.flatMap(({ view }) => [...view.unlocked]))];
    if (unlocked.length > 0) {
      this.#ask(unlocked.map((id) => ({ name: 'workflow', by: [id] }) as unknown as Question));
      await this.#begin({ name: 'rollback', text: 'ROLLBACK' });
      return false;
    }
    const isAudited = views.some(({ view, decided }) => view.isWhole && decided.kind === 'done' && audits(decided));
    const needsAudit = isAudited && this.#audit === undefined;
    if (missing.length === 0 && !needsAudit) return true;
    await this.#fetch(missing, needsAudit);
    return missing.length === 0;
  }

  async #begin(...before: readonly Statement[]): Promise<void> {
    const kinds = this.#foresights.map(({ kind }) => kind);
    const ofSome = this.#ofSome();
    for (const asked of ofSome.values()) this.#ask(asked);
    const questions = [...this.#questions.values()];
    const needs = new Set([...this.#with.habits.of(kinds)].filter((name) => !ofSome.has(name)));
    const gathers = gather(needs, questions);
    // Found with what is gathered, if they are there at all.
    const explicit = questions.filter(({ name }) => name !== 'workflow' && !(name === 'run' && needs.has('run')));
    const lookups = [...needs].map((name) => ({ name, statement: gatheredLookup(name) }));
    const asked = lookupsFor(explicit);
    const isAudited = this.#with.habits.isAudited(kinds);
    const opening = [
      ...before,
      { name: 'begin', text: 'BEGIN ISOLATION LEVEL READ COMMITTED' },
      this.#with.marks.next(),
      lockWorkflows(questions, this.#waiting, this.#told),
      ...rowLocks(explicit),
      ...gathers,
    ];
    const answers = await this.#with.connection.flight([
      ...opening,
      ...[...lookups, ...asked].map(({ statement }) => statement),
      ...(isAudited ? LOCK_AUDIT : []),
    ]);
    this.#take(answers[before.length + 2]);
    this.#keep([...lookups, ...asked], answers.slice(opening.length));
    this.#audit = isAudited ? { head: headIn(answers.at(-1)) } : undefined;
    for (const workflow of workflowsAsked(questions)) {
      if (!this.#answers.wanted.has(workflow)) this.#answers.addAbsent(workflow);
    }
  }

  /**
   * Lookups about workflows that only some of the units need, where it is known which workflows those are: asked for these, and
   * not for all that the batch holds.
   */
  #ofSome(): ReadonlyMap<Gathered, readonly Question[]> {
    const found = new Map<Gathered, Question[]>();
    const ofAll = new Set<Gathered>();
    for (const { kind, questions } of this.#foresights) {
      const workflow = this.#workflowIn(questions);
      if (workflow !== undefined) this.#tell(workflow, questions);
      for (const name of this.#with.habits.of([kind])) {
        if (!isOfWorkflow(name)) continue;
        if (workflow === undefined) ofAll.add(name);
        else found.set(name, [...(found.get(name) ?? []), { name, by: [workflow] } as unknown as Question]);
      }
    }
    for (const name of ofAll) found.delete(name);
    return found;
  }

  #tell(workflow: string, questions: readonly Question[]): void {
    this.#ask([{ name: 'workflow', by: [workflow] } as unknown as Question]);
    for (const question of questions) this.#told.add(question);
  }

  /** The one workflow a unit is about, as far as its own words say. */
  #workflowIn(questions: readonly Question[]): string | undefined {
    const named = new Set<string | undefined>(workflowsAsked(questions));
    for (const { name, by } of questions) if (name === 'execution') named.add(this.#with.memory.workflowOf(by[0]));
    const [workflow] = named;
    return named.size === 1 ? workflow : undefined;
  }

  #take(lock: Answer | undefined): void {
    const [locked, wanted, now] = lock?.rows[0] ?? [];
    this.#answers = new Answers(this.#with.memory, words(locked), words(wanted));
    this.#now = this.#with.clock?.now() ?? Number(now);
  }

  async #fetch(missing: readonly Question[], needsAudit: boolean): Promise<void> {
    const asked = lookupsFor(missing);
    const locks = rowLocks(missing);
    const answers = await this.#with.connection.flight([
      ...locks,
      ...asked.map(({ statement }) => statement),
      ...(needsAudit ? LOCK_AUDIT : []),
    ]);
    this.#keep(asked, answers.slice(locks.length));
    if (needsAudit) this.#audit = { head: headIn(answers.at(-1)) };
  }

  #keep(lookups: readonly { readonly name: LookupName }[], answers: readonly Answer[]): void {
    for (const [position, { name }] of lookups.entries()) {
      for (const answered of answersIn(name, answers[position]?.rows ?? [])) this.#answers.add(answered);
    }
  }

  /** Each once, and none that no row could answer. */
  #ask(questions: readonly Question[]): readonly Question[] {
    const asked = new Map<string, Question>();
    for (const question of questions) if (question.by.every(isKeepable)) asked.set(keyOf(question), question);
    for (const [key, question] of asked) this.#questions.set(key, question);
    return [...asked.values()];
  }

  #kindAt(position: number): string {
    return this.#foresights[position]?.kind ?? '';
  }

  #look(unit: Unit): Looked {
    const view = new View(this.#answers);
    try {
      return { view, decided: { kind: 'done', writes: unit.decide(view, this.#now) } };
    } catch (error) {
      // What is no error at all is nobody's refusal: it ends the batch.
      if (!(error instanceof Error)) throw error;
      return { view, decided: { kind: 'refused', error } };
    }
  }

  /**
   * One after the other, as they came: a unit whose rows an earlier one of the batch changes has seen them as they were, so it
   * waits for the next batch.
   */
  #settled(views: readonly Looked[]): DecidedBatch {
    const changed = new Set<string>();
    const decisions = views.map(({ view, decided }, position): Decision => {
      if (view.isHeldUp) return { kind: 'deferred', because: 'held' };
      this.#with.habits.note(this.#kindAt(position), view.asked, decided.kind === 'done' ? decided.writes : []);
      if ([...view.uses].some((used) => changed.has(used))) return { kind: 'deferred', because: 'changed' };
      if (decided.kind === 'done' && decided.writes.length > 0)
        for (const used of view.uses) if (mayChange(used, decided.writes)) changed.add(used);
      return decided;
    });
    return { decisions, head: this.#audit?.head };
  }

  /** A unit that cannot say what it will ask for is asked, on nothing: it says at least where it begins. */
  #foresightOf(unit: Unit): Foresight {
    const { memory } = this.#with;
    try {
      const foresight = unit.foresee?.((execution) => memory.workflowOf(execution));
      if (foresight) return foresight;
    } catch {
      // It looks at words nobody has checked yet; the decision will say what is wrong with them.
    }
    return { kind: 'unknown', questions: this.#look(unit).view.missing };
  }
}

interface Looked {
  readonly view: View;
  readonly decided: Exclude<Decision, { kind: 'deferred' }>;
}

function lookupsFor(questions: readonly Question[]): { name: LookupName; statement: Statement }[] {
  const names = [...new Set(questions.map(({ name }) => name))];
  return names.map((name) => ({
    name,
    statement: lookupOf(
      name,
      questions.filter((question) => question.name === name),
    ),
  }));
}

function audits({ writes }: { readonly writes: readonly Write[] }): boolean {
  return writes.some(isAudit);
}

function isAudit({ set }: Write): boolean {
  return set === 'audit.appended';
}

function words(value: unknown): string[] {
  assert(value === null || typeof value === 'string', 'ids come as words');
  return value === null || value === '' ? [] : value.split(' ');
}
