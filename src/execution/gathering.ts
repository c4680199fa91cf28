/** Units in the last commit from which on it pays: one or two in flight are never kept waiting. */
const UNITS_MIN = 4;
/** More at once would hardly be cheaper. */
const UNITS_ENOUGH = 32;
/** Of those who are at work: while these are committed, some are looked at for the next commit and the others do their own part. With all of them the processors would stand idle in turn. */
const SHARE = 3 / 8;
/** Never longer than the last commit took, so that a slow disk or a busy machine gathers for longer than a fast one. */
const MS_MAX = 10;

/**
 * A moment between two large commits. Those who were in the last one come back soon, each a little later than the other; a store
 * that is far away does the same for many at nearly the cost of one. Whoever is alone never waits.
 */
export class Gathering {
  #last = { units: 0, ms: 0, endedAt: 0 };
  #wanted = UNITS_ENOUGH;
  #enough: (() => void) | undefined;

  committed(units: number, ms: number): void {
    this.#last = { units, ms, endedAt: performance.now() };
  }

  /** How many wait now. */
  joined(waiting: number): void {
    if (waiting >= this.#wanted) this.#enough?.();
  }

  /** Whether so many are enough for a commit. */
  isEnough(waiting: number, atWork = 0): boolean {
    this.#wanted = wantedOf(atWork);
    return waiting >= this.#wanted;
  }

  /** Until enough of those at work have come, or the moment is over. */
  async wait(waiting: number, atWork = 0): Promise<void> {
    const { units, ms, endedAt } = this.#last;
    const isFresh = performance.now() - endedAt < ms;
    if (this.isEnough(waiting, atWork) || units < UNITS_MIN || !isFresh) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#enough = resolve;
    const over = setTimeout(resolve, Math.min(ms, MS_MAX));
    await promise;
    clearTimeout(over);
    this.#enough = undefined;
  }
}

function wantedOf(atWork: number): number {
  return Math.min(Math.max(Math.ceil(atWork * SHARE), UNITS_MIN), UNITS_ENOUGH);
}
