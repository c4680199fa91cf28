import {
  assert,
  type Clock,
  type IdKind,
  type IdOf,
  type IdSource,
  type PawlError,
  StoreUnavailableError,
} from '#base';
import {
  type Command,
  type CommandName,
  type CommandOf,
  Draft,
  decide,
  foreseen,
  foreseenNew,
  type ReplyTo,
  type Source,
} from '#model';
import type { Store, Unit, UnitOutcome } from '#store';
import type { ChangeFeed } from './changes.ts';
import { Gathering } from './gathering.ts';

/** One command after the other on the same draft: each sees what the ones before it wrote. */
export type Step = <N extends CommandName>(command: CommandOf<N>) => ReplyTo<N>;

/** Commands in one transaction; more would make the first caller wait for the last. */
const BATCH_MAX = 64;
/** What may wait. Past this the engine is overloaded, and saying so is better than growing without end. */
const WAITING_MAX = 10_000;
/** So long a command waits for rows in other hands: longer than any process of ours keeps them. */
const HELD_UP_MS_MAX = 15_000;
const PROBE_MS_MIN = 100;
const PROBE_MS_MAX = 5_000;

interface Waiting {
  readonly unit: Unit;
  /** Since when its rows were found in other hands each time. */
  heldUpAt?: number | undefined;
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

/** What goes into one commit. */
interface Batch {
  readonly waiting: readonly Waiting[];
  readonly units: readonly Unit[];
}

export interface CommitQueueOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly changes: ChangeFeed;
  /** Told of each transaction that became durable: how many commands shared it, and how long it took. */
  readonly onCommit?: ((commands: number, ms: number) => void) | undefined;
  /** The store can no longer be trusted: the process must end. */
  readonly onFatal: (error: unknown) => void;
}

