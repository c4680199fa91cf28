import { assert } from '#base';
import type { LookupName, Question, Write } from '#model';
import type { Unit, UnitOutcome } from '../store.ts';
import { Answers, isKeepable, keyOf, type Memory } from './answers.ts';
import { headIn, LOCK_AUDIT } from './apply.ts';
import { type Asker, askerOf, asksForEvents, assumedOf, noteMisses, runsLow } from './asker.ts';
import { Committed } from './committed.ts';
import type { PostgresConnection } from './connection.ts';
import type { DatabaseTime } from './database-time.ts';
import { isHeldByOthers } from './failures.ts';
import type { Answer, Statement } from './flight.ts';
import {
  type Gathered,
  gather,
  isOfEvent,
  isOfWorkflow,
  lockWorkflows,
  type Waiting,
  workflowsAsked,
} from './gather.ts';
import { type Habits, isAudit } from './habits.ts';
import { mayChange, rowLocks } from './holds.ts';
import type { KnownWorkflow, KnownWorkflows } from './known.ts';
import { type Decision, type Looked, look } from './look.ts';
import { answersIn, gatheredLookup, lookupsFor } from './lookups.ts';
import type { CommitMarks } from './lost-commit.ts';
import { CLOCK_MS_MAX, HELD_REVISIONS, type HeldRevisions, heldRevisions, type Standing } from './revisions.ts';
import { askWindow, type Window, windowsIn } from './window.ts';

export const BEGIN: Statement = { name: 'begin', text: 'BEGIN ISOLATION LEVEL READ COMMITTED' };

/** Standing in line, behind whoever has it: those who came meanwhile wait as well, so not for long. */
const STAND_IN_LINE: Statement = { name: 'stand in line', text: 'SET LOCAL lock_timeout = 200' };

/** A unit that still asks for more after so many rounds never ends. */
const ROUNDS_MAX = 200;

export interface DecidedBatch {
  readonly decisions: readonly Decision[];
  readonly head: ReturnType<typeof headIn>;
  /** The revisions of the workflows it is about, as they were found. */
  readonly revisions: ReadonlyMap<string, number>;
}

/** Decided before its transaction begins, on what is remembered; it holds if everything is still as it was then. */
export interface RememberedBatch extends DecidedBatch {
  readonly standing: Standing;
  readonly at: number;
  /** What was taken not to be there. */
  readonly absent: readonly Question[];
  /** It goes on from the end of the audit log as it is remembered. */
  readonly isAudited: boolean;
}

/** What each unit decided on what is remembered, and on what revision, and when. */
interface Beforehand {
  readonly views: readonly (Looked | undefined)[];
  readonly revisions: readonly (number | undefined)[];
  /** What any of them took not to be there: all of them were told so. */
  readonly absent: readonly Question[];
  readonly at: number;
}

interface Surroundings {
  readonly connection: PostgresConnection;
  readonly memory: Memory;
  readonly habits: Habits;
  readonly marks: CommitMarks;
  readonly time: DatabaseTime;
  /** Nobody's, where everything is to be read anew. */
  readonly known: KnownWorkflows | undefined;
  /** The end of the audit log, as it is remembered. */
  readonly auditHead: ReturnType<typeof headIn>;
  /** Workflows that were in other hands when those before it had their turn: nobody goes before them. */
  readonly passedOver: Set<string> | undefined;
}

/** Begins a transaction, reads what its units ask for, and decides each on what was read. It ends with the caller. */
export class Batch {
  readonly #askers: readonly Asker[];
  readonly #with: Surroundings;
  readonly #waiting: Waiting;
  readonly #questions = new Map<string, Question>();
  /** Questions of units whose workflow is known beforehand. */
  readonly #told = new Set<Question>();
  #answers: Answers;
  #now = 0;
  #audit: { readonly head: ReturnType<typeof headIn> } | undefined;
  #revisions: ReadonlyMap<string, number> = new Map();
  #windows: ReadonlyMap<string, Window> = new Map();
  #views: readonly Looked[] = [];
  #beforehand: Beforehand = { views: [], revisions: [], absent: [], at: 0 };
  #isRemembered = false;

  constructor(units: readonly Unit[], waiting: Waiting, surroundings: Surroundings) {
    this.#waiting = waiting;
    this.#with = surroundings;
    this.#answers = new Answers(surroundings.memory);
    this.#askers = units.map((unit) => askerOf(unit, surroundings.memory, surroundings.known));
  }

