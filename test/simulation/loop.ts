import type { Clock } from '#base';

/** The morning of every history. */
const START = 1_700_000_000_000;

/** Whose turn it is when it is that of no process. */
export const NOBODY = -1;

type Act = () => void;

const real = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  abortAfter: AbortSignal.timeout,
  wall: Date.now,
  steady: performance.now.bind(performance),
};

/** What the engine gets from `setTimeout` and `setInterval`. */
class Timer {
  at: number;
  readonly act: Act;
  readonly whose: number;
  /** It comes again after so long. */
  readonly everyMs: number | undefined;

  constructor(at: number, act: Act, whose: number, everyMs?: number) {
    this.at = at;
    this.act = act;
    this.whose = whose;
    this.everyMs = everyMs;
  }

  unref(): this {
    return this;
  }
}

interface Turn {
  readonly whose: number;
  readonly act: Act;
}

/** How a machine's own clocks are off: somebody set the one on the wall; the steady one stood still while it slept. */
interface Off {
  readonly wallMs: number;
  readonly steadyMs: number;
}

const RIGHT: Off = { wallMs: 0, steadyMs: 0 };

/**
 * Time, and whose turn it is. What the engine leaves for later (`setImmediate`, `setTimeout`) and every answer it waits for comes
 * to pass here, one thing after the other, in an order that depends on nothing but what was asked before. Timers run by the time
 * that has passed; what the clock on the wall shows is another matter, because somebody may set it. Where there are several
 * processes, whatever one of them leaves for later is its own: it is gone when that one dies, and waits while it is frozen.
 */
export class Loop implements Clock {
  #ready: Turn[] = [];
  #timers: Timer[] = [];
  #elapsedMs = 0;
  #setByMs = 0;
  #setForwardByMs = 0;
  readonly #frozen = new Map<number, Timer>();
  readonly #off = new Map<number, Off>();
  /** The process whose turn it is. */
  whose = 0;

  now(): number {
    return START + this.#elapsedMs + this.#setByMs;
  }

  /** What the wall of the machine shows whose turn it is. */
  get wall(): number {
    return this.now() + this.#offNow.wallMs;
  }

  /** How long that machine has been awake. */
  get steady(): number {
    return this.#elapsedMs - this.#offNow.steadyMs;
  }

  /** What time it is elsewhere. A clock that is set forward is taken to have been right; elsewhere nothing ever goes back. */
  get elsewhere(): number {
    return START + this.#elapsedMs + this.#setForwardByMs;
  }

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** Somebody sets the clock; no timer notices. */
  setClock(byMs: number): void {
    this.#setByMs += byMs;
    this.#setForwardByMs += Math.max(byMs, 0);
  }

  /** The same for the clock of one machine among several. */
  setClockOf(whose: number, byMs: number): void {
    const { wallMs, steadyMs } = this.#off.get(whose) ?? RIGHT;
    this.#off.set(whose, { wallMs: wallMs + byMs, steadyMs });
  }

  soon(act: Act, whose = this.whose): void {
    this.#ready.push({ whose, act });
  }

  later(act: Act, delayMs: number, whose = this.whose): Timer {
    const timer = new Timer(this.#elapsedMs + Math.max(delayMs, 0), act, whose);
    this.#timers.push(timer);
    return timer;
  }

  every(act: Act, everyMs: number): Timer {
    const timer = new Timer(this.#elapsedMs + everyMs, act, this.whose, everyMs);
    this.#timers.push(timer);
    return timer;
  }

  drop(timer: unknown): void {
    const position = this.#timers.indexOf(timer as Timer);
    if (position >= 0) this.#timers.splice(position, 1);
  }

  /** An answer in a turn of its own: whatever was asked before comes first. */
  answer<T>(value: T): Promise<T> {
    return new Promise((resolve) => this.soon(() => resolve(value)));
  }

  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.later(resolve, delayMs));
  }

  /** The process is gone, and with it everything it meant to do. */
  clear(whose = this.whose): void {
    this.thaw(whose);
    this.#ready = this.#ready.filter((turn) => turn.whose !== whose);
    this.#timers = this.#timers.filter((timer) => timer.whose !== whose);
  }

