import { type Clock, type MutationId, RefusedError, type WorkerId, type WorkflowId } from '#base';
import type { Engine } from '#execution';

/** Sessions under way at once; more would only wait for the same disk and the same cores. */
const IN_FLIGHT_MAX = 64;
/** The clock is looked at again after so long: timers do not notice that it was set, or that the machine slept. */
const SLEEP_MS_MAX = 60_000;
/** Messages read away in one commit; fewer wait until there is nothing else to do. */
const MESSAGES_AT_ONCE = 500;
/** Errors of the engine itself (a full disk): look again after so long, instead of spinning. */
const TROUBLE_MS = 1_000;

export interface SchedulerOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly inFlightMax?: number;
  /** Runs one session of a workflow that is due. */
  readonly runSession: (workflow: WorkflowId, owner: WorkerId) => Promise<unknown>;
  /** Looks up one unknown outcome that is due. */
  readonly reconcile: (mutation: MutationId) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #busy = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #looked: Promise<void> = Promise.resolve();
  #lookAgain = false;
  #stopped = false;
  #unlisten: (() => void) | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unlisten = this.#options.engine.listenDue(() => this.#wake());
    this.#wake();
  }

  /** No further session begins; resolves when those under way have reached their end. */
  async drain(): Promise<void> {
    this.#stopped = true;
    this.#unlisten?.();
    clearTimeout(this.#timer);
    await this.#looked;
    await Promise.all(this.#busy.values());
  }

  /** Many commits in one tick are one look. */
  #wake(): void {
    if (this.#stopped || this.#looking) {
      this.#lookAgain = true;
      return;
    }
    this.#looking = true;
    setImmediate(() => {
      this.#looked = this.#lookOnce();
    });
  }

  async #lookOnce(): Promise<void> {
    this.#lookAgain = false;
    if (!this.#stopped) await this.#look();
    this.#looking = false;
    if (this.#lookAgain && !this.#stopped) this.#wake();
  }

  async #look(): Promise<void> {
    const { engine, clock } = this.#options;
    try {
      const now = clock.now();
      const free = (this.#options.inFlightMax ?? IN_FLIGHT_MAX) - this.#busy.size;
      if (free > 0) {
        for (const { id } of await engine.reader.dueWorkflows(now, free + this.#busy.size)) this.#begin(id);
        for (const { id } of await engine.reader.dueReconciles(now, free))
          this.#do(id, () => this.#options.reconcile(id));
        for (const { id } of await engine.reader.expiredApprovals(now, free))
          this.#do(id, () => orFaster(engine.manager.expireCall(id)));
        for (const id of await engine.reader.maintenanceWithoutTask(free))
          this.#do(`task ${id}`, () => orFaster(engine.manager.createMaintenanceTask(id)));
        await this.#readMessages();
      }
      this.#sleepUntil(await engine.reader.nextWakeAt());
    } catch (error) {
      this.#options.onError(error);
      this.#sleepUntil(clock.now() + TROUBLE_MS);
    }
  }

  /** In one process all that a message hints at is in `due_at` already, and heard of through the feed. */
  async #readMessages(): Promise<void> {
    const { manager, reader } = this.#options.engine;
    const messages = await reader.messages(MESSAGES_AT_ONCE);
    if (messages.length === 0 || (messages.length < MESSAGES_AT_ONCE && this.#busy.size > 0)) return;
    this.#do('messages', () =>
      manager.together((model) => {
        for (const message of messages) model.deleteMessage(message);
      }),
    );
  }

  #begin(workflow: WorkflowId): void {
    const { engine, runSession } = this.#options;
    if (this.#busy.size < (this.#options.inFlightMax ?? IN_FLIGHT_MAX))
      this.#do(workflow, () => runSession(workflow, engine.self));
  }

  /** One thing at a time for each key; when it ends the scheduler looks again. */
  #do(key: string, act: () => Promise<unknown>): void {
    if (this.#stopped || this.#busy.has(key)) return;
    const done = this.#orWait(act).finally(() => {
      this.#busy.delete(key);
      this.#wake();
    });
    this.#busy.set(key, done);
  }

  async #orWait(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#options.onError(error);
      await new Promise((resolve) => setTimeout(resolve, TROUBLE_MS));
    }
  }

  #sleepUntil(at: number | null): void {
    clearTimeout(this.#timer);
    if (at === null || this.#stopped) return;
    const delayMs = Math.max(at - this.#options.clock.now(), 0);
    // Something due now that is not begun waits for a free place, and its end looks again.
    if (delayMs === 0 && this.#busy.size > 0) return;
    const isOver = delayMs <= SLEEP_MS_MAX;
    this.#timer = setTimeout(() => (isOver ? this.#wake() : this.#sleepUntil(at)), Math.min(delayMs, SLEEP_MS_MAX));
  }
}

/** A person who acts on the same thing between the look and the command was faster: what they did stands. */
async function orFaster(act: Promise<unknown>): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
}
