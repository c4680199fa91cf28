import type { Clock } from '#base';
import type { Switchboard } from '#store';

/**
 * The time of the database, told by this machine's steady clock since it was last asked. Clocks of machines are apart, and are set;
 * leases and deadlines are decided by the one that all of them share.
 */
export class DatabaseClock implements Clock {
  readonly #switchboard: Pick<Switchboard, 'now'>;
  #aheadMs: number | undefined;

  constructor(switchboard: Pick<Switchboard, 'now'>) {
    this.#switchboard = switchboard;
  }

  now(): number {
    return this.#aheadMs === undefined ? Date.now() : Math.floor(performance.now() + this.#aheadMs);
  }

  /** Asked halfway between the question and the answer, as far as anybody knows. */
  async set(): Promise<void> {
    const askedAt = performance.now();
    const now = await this.#switchboard.now();
    const answeredAt = performance.now();
    this.#aheadMs = now - (askedAt + answeredAt) / 2;
  }
}
