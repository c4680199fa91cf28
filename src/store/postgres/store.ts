import { type Clock, reach, StoreFailedError, type WorkflowId } from '#base';
import type { Event, Write } from '#model';
import { GuardError } from '../guard-error.ts';
import type { Store, Unit, UnitOutcome } from '../store.ts';
import { type Ahead, LookedAhead } from './ahead.ts';
import { Memory } from './answers.ts';
import { AtWork } from './at-work.ts';
import { AuditHead, headIs } from './audit-head.ts';
import { Batch, BEGIN, type DecidedBatch, type RememberedBatch } from './batch.ts';
import { ConnectionError, FlightError, type PostgresConnection } from './connection.ts';
import { DatabaseTime } from './database-time.ts';
import { doubt } from './doubt.ts';
import { isHeldByOthers, isLost, isMiscount, isRace, isRefused, postgresError } from './failures.ts';
import type { Statement } from './flight.ts';
import type { Waiting } from './gather.ts';
import { Habits, isAudit } from './habits.ts';
import { KnownWorkflows } from './known.ts';
import { CommitMarks } from './lost-commit.ts';
import { settleHere } from './origin.ts';
import { areAbsent, asKnown, raised, sayThatItRevises } from './revisions.ts';
import { openSession } from './session.ts';
import { callOnCommit } from './switchboard.ts';
import { APART, type Arrangement, TOGETHER, type Written } from './together.ts';
import { writtenBatch } from './written-batch.ts';

/** A unit that meets another process at the same key looks again; so often in a row it is no accident. */
const TRIES_MAX = 5;

/** As much as a batch of commands needs: a disk with less left is still full. */
const PROBE_CHARS = 64 * 1_024;

export interface PostgresStoreOptions {
  readonly url: string;
  readonly where: string;
  readonly clock: Clock | undefined;
  readonly callFor: ((writes: readonly Write[]) => string | undefined) | undefined;
  readonly role: 'executor' | 'worker' | undefined;
  readonly isRestored: boolean;
  readonly doubts: boolean;
  readonly ownGuards: string;
}

/**
 * The store on PostgreSQL, for any number of processes. A batch takes two round trips: one locks its workflows and reads what its
 * units ask for, one writes and commits. What a write expects is checked by the database itself, so the commit can travel with it.
 */
export class PostgresStore implements Store {
  readonly #options: PostgresStoreOptions;
  readonly #memory = new Memory();
  readonly #habits = new Habits();
  readonly #marks: CommitMarks;
  readonly #time: DatabaseTime;
  readonly #known: KnownWorkflows;
  readonly #atWork = new AtWork();
  readonly #auditHead = new AuditHead();
  readonly #ahead = new LookedAhead();
  /** The workflows of the commit that is under way. */
  #underWay: ReadonlySet<string> = new Set();
  #connection: PostgresConnection;
  #isRestored: boolean;
  #isClosed = false;
  #pastFlights = 0;

  constructor(connection: PostgresConnection, options: PostgresStoreOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#isRestored = options.isRestored;
    this.#marks = new CommitMarks(options.url);
    this.#time = new DatabaseTime(options.clock);
    this.#known = new KnownWorkflows(options.ownGuards);
  }

  get atWork(): number {
    return this.#atWork.count;
  }

  /** Round trips so far. */
  get roundTrips(): number {
    return this.#pastFlights + this.#connection.flights;
  }

  async commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    this.#mustBeOpen();
    if (units.length === 0) return [];
    try {
      const outcomes = await this.#commitTogether(units, SKIPPING);
      if (outcomes.some(({ kind }) => kind !== 'deferred')) return outcomes;
      // Everything is in somebody else's hands: stand in line for it, for a moment.
      return await this.#commitTogether(units, STANDING_IN_LINE);
    } catch (error) {
      throw postgresError(error, this.#options.where);
    }
  }