/**
 * Group commit: whatever waits when the last commit is done goes into the next one, each command under its own savepoint. An
 * answer means durable. An idle queue commits at once, a busy one shares the disk's syncs; only before a store that says so it
 * waits a moment for more.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  readonly #gathering: Gathering | undefined;
  #waiting: Waiting[] = [];
  /** What comes next, taken from those who wait while a commit is under way. */
  #next: Batch | undefined;
  #isCommitting = false;
  /** How many in front of the line wait for rows in other hands: those behind them are looked at as well. */
  #heldUp = 0;
  /** Commits whose callers are answered in a moment. */
  #unanswered = 0;
  #draining = false;
  /** Set while the store takes no writes: the error every caller gets meanwhile. */
  #unavailable: unknown;
  #probe: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
    this.#gathering = options.store.atWork === undefined ? undefined : new Gathering();
  }

  /** Decides and writes in one transaction; resolves when it is durable, rejects with the refusal when nothing was written. */
  submit<T>(steps: (step: Step) => T): Promise<T> {
    if (this.#unavailable !== undefined) return Promise.reject(this.#unavailable);
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(overloaded());
    const { clock, ids } = this.#options;
    const replayed = new ReplayedIds(ids);
    let reply: T;
    const unit: Unit = {
      decide: (source: Source, now = clock.now()) => {
        const draft = new Draft(now, replayed.fromStart(), source);
        reply = steps((command) => decide(draft, command));
        return draft.writes;
      },
      foresee: (workflowOf) => {
        const commands = commandsOf(steps);
        return {
          kind: commands.map((command) => command.do).join(' '),
          questions: commands.flatMap((command) => foreseen(command, workflowOf)),
          fresh: commands.flatMap((command) => foreseenNew(command, workflowOf)),
        };
      },
    };
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ unit, answer: () => resolve(reply), fail: reject });
      this.#gathering?.joined(this.#waiting.length);
      this.#lookAhead();
      this.#wake();
    });
  }

  /** False while the store takes no writes, and after the end. */
  get isOpen(): boolean {
    return this.#unavailable === undefined;
  }

  /** Resolves when everything submitted so far has been answered. */
  async drained(): Promise<void> {
    while (this.#draining || this.#unanswered > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#probe);
    this.#unavailable = new StoreUnavailableError({
      code: 'closed',
      message: 'the engine is closed',
      why: 'it takes no more commands',
      next: [{ label: 'start it again' }],
    });
  }

  /** Not in the same tick: everything that this tick submits shares the commit. */
  #wake(): void {
    if (this.#draining) return;
    this.#draining = true;
    setImmediate(() => void this.#drain());
  }

  async #drain(): Promise<void> {
    while (this.#next !== undefined || this.#waiting.length > 0) {
      const batch = this.#next ?? (await this.#gathered());
      this.#next = undefined;
      this.#isCommitting = true;
      try {
        await this.#commit(batch);
      } catch (error) {
        for (const waiting of batch.waiting) waiting.fail(error);
        this.#onStoreError(error);
      } finally {
        this.#isCommitting = false;
      }
    }
    this.#draining = false;
  }

  async #gathered(): Promise<Batch> {
    if (this.#gathering) await this.#gathering.wait(this.#waiting.length, this.#options.store.atWork);
    return this.#taken();
  }

  #taken(): Batch {
    const waiting = this.#waiting.splice(0, BATCH_MAX + this.#heldUp);
    return { waiting, units: waiting.map(({ unit }) => unit) };
  }

  /** Where enough for the next commit wait while one is under way, the store looks at them meanwhile, and has less to do when their turn comes. */
  #lookAhead(): void {
    if (!this.#mayLookAhead()) return;
    // Not in the same tick either.
    setImmediate(() => {
      if (!this.#mayLookAhead()) return;
      this.#next = this.#taken();
      this.#options.store.lookAhead?.(this.#next.units);
    });
  }

  #mayLookAhead(): boolean {
    const { store } = this.#options;
    if (!this.#isCommitting || this.#next !== undefined || store.lookAhead === undefined) return false;
    return this.#gathering?.isEnough(this.#waiting.length, store.atWork) === true;
  }

  async #commit({ units, waiting }: Batch): Promise<void> {
    const { store, onCommit } = this.#options;
    const startedAt = performance.now();
    const outcomes = await store.commit(units);
    const ms = performance.now() - startedAt;
    this.#gathering?.committed(units.length, ms);
    assert(outcomes.length === units.length, 'the store answers every unit');
    const deferred = waiting.filter((_, position) => outcomes[position]?.kind === 'deferred');
    if (deferred.length < units.length) onCommit?.(units.length - deferred.length, ms);
    for (const [position, each] of waiting.entries()) noteHeldUp(each, outcomes[position]);
    this.#heldUp = 0;
    if (deferred.length > 0) this.#putBack(deferred);
    // Whoever came meanwhile goes along with the next.
    if (deferred.length === units.length) await new Promise((resolve) => setImmediate(resolve));
    else if (this.#next === undefined) this.#answer(waiting, outcomes);
    else this.#answerBehind(waiting, outcomes);
  }

  /**
   * They came first, so they go first: also before those that were looked at, which may be about the same workflows. But nobody
   * waits for ever for what is in other hands.
   */
  #putBack(deferred: readonly Waiting[]): void {
    const now = performance.now();
    const isOver = ({ heldUpAt = now }: Waiting): boolean => now - heldUpAt >= HELD_UP_MS_MAX;
    const staying = deferred.filter((waiting) => !isOver(waiting));
    this.#heldUp = staying.filter(({ heldUpAt }) => heldUpAt !== undefined).length;
    this.#waiting.unshift(...staying, ...(this.#next?.waiting ?? []));
    this.#next = undefined;
    for (const waiting of deferred.filter(isOver)) waiting.fail(heldUp());
  }

  /** The next commit is to go out before anybody goes on: the store is not to wait for what they do then. */
  #answerBehind(batch: readonly Waiting[], outcomes: readonly UnitOutcome[]): void {
    this.#unanswered += 1;
    setImmediate(() => {
      try {
        this.#answer(batch, outcomes);
      } catch (error) {
        for (const waiting of batch) waiting.fail(error);
        this.#onStoreError(error);
      } finally {
        this.#unanswered -= 1;
      }
    });
  }

  #answer(batch: readonly Waiting[], outcomes: readonly UnitOutcome[]): void {
    for (const [position, waiting] of batch.entries()) {
      const outcome = outcomes[position];
      if (outcome?.kind === 'refused') waiting.fail(outcome.error);
      if (outcome?.kind !== 'done') continue;
      waiting.answer();
      this.#options.changes.tell(outcome.writes);
    }
  }

  /** Nothing of the batch was written and nothing is retried here: the callers know best what still makes sense. */
  #onStoreError(error: unknown): void {
    if (!(error instanceof StoreUnavailableError)) {
      this.#unavailable = error;
      this.#options.onFatal(error);
    } else {
      this.#unavailable = error;
      this.#probeIn(PROBE_MS_MIN);
    }
    const waiting = [...(this.#next?.waiting ?? []), ...this.#waiting];
    this.#next = undefined;
    this.#waiting = [];
    for (const { fail } of waiting) fail(error);
  }

  #probeIn(delayMs: number): void {
    this.#probe = setTimeout(() => void this.#tryAgain(delayMs), delayMs).unref();
  }

  async #tryAgain(delayMs: number): Promise<void> {
    try {
      await this.#options.store.probe();
      if (!this.#isClosed) this.#unavailable = undefined;
    } catch (error) {
      if (this.#isClosed) return;
      if (error instanceof StoreUnavailableError) this.#probeIn(Math.min(delayMs * 2, PROBE_MS_MAX));
      else this.#options.onFatal(error);
    }
  }
}

