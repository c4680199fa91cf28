import { PawlError } from '#base';
import type { EngineLog } from './engine-log.ts';
import { duration, plural } from './words.ts';

/** Everything that needs the store says so each time it tries again: at most so often it is told. */
const TOLD_MS = 60_000;
const LOOK_MS = 1_000;
const AWAY = new Set(['store-unreachable', 'store-no-connection', 'store-full', 'store-busy']);

interface Away {
  readonly since: number;
  lastAt: number;
  untold: number;
  /** Whether the engine was seen without its store; else something failed that was over at once. */
  isSeen: boolean;
}

/** Errors on their way to the log. That the store is away is told when it begins, then once a minute, and when it is over. */
export class Outage {
  readonly #log: Pick<EngineLog, 'error' | 'say'>;
  readonly #now: () => number;
  #takesWrites: (() => boolean) | undefined;
  #away: Away | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<EngineLog, 'error' | 'say'>, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  readonly error = (error: unknown): void => {
    if (!(error instanceof PawlError) || !AWAY.has(error.code)) return this.#log.error(error);
    const now = this.#now();
    this.#away ??= { since: now, lastAt: now, untold: 0, isSeen: false };
    this.#away.lastAt = now;
    this.#look();
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    if (now - this.#toldAt < TOLD_MS) {
      this.#away.untold++;
      return;
    }
    this.#toldAt = now;
    this.#log.error(error);
  };

  /** How it is known that the store is back. */
  watch(takesWrites: () => boolean): void {
    this.#takesWrites = takesWrites;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#takesWrites = undefined;
  }

  #look(): void {
    const away = this.#away;
    if (!away || !this.#takesWrites) return;
    if (!this.#takesWrites()) away.isSeen = true;
    // Not all connections are back at the same time.
    else if (this.#now() - away.lastAt >= LOOK_MS) this.#over(away);
  }

  #over({ since, untold, isSeen }: Away): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#away = undefined;
    if (!isSeen) return;
    this.#toldAt = Number.NEGATIVE_INFINITY;
    const more =
      untold === 0 ? '' : `; ${plural(untold, 'error like the first was', 'errors like the first were')} left out`;
    this.#log.say(`the store takes writes again, after ${duration(this.#now() - since)}${more}`);
  }
}
