/** Chance that is the same for the same seed: a script that breaks something can be made again. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0;
  }

  /** From 0 up to but not including `below`. */
  whole(below: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  /** True once in `often` times on average. */
  once(often: number): boolean {
    return this.whole(often) === 0;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.whole(choices.length)] as T;
  }

  list<T>(countMax: number, make: () => T): T[] {
    return Array.from({ length: this.whole(countMax + 1) }, make);
  }
}