  /** Decided on what is remembered. It is for the flight to find out whether that is still so, however long before it was decided. */
  lookAhead(units: readonly Unit[]): void {
    try {
      const batch = this.#batchOf(this.#connection, units, SKIPPING);
      if (batch.isAbout(this.#underWay)) return;
      const decided = batch.remembered();
      // What goes into the audit log depends on what the commit before this one puts there.
      const written = decided && !decided.isAudited ? writtenBatch(decided, TOGETHER) : undefined;
      this.#ahead.keep({ units, batch, connection: this.#connection, decided, written });
    } catch {
      // Whatever this was, it is met again when their turn comes.
    }
  }

  waiting(workflow: WorkflowId, topic: string, limit: number): readonly Event[] | undefined {
    return this.#known.get(workflow)?.waiting(topic, limit);
  }

  async probe(): Promise<void> {
    try {
      const connection = await this.#connected();
      const probe = 'UPDATE schema_version SET probe = $1';
      await connection.flight([{ text: probe, values: ['.'.repeat(PROBE_CHARS)] }]);
      await connection.flight([{ text: probe, values: [''] }]);
    } catch (error) {
      throw postgresError(error, this.#options.where);
    }
  }

  isRestored(): boolean {
    return this.#isRestored;
  }

  async forgetRestored(): Promise<void> {
    await settleHere(await this.#connected());
    this.#isRestored = false;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#connection.isOpen) await this.#connection.flight(this.#marks.forget()).catch(() => undefined);
    await this.#connection.close();
  }

  /**
   * A batch that the database refuses is gone through one by one, each unit in a transaction and each write in a statement of its
   * own, so that only the unit that asked for it is refused, and the write is known.
   */
  async #commitTogether(units: readonly Unit[], how: How): Promise<readonly UnitOutcome[]> {
    const attempt = await this.#attempt(units, how);
    if (attempt.kind === 'answered') return attempt.outcomes;
    const outcomes: UnitOutcome[] = [];
    const alone: How = { waiting: 'skip', arrangement: APART, passedOver: new Set() };
    for (const unit of units) outcomes.push(await this.#commitAlone(unit, alone));
    return outcomes;
  }

  async #commitAlone(unit: Unit, how: How): Promise<UnitOutcome> {
    let error: Error | undefined;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (error !== undefined && !isRace(error.cause)) break;
      const attempt = await this.#attempt([unit], how);
      if (attempt.kind === 'answered' && attempt.outcomes[0]) return attempt.outcomes[0];
      if (attempt.kind === 'refused') error = attempt.error;
    }
    return { kind: 'refused', error: error ?? new Error('bug: a unit alone was neither answered nor refused') };
  }

  /** One transaction from its beginning to its end, and again as long as nobody knows what became of it. */
  async #attempt(units: readonly Unit[], how: How): Promise<Attempt> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const connection = await this.#connected();
      const ahead = this.#ahead.take(units, connection);
      const batch = ahead?.batch ?? this.#batchOf(connection, units, how);
      this.#underWay = batch.workflows;
      try {
        if (this.#options.doubts)
          await doubt(
            connection,
            (arrangement) => this.#batchOf(connection, units, { ...how, arrangement }),
            ahead?.decided,
          );
        const attempt =
          (await this.#writeRemembered(connection, batch, how.arrangement, ahead)) ??
          (await this.#writeHeld(connection, batch, how.arrangement));
        if (attempt.kind !== 'aborted') return attempt;
      } catch (error) {
        if (how.waiting === 'wait' && isHeldByOthers(error)) return { kind: 'answered', outcomes: units.map(deferred) };
        throw error;
      }
    }
    const cause = new Error(`the connection was lost ${TRIES_MAX} times in a row`);
    throw new ConnectionError('writing', { cause });
  }

  /** Whoever has to be gone through one by one is read anew. */
  #batchOf(connection: PostgresConnection, units: readonly Unit[], { waiting, arrangement, passedOver }: How): Batch {
    const known = arrangement === TOGETHER ? this.#known : undefined;
    const own = { memory: this.#memory, habits: this.#habits, marks: this.#marks, time: this.#time };
    return new Batch(units, waiting, { ...own, connection, known, auditHead: this.#auditHead.known, passedOver });
  }

  /**
   * Decided on what is remembered, and written in one round trip that comes to nothing unless all of it is still so. Undefined where too little is
   * remembered, or something was not so: then everything is held and read.
   */
  async #writeRemembered(
    connection: PostgresConnection,
    batch: Batch,
    arrangement: Arrangement,
    ahead: Ahead | undefined,
  ): Promise<Attempt | Aborted | undefined> {
    const decided = ahead ? this.#goingOn(ahead.decided) : batch.remembered();
    if (decided === undefined) return undefined;
    const { outcomes, writing, head } = ahead?.written ?? writtenBatch(decided, arrangement);
    // Somebody must still say that it is so.
    if (writing.length === 0) return undefined;
    const end = await this.#write(connection, writing, { opening: this.#opening(decided), closing: [] });
    if (!(end instanceof Error)) return this.#ended(batch, outcomes, end, head);
    if (decided.isAudited) this.#auditHead.wasWrong();
    return undefined;
  }

  /** From the end of the audit log as it is by now. */
  #goingOn(decided: RememberedBatch | undefined): RememberedBatch | undefined {
    if (!decided?.isAudited) return decided;
    const head = this.#auditHead.known;
    return head && { ...decided, head };
  }

  /** The audit log is held last. */
  #opening({ revisions, standing, at, absent, isAudited, head }: RememberedBatch): readonly Statement[] {
    return [
      BEGIN,
      this.#marks.next(),
      ...asKnown(revisions, standing, this.#time.isOwn ? at : null),
      ...areAbsent(absent),
      ...(isAudited && head ? headIs(head) : []),
    ];
  }

  async #writeHeld(connection: PostgresConnection, batch: Batch, arrangement: Arrangement): Promise<Attempt | Aborted> {
    const decided = await batch.decide();
    const { outcomes, writing, head } = writtenBatch(decided, arrangement);
    if (writing.length === 0) {
      await connection.flight([{ name: 'rollback', text: 'ROLLBACK' }]);
      return { kind: 'answered', outcomes };
    }
    const closing = raised(batch.committed(outcomes).raised, decided.revisions);
    const end = await this.#write(connection, writing, { opening: [], closing });
    return this.#ended(batch, outcomes, end, head);
  }

  #ended(batch: Batch, outcomes: readonly UnitOutcome[], end: End, head: DecidedBatch['head']): Attempt | Aborted {
    if (end === 'aborted') return { kind: 'aborted' };
    if (end !== 'committed') return { kind: 'refused', error: end };
    this.#reach('after-commit');
    if (outcomes.some((outcome) => outcome.kind === 'done' && outcome.writes.some(isAudit)))
      this.#auditHead.wrote(head);
    const committed = batch.committed(outcomes);
    committed.remember(this.#known);
    this.#atWork.note(committed.raised);
    this.#note(outcomes);
    return { kind: 'answered', outcomes };
  }

  /** The writes and the commit in one round trip. Where its answer is lost, the server is asked until it is known. */
  async #write(
    connection: PostgresConnection,
    writing: readonly Written[],
    { opening, closing }: { readonly opening: readonly Statement[]; readonly closing: readonly Statement[] },
  ): Promise<End> {
    this.#reach('before-commit');
    try {
      const answers = await connection.flight([
        ...opening,
        ...writing.map(({ statement }) => statement),
        ...closing,
        ...this.#call(writing),
        { name: 'commit', text: 'COMMIT' },
      ]);
      return answers.at(-1)?.command === 'COMMIT' ? 'committed' : 'aborted';
    } catch (error) {
      if (isLost(error) || !connection.isOpen) {
        connection.destroy();
        return (await this.#marks.isKept()) ? 'committed' : 'aborted';
      }
      if (!(error instanceof FlightError) || !(isRefused(error) || isRace(error))) throw error;
      return guardError(error, writing);
    }
  }

  #call(writing: readonly Written[]): readonly Statement[] {
    const text = this.#options.callFor?.(writing.flatMap(({ writes }) => writes));
    return text === undefined ? [] : [callOnCommit(text)];
  }

  #note(outcomes: readonly UnitOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.kind !== 'done') continue;
      for (const write of outcome.writes) {
        if (write.set === 'execution.requested') this.#memory.noteExecution(write.row);
        if (write.set === 'script.added') this.#memory.noteScript(write.row);
      }
    }
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw closed(this.#options.where);
  }