  /** It does nothing for so long. One that sleeps with its machine does not even notice that time has passed. */
  freeze(whose: number, ms: number, how: 'stopped' | 'asleep'): void {
    this.thaw(whose);
    const { wallMs, steadyMs } = this.#off.get(whose) ?? RIGHT;
    if (how === 'asleep') this.#off.set(whose, { wallMs, steadyMs: steadyMs + ms });
    this.#frozen.set(
      whose,
      this.later(() => this.#frozen.delete(whose), ms, NOBODY),
    );
  }

  thaw(whose: number): void {
    const timer = this.#frozen.get(whose);
    if (!timer) return;
    this.drop(timer);
    this.#frozen.delete(whose);
  }

  isFrozen(whose: number): boolean {
    return this.#frozen.has(whose);
  }

  get isAnybodyFrozen(): boolean {
    return this.#frozen.size > 0;
  }

  /** One thing that is to be done now; false when there is none. */
  step(): boolean {
    const turn = this.#frozen.size === 0 ? this.#ready.shift() : this.#thawedTurn();
    if (!turn) return false;
    this.whose = turn.whose;
    turn.act();
    return true;
  }

  /** Nothing is to be done now. */
  get isIdle(): boolean {
    return this.#ready.every(({ whose }) => this.#frozen.has(whose));
  }

  /** How long until the next timer; undefined when there is none. */
  get untilTimerMs(): number | undefined {
    const next = this.#nextTimer();
    return next && Math.max(next.at - this.#elapsedMs, 0);
  }

  /** Time passes until the next timer, and what it was set for is done. */
  passTime(): void {
    const next = this.#nextTimer();
    if (!next) return;
    this.#elapsedMs = Math.max(this.#elapsedMs, next.at);
    if (next.everyMs === undefined) this.drop(next);
    else next.at = this.#elapsedMs + next.everyMs;
    this.whose = next.whose;
    next.act();
  }

  /** Time passes without anything being done: a machine that sleeps, a person who waits. */
  sleep(ms: number): void {
    this.#elapsedMs += ms;
  }

  get #offNow(): Off {
    return this.#off.get(this.whose) ?? RIGHT;
  }

  #thawedTurn(): Turn | undefined {
    const position = this.#ready.findIndex(({ whose }) => !this.#frozen.has(whose));
    return position < 0 ? undefined : this.#ready.splice(position, 1)[0];
  }

  #nextTimer(): Timer | undefined {
    let next: Timer | undefined;
    const isAnybodyFrozen = this.#frozen.size > 0;
    for (const timer of this.#timers) {
      if (isAnybodyFrozen && this.#frozen.has(timer.whose)) continue;
      if (!next || timer.at < next.at) next = timer;
    }
    return next;
  }
}

let current: Loop | undefined;

/** While a history is played, what the engine leaves for later is left to its loop; otherwise nothing is changed. */
const PATCHED = {
  setTimeout: (act: Act, ms = 0) => current?.later(act, ms) ?? real.setTimeout(act, ms),
  clearTimeout: (timer: NodeJS.Timeout | undefined) => (current ? current.drop(timer) : real.clearTimeout(timer)),
  setInterval: (act: Act, ms = 0) => current?.every(act, ms) ?? real.setInterval(act, ms),
  clearInterval: (timer: NodeJS.Timeout | undefined) => (current ? current.drop(timer) : real.clearInterval(timer)),
  setImmediate: (act: Act) => (current ? current.soon(act) : real.setImmediate(act)),
};

function abortedAfter(ms: number): AbortSignal {
  if (!current) return real.abortAfter(ms);
  const controller = new AbortController();
  current.later(() => controller.abort(), ms);
  return controller.signal;
}

export async function withLoop<T>(loop: Loop, play: () => Promise<T>): Promise<T> {
  Object.assign(globalThis, PATCHED);
  AbortSignal.timeout = abortedAfter;
  Date.now = () => current?.wall ?? real.wall();
  performance.now = () => current?.steady ?? real.steady();
  current = loop;
  try {
    return await play();
  } finally {
    current = undefined;
  }
}

/**
 * Until every promise that can go on has gone on: a tick comes when no microtask is left. Nothing here waits for anything outside, so
 * that a turn of the real event loop, which takes as long as everything else, is not needed.
 */
export function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
