import type { Clock } from '#base';

/** The morning of every history. */
const START = 1_700_000_000_000;

type Act = () => void;

const real = { setTimeout, clearTimeout, setImmediate, abortAfter: AbortSignal.timeout };

/** What the engine gets from `setTimeout`. */
class Timer {
  readonly at: number;
  readonly act: Act;

  constructor(at: number, act: Act) {
    this.at = at;
    this.act = act;
  }

  unref(): this {
    return this;
  }
}

/**
 * Time, and whose turn it is. What the engine leaves for later (`setImmediate`, `setTimeout`) and every answer it waits for comes
 * to pass here, one thing after the other, in an order that depends on nothing but what was asked before. Timers run by the time
 * that has passed; what the clock on the wall shows is another matter, because somebody may set it.
 */
export class Loop implements Clock {
  #ready: Act[] = [];
  #timers: Timer[] = [];
  #elapsedMs = 0;
  #setByMs = 0;
  #setForwardByMs = 0;

  now(): number {
    return START + this.#elapsedMs + this.#setByMs;
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

  soon(act: Act): void {
    this.#ready.push(act);
  }

  later(act: Act, delayMs: number): Timer {
    const timer = new Timer(this.#elapsedMs + Math.max(delayMs, 0), act);
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
  clear(): void {
    this.#ready = [];
    this.#timers = [];
  }

  /** One thing that is to be done now; false when there is none. */
  step(): boolean {
    const act = this.#ready.shift();
    act?.();
    return act !== undefined;
  }

  /** Nothing is to be done now. */
  get isIdle(): boolean {
    return this.#ready.length === 0;
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
    this.drop(next);
    this.#elapsedMs = Math.max(this.#elapsedMs, next.at);
    next.act();
  }

  /** Time passes without anything being done: a machine that sleeps, a person who waits. */
  sleep(ms: number): void {
    this.#elapsedMs += ms;
  }

  #nextTimer(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (!next || timer.at < next.at) next = timer;
    return next;
  }
}

let current: Loop | undefined;

/** While a history is played, what the engine leaves for later is left to its loop; otherwise nothing is changed. */
const PATCHED = {
  setTimeout: (act: Act, ms = 0) => current?.later(act, ms) ?? real.setTimeout(act, ms),
  clearTimeout: (timer: NodeJS.Timeout | undefined) => (current ? current.drop(timer) : real.clearTimeout(timer)),
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
  current = loop;
  try {
    return await play();
  } finally {
    current = undefined;
  }
}

/** Until every promise that can go on has gone on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve));
}
