import { type Clock, keepNewest } from '#base';

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Nobody is kept in mind for longer than it takes to be forgiven; more at once than this are forgotten early. */
const KEYS_MAX = 10_000;

interface Bucket {
  left: number;
  at: number;
}

/** So many at once, and so many a second after that, for each key by itself. */
export class RateLimit {
  readonly #rate: Rate;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Takes one; false when there is none left. */
  take(key: string): boolean {
    const { perSecond, burst } = this.#rate;
    const now = this.#clock.now();
    const bucket = this.#buckets.get(key) ?? { left: burst, at: now };
    const gained = (Math.max(0, now - bucket.at) / 1_000) * perSecond;
    const left = Math.min(burst, bucket.left + gained);
    keepNewest(this.#buckets, key, { left: left >= 1 ? left - 1 : left, at: now }, KEYS_MAX);
    return left >= 1;
  }

  /** How long until one is to be had. */
  waitMs(key: string): number {
    const { perSecond } = this.#rate;
    const { left } = this.#buckets.get(key) ?? { left: 1 };
    return Math.max(0, Math.ceil(((1 - left) / perSecond) * 1_000));
  }
}