  /** On what is remembered alone, before anything is asked. Undefined where that does not do. */
  remembered(): RememberedBatch | undefined {
    const standing = this.#with.known?.standing;
    const now = this.#with.time.now();
    if (standing === undefined || now === undefined) return undefined;
    const known = this.#askers.flatMap((asker) => asker.known ?? []);
    if (known.length === 0) return undefined;
    const workflows = known.map(({ id }) => id);
    this.#answers = new Answers(this.#with.memory, workflows, workflows);
    for (const each of known) this.#answers.trust(each);
    for (const asker of this.#askers) if (asker.known) asker.misses = assumedOf(asker);
    const absent = this.#askers.flatMap(({ misses }) => misses);
    for (const question of absent) this.#answers.add({ question, rows: [] });
    this.#now = now;
    const views = this.#askers.map((asker) => asker.known && this.#look(asker));
    this.#beforehand = { views, revisions: this.#askers.map((asker) => asker.known?.revision), absent, at: now };
    for (const [i, asker] of this.#askers.entries()) noteMisses(asker, views[i]?.view, this.#with.habits);
    if (!views.every(isSure)) return undefined;
    const isAudited = views.some((looked) => looked?.decided.kind === 'done' && audits(looked.decided));
    const head = this.#with.auditHead;
    if (isAudited && head === undefined) return undefined;
    this.#revisions = new Map(known.map(({ id, revision }) => [id, revision]));
    this.#isRemembered = true;
    return { ...this.#settled(views as readonly Looked[]), standing, at: now, absent, isAudited, head };
  }

  /** Those its units are about, as far as their own words say. */
  get workflows(): ReadonlySet<string> {
    return new Set(this.#askers.flatMap(({ workflow }) => workflow ?? []));
  }

  /** Whether any of its units is about one of these, or does not say what it is about. */
  isAbout(workflows: ReadonlySet<string>): boolean {
    return this.#askers.some(({ workflow }) => workflow === undefined || workflows.has(workflow));
  }

  /** Whether anything of it could go by what is remembered. */
  get hasKnown(): boolean {
    return this.#askers.some(({ known }) => known !== undefined);
  }

  /** On what is held and read. Where it fails nothing was written, and nothing of it stays open. */
  async decide(): Promise<DecidedBatch> {
    try {
      return await this.#decideHeld();
    } catch (error) {
      // The next transaction has a connection of its own. What failed as a flight is over.
      if (!isHeldByOthers(error)) this.#with.connection.destroy();
      throw error;
    }
  }

  async #decideHeld(): Promise<DecidedBatch> {
    this.#isRemembered = false;
    for (const { known, misses, foresight } of this.#askers) {
      if (known) this.#tell(known.id, misses);
      this.#ask(known ? misses : [...foresight.questions, ...this.#with.habits.workersOf(foresight.kind)]);
    }
    await this.#begin();
    let views: readonly Looked[] = [];
    for (let round = 0; round < ROUNDS_MAX; round++) {
      // More answers change nothing for those who were told everything.
      const before = views;
      const isAsAssumed = this.#isAsAssumed();
      views = this.#askers.map((asker, i) => {
        if (before[i]?.view.isOf(this.#answers)) return before[i];
        return (isAsAssumed ? this.#stillSo(asker, i) : undefined) ?? this.#look(asker);
      });
      if (await this.#completed(views)) return this.#settled(views);
    }
    throw new Error(`bug: a unit was not decided in ${ROUNDS_MAX} rounds: ${this.#kinds()}`);
  }

  /** Whether what was decided beforehand may still count: what was taken not to be there is not. */
  #isAsAssumed(): boolean {
    const { absent, at } = this.#beforehand;
    if (Math.abs(this.#now - at) > CLOCK_MS_MAX) return false;
    return absent.every((question) => this.#answers.get(question)?.length === 0);
  }

  /** What a unit decided beforehand, where everything is held and as it was remembered. */
  #stillSo({ known }: Asker, position: number): Looked | undefined {
    const { views, revisions } = this.#beforehand;
    const seen = views[position];
    return known && known.revision === revisions[position] && seen?.view.isWhole ? seen : undefined;
  }

  /** What was decided and became of it, for whoever keeps it in mind. */
  committed(outcomes: readonly UnitOutcome[]): Committed {
    return new Committed({
      units: outcomes.map((outcome, i) => ({
        outcome,
        known: this.#askers[i]?.known,
        view: (this.#views[i] as Looked).view,
      })),
      revisions: this.#revisions,
      windows: this.#windows,
      isRemembered: this.#isRemembered,
    });
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
    const ofSome = this.#ofSome();
    for (const asked of ofSome.values()) this.#ask(asked);
    const questions = [...this.#questions.values()];
    const ofAll = [...this.#with.habits.of(this.#kindsUnknown())].filter((name) => !ofSome.has(name));
    const needs = new Set([...ofAll, ...this.#ofEvents()]);
    const gathers = gather(needs, questions);
    const windows = this.#windowsAsked();
    // Found with what is gathered, if they are there at all.
    const explicit = questions.filter(
      ({ name, by }) =>
        name !== 'workflow' && !(name === 'run' && needs.has('run')) && !(name === 'heads' && windows.includes(by[0])),
    );
    const lookups = [...needs].map((name) => ({ name, statement: gatheredLookup(name) }));
    const asked = lookupsFor(explicit);
    const isAudited = this.#with.habits.isAudited(this.#kinds());
    const beginning = [...before, BEGIN, ...(this.#waiting === 'wait' ? [STAND_IN_LINE] : []), this.#with.marks.next()];
    const opening = [
      ...beginning,
      lockWorkflows(questions, this.#waiting, this.#told),
      HELD_REVISIONS,
      ...rowLocks(explicit),
      ...gathers,
    ];
    const reading = [...lookups, ...asked];
    const answers = await this.#with.connection.flight([
      ...opening,
      ...reading.map(({ statement }) => statement),
      ...(windows.length > 0 ? askWindow(windows) : []),
      ...(isAudited ? LOCK_AUDIT : []),
    ]);
    const [lock, held] = answers.slice(beginning.length);
    this.#take(lock, heldRevisions(held?.rows[0]));
    this.#keep(reading, answers.slice(opening.length));
    this.#keepWindows(windows, answers.slice(opening.length + reading.length));
    this.#audit = isAudited ? { head: headIn(answers.at(-1)) } : undefined;
    for (const workflow of workflowsAsked(questions)) {
      if (!this.#answers.wanted.has(workflow)) this.#answers.addAbsent(workflow);
    }
  }

  /** Whoever asks for an event that is not remembered asks about it next. */
  #ofEvents(): readonly Gathered[] {
    return this.#askers
      .filter(asksForEvents)
      .flatMap(({ foresight }) => [...this.#with.habits.of([foresight.kind])].filter(isOfEvent));
  }

  /** Read for all of them together, so that it is seldom anybody's turn. */
  #windowsAsked(): readonly string[] {
    return [...new Set(this.#askers.filter(runsLow).flatMap(({ known }) => known?.id ?? []))];
  }

  #keepWindows(workflows: readonly string[], answers: readonly Answer[]): void {
    this.#windows = workflows.length === 0 ? new Map() : windowsIn(workflows, answers);
    for (const window of this.#windows.values()) for (const answered of window.answers) this.#answers.add(answered);
  }

  /**
   * Lookups about workflows that only some of the units need, where it is known which workflows those are: asked for these, and
   * not for all that the batch holds.
   */
  #ofSome(): ReadonlyMap<Gathered, readonly Question[]> {
    const found = new Map<Gathered, Question[]>();
    const ofAll = new Set<Gathered>();
    for (const { known, workflow, foresight } of this.#askers) {
      if (known) continue;
      if (workflow !== undefined) this.#tell(workflow, foresight.questions);
      for (const name of this.#with.habits.of([foresight.kind])) {
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

  #take(lock: Answer | undefined, held: HeldRevisions): void {
    const [locked, wanted, now] = lock?.rows[0] ?? [];
    const passedOver = this.#with.passedOver;
    const ours = words(locked).filter((workflow) => !passedOver?.has(workflow));
    for (const workflow of words(wanted)) if (!ours.includes(workflow)) passedOver?.add(workflow);
    this.#answers = new Answers(this.#with.memory, ours, words(wanted));
    this.#now = this.#with.time.said(Number(now));
    this.#revisions = held.revisions;
    this.#with.known?.stands(held);
    for (const asker of this.#askers) if (asker.known) this.#trust(asker, asker.known);
  }

  /** What somebody else has changed, or has in hand, is read anew. */
  #trust(asker: Asker, known: KnownWorkflow): void {
    const isHeld = this.#answers.locked.has(known.id);
    if (isHeld && this.#with.known?.get(known.id) === known && this.#revisions.get(known.id) === known.revision) {
      this.#answers.trust(known);
      return;
    }
    if (isHeld) this.#with.known?.wasWrong(known.id);
    asker.known = undefined;
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
    return this.#askers[position]?.foresight.kind ?? '';
  }

  #kinds(): readonly string[] {
    return this.#askers.map(({ foresight }) => foresight.kind);
  }

  /** Of those who cannot go by what is remembered. */
  #kindsUnknown(): readonly string[] {
    return this.#askers.flatMap(({ known, foresight }) => (known ? [] : [foresight.kind]));
  }

  #look(asker: Pick<Asker, 'unit' | 'known'>): Looked {
    return look(asker, this.#answers, this.#now);
  }

  /**
   * One after the other, as they came: a unit whose rows an earlier one of the batch changes has seen them as they were, so it
   * waits for the next batch.
   */
  #settled(views: readonly Looked[]): DecidedBatch {
    this.#views = views;
    const changed = new Set<string>();
    const decisions = views.map(({ view, decided }, position): Decision => {
      if (view.isHeldUp) return { kind: 'deferred', because: 'held' };
      this.#with.habits.note(this.#kindAt(position), view.asked, decided.kind === 'done' ? decided.writes : []);
      if ([...view.uses].some((used) => changed.has(used))) return { kind: 'deferred', because: 'changed' };
      if (decided.kind === 'done' && decided.writes.length > 0)
        for (const used of view.uses) if (mayChange(used, decided.writes)) changed.add(used);
      return decided;
    });
    return { decisions, head: this.#audit?.head, revisions: this.#revisions };
  }
}

/** What it is decided on is all remembered. */
function isSure(looked: Looked | undefined): boolean {
  return looked?.view.isWhole === true;
}

function audits({ writes }: { readonly writes: readonly Write[] }): boolean {
  return writes.some(isAudit);
}

function words(value: unknown): string[] {
  assert(value === null || typeof value === 'string', 'ids come as words');
  return value === null || value === '' ? [] : value.split(' ');
}
