/** A child, as far as it can be made to stand still. */
export interface Holdable {
  readonly pid: number;
  hold(): void;
  letGo(): void;
}

/** A phase is seldom alone: soon after `prepare` comes `next`, and what lies between is the engine's work for the same event. */
const LINGER_MS = 3;
/** For each millisecond in which the others were quiet, heavy children may be held for so many: a quarter of the time stays theirs. */
const HELD_PER_QUIET = 3;
/** However quiet it was before. */
const HELD_MS_MAX = 100;

/**
 * Short phases go first: while one runs, children that compute much stand still. A low priority alone is not enough: Linux lets whoever
 * computes finish its slice, some milliseconds, before one that has just been woken. They are held only for time they had to themselves
 * before, so where the others are never quiet nobody is held at all, and only the priorities count.
 */
export class Precedence {
  readonly #nowMs: () => number;
  readonly #working = new Set<Holdable>();
  /** Those the short phases know of, and let go should the host be gone. */
  #known: ReadonlySet<Holdable> = new Set();
  readonly #held = new Set<Holdable>();
  #short = 0;
  #isQuiet = true;
  /** Since when it is quiet, or is not. */
  #sinceMs: number;
  /** How long they might be held when that began. */
  #creditMs = 0;
  #quietTimer: NodeJS.Timeout | undefined;
  #holdTimer: NodeJS.Timeout | undefined;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  /** A short phase begins, and knows of these. */
  shortBegins(known: Iterable<Holdable>): readonly number[] {
    this.#known = new Set(known);
    this.#short++;
    clearTimeout(this.#quietTimer);
    if (this.#isQuiet) this.#turn(false);
    this.#hold();
    return [...this.#known].map(({ pid }) => pid);
  }

  shortEnds(): void {
    this.#short--;
    if (this.#short > 0) return;
    this.#quietTimer = setTimeout(() => {
      this.#turn(true);
      this.#letGo();
    }, LINGER_MS);
    this.#quietTimer.unref();
  }

  heavyBegins(child: Holdable): void {
    this.#working.add(child);
    if (!this.#isQuiet) this.#hold();
  }

  heavyEnds(child: Holdable): void {
    this.#working.delete(child);
    if (this.#held.delete(child)) child.letGo();
  }

  #hold(): void {
    const leftMs = this.#leftMs();
    if (leftMs <= 0) return;
    for (const child of this.#working) {
      if (this.#held.has(child) || !this.#known.has(child)) continue;
      this.#held.add(child);
      child.hold();
    }
    if (this.#held.size === 0) return;
    clearTimeout(this.#holdTimer);
    this.#holdTimer = setTimeout(() => this.#letGo(), leftMs);
    this.#holdTimer.unref();
  }

  #letGo(): void {
    clearTimeout(this.#holdTimer);
    for (const child of this.#held) child.letGo();
    this.#held.clear();
  }

  #turn(isQuiet: boolean): void {
    this.#creditMs = this.#leftMs();
    this.#sinceMs = this.#nowMs();
    this.#isQuiet = isQuiet;
  }

  #leftMs(): number {
    const passedMs = this.#nowMs() - this.#sinceMs;
    const leftMs = this.#creditMs + (this.#isQuiet ? passedMs * HELD_PER_QUIET : -passedMs);
    return Math.min(HELD_MS_MAX, Math.max(0, leftMs));
  }
}