/** Whose workflow was had, and only waits for those before it there, is held up no more. */
function noteHeldUp(waiting: Waiting, outcome: UnitOutcome | undefined): void {
  if (outcome?.kind !== 'deferred' || outcome.because === 'changed') waiting.heldUpAt = undefined;
  else waiting.heldUpAt ??= performance.now();
}

function heldUp(): PawlError {
  return new StoreUnavailableError({
    code: 'store-busy',
    message: `what it is about was in other hands for ${HELD_UP_MS_MAX / 1_000} s, so nothing was written`,
    why: 'somebody holds its rows in a transaction; everything else goes on',
    next: [{ label: 'look for a process or a person that stands still inside a transaction, then try again' }],
    retryable: true,
  });
}

function overloaded(): PawlError {
  return new StoreUnavailableError({
    code: 'overloaded',
    message: `${WAITING_MAX} commands wait to be written`,
    why: 'the disk does not keep up',
    next: [{ label: 'try again in a moment' }],
    retryable: true,
  });
}

/**
 * The commands, as far as they do not depend on each other's replies: the steps are gone through with empty ones. Steps that
 * make nothing of an empty reply end the list there.
 */
function commandsOf(steps: (step: Step) => unknown): readonly Command[] {
  const commands: Command[] = [];
  const list = (command: Command) => {
    commands.push(command);
    return {};
  };
  try {
    steps(list as Step);
  } catch {
    return commands;
  }
  return commands;
}

/** Ids are made before the first try: a command that has to be decided again gets the same ones, each kind in its order. */
class ReplayedIds implements IdSource {
  readonly #source: IdSource;
  readonly #made = new Map<IdKind, string[]>();
  #used = new Map<IdKind, number>();

  constructor(source: IdSource) {
    this.#source = source;
  }

  fromStart(): this {
    this.#used = new Map();
    return this;
  }

  next<K extends IdKind>(kind: K): IdOf<K> {
    const made = this.#made.get(kind) ?? [];
    const position = this.#used.get(kind) ?? 0;
    made[position] ??= this.#source.next(kind);
    this.#made.set(kind, made);
    this.#used.set(kind, position + 1);
    return made[position] as IdOf<K>;
  }
}
