import { keepNewest, type RunId, type WorkflowId } from '#base';
import type { Arrival, ExecutionModelManager, Taker } from '#execution';
import type { HandlerHost } from '#handler';
import type { Fence } from '#model';

// In a steady stream the next event comes a moment after the last one was done. To end a session, to ask for another, to hand that off
// and to begin it are some fifteen rows; so where sessions of a workflow have followed each other closely, one stays open for a
// moment, and takes what comes as its next run.

/** Longer than the next event of a busy stream takes to come; shorter than anybody would notice. */
const STAY_MS = 25;
/** So many sessions in a row must have followed each other within so long: that is more than a stay, since what comes has to be found, and its session to begin. */
const CLOSE_MIN = 3;
const CLOSE_MS = 250;
/** And so many more, where one stayed for nothing and none before it for more: what comes from other processes is not heard of in time. */
const CLOSE_MORE = 300;
/** Changes that bring nothing to do, between two runs: events that nobody takes must not keep a session open. */
const WAKES_MAX = 3;
/** Where sessions have time limits, none is to be met by waiting: half of the shortest there can be. */
const LIMITED_MS_MAX = 500;
const WORKFLOWS_MAX = 10_000;

interface Last {
  readonly endedAt: number;
  readonly close: number;
  /** The last that stayed did so for more. */
  readonly hasHeard: boolean;
}

/** How staying went. */
type Stayed = 'never' | 'for nothing' | 'for more' | 'missed';

/** Of which workflows sessions are worth keeping open. */
export class StayHabits {
  readonly stayMs: number = STAY_MS;
  readonly closeMs: number = CLOSE_MS;
  readonly limitedMs: number = LIMITED_MS_MAX;
  readonly #last = new Map<WorkflowId, Last>();

  /** How long a session that has nothing to do waits. */
  waitMs(): number {
    return this.stayMs;
  }

  /** A session begins: how many of its workflow have followed each other closely, this one included. */
  closeOnes(workflow: WorkflowId): number {
    const last = this.#last.get(workflow);
    if (last === undefined) return 0;
    const isClose = performance.now() - last.endedAt < this.closeMs;
    return isClose ? last.close + 1 : Math.min(last.close, 0);
  }

  isWorthIt(close: number): boolean {
    return close >= CLOSE_MIN;
  }

  ended(workflow: WorkflowId, close: number, stayed: Stayed): void {
    const hadHeard = this.#last.get(workflow)?.hasHeard === true;
    const isForNothing = stayed === 'for nothing' || stayed === 'missed';
    const last = {
      endedAt: performance.now(),
      close: !isForNothing ? close : hadHeard ? 0 : -CLOSE_MORE,
      hasHeard: stayed === 'for more' || (hadHeard && !isForNothing),
    };
    keepNewest(this.#last, workflow, last, WORKFLOWS_MAX);
  }
}

export interface Staying {
  readonly habits: StayHabits;
  /** Somebody waits for a place: a session with nothing to do gives its own away. */
  readonly isCrowded: () => boolean;
  /** Sessions may not take as long as they like. */
  readonly hasTimeLimits?: boolean;
}

/** What ended the wait: an event that is about to be published, a change, or neither. */
export type Heard = Arrival | 'change' | 'nothing';

/** What one session knows of staying. */
export class Stay {
  readonly #staying: Staying | undefined;
  readonly #workflow: WorkflowId;
  readonly #close: number;
  readonly #unlisten: (() => void) | undefined;
  readonly #leave: (() => void) | undefined;
  readonly #taker: Taker = { take: undefined };
  readonly #beganAt = performance.now();
  #run: RunId | undefined;
  #isHeard = false;
  #hear: (() => void) | undefined;
  #arrival: Arrival | undefined;
  #ranAt = performance.now();
  #wakes = 0;
  /** Whether it has waited, and whether it ever heard of what came. */
  #stayed: Stayed = 'never';
  /** Once it did not hear of what came it waits no more. */
  #hasMissed = false;

  constructor(
    {
      listen,
      manager,
    }: Pick<HandlerHost['engine'], 'listen'> & { readonly manager: Pick<ExecutionModelManager, 'arrivals'> },
    staying: Staying | undefined,
    workflow: WorkflowId,
    { execution }: Fence,
  ) {
    this.#staying = staying;
    this.#workflow = workflow;
    this.#close = staying?.habits.closeOnes(workflow) ?? 0;
    if (!staying?.habits.isWorthIt(this.#close)) return;
    this.#leave = manager.arrivals.join(workflow, this.#taker);
    this.#unlisten = listen((changes) => {
      // What its own run has published is seen by the commit that publishes it.
      if (changes.some(({ id }) => id === this.#run)) return;
      if (!changes.some(({ id }) => id === workflow || id === execution)) return;
      this.#isHeard = true;
      this.#hear?.();
    });
  }

  get isWorthIt(): boolean {
    if (this.#unlisten === undefined || this.#hasMissed || this.#staying === undefined) return false;
    const { habits, hasTimeLimits = false, isCrowded } = this.#staying;
    if (hasTimeLimits && performance.now() - this.#beganAt >= habits.limitedMs) return false;
    return !isCrowded();
  }

  /** A run begins: what was heard before it is seen by its commit. */
  running(run: RunId): void {
    this.#run = run;
    this.#isHeard = false;
    if (this.#stayed === 'for nothing') this.#stayed = 'for more';
  }

  ran(): void {
    this.#ranAt = performance.now();
    this.#wakes = 0;
  }

  /** Something had come after all. Where it heard of something before, that came late; else it never hears of what comes. */
  missed(): void {
    this.#hasMissed = true;
    if (this.#stayed === 'for nothing') this.#stayed = 'missed';
  }

  /** Until something of the workflow has changed or arrives; nothing, once the moment is over or too much has changed for nothing. */
  async wait(): Promise<Heard> {
    if (this.#stayed === 'never') this.#stayed = 'for nothing';
    const stayMs = this.#staying?.habits.waitMs() ?? 0;
    const leftMs = stayMs - (performance.now() - this.#ranAt);
    if (!this.#isHeard && leftMs > 0) await this.#listen(leftMs);
    const arrival = this.#arrival;
    const isHeard = this.#isHeard && this.#wakes < WAKES_MAX;
    this.#arrival = undefined;
    this.#isHeard = false;
    this.#wakes++;
    return arrival ?? (isHeard ? 'change' : 'nothing');
  }

  async #listen(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const over = setTimeout(resolve, ms);
    this.#hear = resolve;
    this.#taker.take = (arrival) => {
      this.#arrival = arrival;
      resolve();
    };
    await promise;
    this.#taker.take = undefined;
    clearTimeout(over);
    this.#hear = undefined;
  }

  end(): void {
    this.#unlisten?.();
    this.#leave?.();
    this.#staying?.habits.ended(this.#workflow, this.#close, this.#stayed);
  }
}
