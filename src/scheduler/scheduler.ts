import { type Clock, type MessageId, type MutationId, RefusedError, type WorkerId, type WorkflowId } from '#base';
import type { Engine, NewlyDue } from '#execution';

/** Sessions under way at once; more would only wait for the same disk and the same cores. */
export const IN_FLIGHT_MAX = 64;
/** The clock is looked at again after so long: timers do not notice that it was set, or that the machine slept. */
const SLEEP_MS_MAX = 60_000;
/** Messages read away in one commit; fewer wait until there is nothing else to do, or have waited for so long. */
const MESSAGES_AT_ONCE = 500;
const MESSAGES_MS = 100;
/** Errors of the engine itself (a full disk): look again after so long, instead of spinning. */
const TROUBLE_MS = 1_000;
const ELSEWHERE_MS = 20;
/** Clocks are this far apart at most when they were just compared; who is asked for too early is not due, and nothing happens. */
const APART_MS = 20;

export interface SchedulerOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly inFlightMax?: number;
  /** Runs one session of a workflow that is due. */
  readonly runSession: (workflow: WorkflowId, owner: WorkerId) => Promise<unknown>;
  /** Looks up one unknown outcome that is due; where workers do that, nobody does it here. */
  readonly reconcile?: (mutation: MutationId) => Promise<unknown>;
  /** Workflows that waited for room under a limit, and for which there is some now. */
  readonly waiters?: () => Promise<readonly WorkflowId[]>;
  /** Where others change the same rows: how long at most until the next look, whatever was heard. */
  readonly sleepMsMax?: number;
  /** Where a look costs a round trip: how far apart looks are while what is due is heard of. */
  readonly lookMsMin?: number;
  /** Told of messages before they are deleted, for whoever else is to hear them. */
  readonly relay?: ((messages: readonly MessageId[]) => Promise<void>) | undefined;
  /** False while this process may begin nothing. */
  readonly mayBegin?: () => boolean;
  readonly onError: (error: unknown) => void;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #busy = new Map<string, Promise<void>>();
  /** Something that is due found no room, or may find none. */
  #isShort = false;
  /** Due again before they had ended. */
  readonly #again = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #messagesAt = 0;
  #looking = false;
  #looked: Promise<void> = Promise.resolve();
  #lookAgain = false;
  #stopped = false;
  #unlisten: (() => void) | undefined;
  /** What is due and was not begun is in somebody else's hands: they are given a moment, and longer each time. */
  #elsewhereMs = ELSEWHERE_MS;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Something that is due waits for a place. */
  get isShort(): boolean {
    return this.#isShort;
  }

  start(): void {
    this.#unlisten = this.#options.engine.listenDue((due) => this.#hear(due));
    this.#wake();
  }

  /** No further session begins; resolves when those under way have reached their end. */
  async drain(): Promise<void> {
    this.#stopped = true;
    this.#unlisten?.();
    clearTimeout(this.#timer);
    clearTimeout(this.#soon);
    await this.#looked;
    await Promise.all(this.#busy.values());
  }

  /** Where looks are far away, whoever is named begins at once, and the look that would have found it comes a little later. */
  #hear(due: NewlyDue): void {
    const { lookMsMin, clock } = this.#options;
    if (due === undefined || lookMsMin === undefined) return this.#wake();
    const soon = clock.now() + APART_MS;
    for (const { workflow, at } of due) {
      this.#again.delete(workflow);
      if (at === null || at > soon) continue;
      if (this.#busy.has(workflow)) this.#again.add(workflow);
      else if (!this.#isShort) this.#begin(workflow);
    }
    this.#wakeSoon();
  }

  #wakeSoon(): void {
    const { lookMsMin } = this.#options;
    if (lookMsMin === undefined || this.#stopped) return this.#wake();
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#wake();
    }, lookMsMin);
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
        this.#isShort = false;
        await this.#lookForWork(now, free);
      }
      const at = await engine.reader.nextWakeAt();
      if (free <= 0 && at !== null && at <= now && (await this.#isAnyoneWaiting(now))) this.#isShort = true;
      this.#sleepUntil(at);
    } catch (error) {
      this.#options.onError(error);
      this.#sleepUntil(clock.now() + TROUBLE_MS);
    }
  }

  /** Whether anything that is due waits for a place: what has just got one is due until its session has begun. */
  async #isAnyoneWaiting(now: number): Promise<boolean> {
    const [due, ...others] = await this.#whatIsDue(now, 1);
    return due.some(({ id }) => !this.#busy.has(id)) || others.some((each) => each.length > 0);
  }

  #whatIsDue(now: number, free: number) {
    const { engine, reconcile, sleepMsMax } = this.#options;
    const { reader } = engine;
    return Promise.all([
      // One more than there is room for, which finds none.
      reader.dueWorkflows(now, free + this.#busy.size + 1),
      reconcile ? reader.dueReconciles(now, free) : [],
      reader.expiredApprovals(now, free),
      reader.maintenanceWithoutTask(free),
      // In one process a request is taken and handed off in one commit.
      sleepMsMax === undefined ? [] : reader.expiredScheduling(now, free),
    ]);
  }

  /** Asked all at once: where the tables are far away that is one round trip. */
  async #lookForWork(now: number, free: number): Promise<void> {
    const { engine, reconcile, waiters } = this.#options;
    const { manager, reader } = engine;
    const [[due, unknown, approvals, repairs, stale], messages, admitted] = await Promise.all([
      this.#whatIsDue(now, free),
      this.#isTimeForMessages(now) ? reader.messages(MESSAGES_AT_ONCE) : [],
      waiters?.() ?? [],
    ]);
    for (const id of admitted) this.#begin(id);
    for (const { id } of due) this.#begin(id);
    for (const { id } of unknown) this.#do(id, async () => reconcile?.(id));
    for (const { id } of approvals) this.#do(id, () => orFaster(manager.expireCall(id)));
    for (const id of repairs) this.#do(`task ${id}`, () => orFaster(manager.createMaintenanceTask(id)));
    for (const { id } of stale) this.#do(id, () => orFaster(manager.sweepScheduling(id)));
    this.#readMessages(messages);
  }

  #isTimeForMessages(now: number): boolean {
    if (this.#busy.size > 0 && Math.abs(now - this.#messagesAt) < MESSAGES_MS) return false;
    this.#messagesAt = now;
    return true;
  }

  /** All that a message hints at is in `due_at` already, and heard of through the feed. */
  #readMessages(messages: readonly MessageId[]): void {
    const { manager } = this.#options.engine;
    if (messages.length === 0 || (messages.length < MESSAGES_AT_ONCE && this.#busy.size > 0)) return;
    this.#do('messages', async () => {
      await this.#options.relay?.(messages);
      await manager.together((model) => {
        for (const message of messages) model.deleteMessage(message);
      });
    });
  }

  #begin(workflow: WorkflowId): void {
    const { engine, runSession } = this.#options;
    if (this.#options.mayBegin?.() === false) return;
    const hasRoom = this.#busy.size < (this.#options.inFlightMax ?? IN_FLIGHT_MAX);
    if (hasRoom) this.#do(workflow, () => runSession(workflow, engine.self));
    else if (!this.#busy.has(workflow)) this.#isShort = true;
  }

  /** One thing at a time for each key; when it ends the scheduler looks again, at once where somebody waits for the place. */
  #do(key: string, act: () => Promise<unknown>): void {
    if (this.#stopped || this.#busy.has(key)) return;
    const done = this.#orWait(act).finally(() => {
      this.#busy.delete(key);
      // Whoever waits for a place has waited longer: the look takes them in their order.
      if (this.#again.delete(key) && !this.#isShort) this.#begin(key as WorkflowId);
      if (this.#isShort) this.#wake();
      else this.#wakeSoon();
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
    const { sleepMsMax, clock } = this.#options;
    if ((at === null && sleepMsMax === undefined) || this.#stopped) return;
    const delayMs = Math.max((at ?? Number.POSITIVE_INFINITY) - clock.now(), 0);
    // Something due now that is not begun waits for a free place, and its end looks again.
    if (delayMs === 0 && this.#busy.size > 0) return;
    if (sleepMsMax !== undefined) {
      this.#timer = setTimeout(() => this.#wake(), Math.min(Math.max(delayMs, this.#elsewhereMs), sleepMsMax));
      this.#elsewhereMs = delayMs === 0 ? Math.min(this.#elsewhereMs * 2, sleepMsMax) : ELSEWHERE_MS;
      return;
    }
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