  async #connected(): Promise<PostgresConnection> {
    this.#mustBeOpen();
    if (this.#connection.isOpen) return this.#connection;
    const connection = await sayThatItRevises(await openSession(this.#options.url, this.#options.role));
    // Another server may answer now, that never heard of what was kept last.
    this.#known.clear();
    this.#auditHead.forget();
    this.#pastFlights += this.#connection.flights;
    this.#connection = connection;
    return connection;
  }

  /** A listener that throws stands for the death of the process: the connection is left as it would be, and nothing is caught. */
  #reach(point: 'before-commit' | 'after-commit'): void {
    try {
      reach(point);
    } catch (error) {
      this.#isClosed = true;
      this.#connection.destroy();
      throw error;
    }
  }
}

/** What becomes of units whose workflows are in other hands, and how the others are written. */
interface How {
  readonly waiting: Waiting;
  readonly arrangement: Arrangement;
  /** Of units that are gone through one by one: workflows whose turn has not come, so that nobody overtakes. */
  readonly passedOver?: Set<string>;
}
const SKIPPING: How = { waiting: 'skip', arrangement: TOGETHER };
const STANDING_IN_LINE: How = { waiting: 'wait', arrangement: TOGETHER };

type End = 'committed' | 'aborted' | Error;

interface Aborted {
  readonly kind: 'aborted';
}

type Attempt =
  | { readonly kind: 'answered'; readonly outcomes: readonly UnitOutcome[] }
  | { readonly kind: 'refused'; readonly error: Error };

function deferred(): UnitOutcome {
  return { kind: 'deferred', because: 'held' };
}

function guardError(error: FlightError, writing: readonly Written[]): Error {
  const write = writing[error.position]?.writes[0];
  const said = error.cause instanceof Error ? error.cause.message : String(error.cause);
  if (write === undefined) return new Error(`bug: the commit was refused: ${said}`, { cause: error });
  return new GuardError(isMiscount(error) ? said : `is refused by the database (${said})`, { write, cause: error });
}

function closed(where: string): StoreFailedError {
  return new StoreFailedError({
    code: 'store-closed',
    message: `the store on ${where} is closed`,
    why: 'it was closed, or died at a kill point',
    next: [{ label: 'open it again' }],
  });
}
