import type { Clock } from '#base';
import type { Switchboard } from '#store';

/** An answer within this time is off by half of it at most. */
const QUICK_MS = 500;
const TRIES_MAX = 3;

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

  /**
   * Said halfway between the question and the answer, as far as anybody knows. Where that took long this process may have stood still before it
   * heard the answer: it asks again, and in the end takes it as said when it was asked. So its clock may be ahead, but never behind.
   */
  async set(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const asked = clocks();
      const at = await this.#switchboard.now();
      const answered = clocks();
      const [steadyMs, wallMs] = [answered.steady - asked.steady, answered.wall - asked.wall];
      const isQuick = steadyMs <= QUICK_MS && Math.abs(wallMs) <= QUICK_MS;
      if (!isQuick && tries < TRIES_MAX) continue;
      const share = isQuick ? 0.5 : 0;
      this.#said = { at, steady: asked.steady + steadyMs * share, wall: asked.wall + wallMs * share };
      return;
    }
  }
}

function clocks(): Omit<Said, 'at'> {
  return { steady: performance.now(), wall: Date.now() };
}
