import type { Clock } from '#base';
import type { Switchboard } from '#store';

/** What the clocks of this machine showed when the database said what time it was. */
interface Said {
  readonly at: number;
  readonly steady: number;
  readonly wall: number;
}

/**
 * The time of the database, told by this machine's own clocks since it was last asked. Clocks of machines are apart, and are set;
 * leases and deadlines are decided by the one that all of them share.
 */
export class DatabaseClock implements Clock {
  readonly #switchboard: Pick<Switchboard, 'now'>;
  #said: Said | undefined;

  constructor(switchboard: Pick<Switchboard, 'now'>) {
    this.#switchboard = switchboard;
  }

  /**
   * By whichever clock says that more time has passed: the steady one stands still while the machine sleeps, and a call whose time
   * was over long ago would go out when it wakes. One that is set forward is a little early until the database is asked again.
   */
  now(): number {
    if (!this.#said) return Date.now();
    const { at, steady, wall } = this.#said;
    return Math.floor(at + Math.max(performance.now() - steady, Date.now() - wall));
  }

  /** Asked halfway between the question and the answer, as far as anybody knows. */
  async set(): Promise<void> {
    const asked = { steady: performance.now(), wall: Date.now() };
    const at = await this.#switchboard.now();
    const answered = { steady: performance.now(), wall: Date.now() };
    this.#said = { at, steady: (asked.steady + answered.steady) / 2, wall: (asked.wall + answered.wall) / 2 };
  }
}
