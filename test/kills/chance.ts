import { sha256 } from '#base';

/** Numbers that look random and are the same for the same seed. */
export class Chance {
  readonly #seed: number;
  #drawn = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** From 0 up to, but not including, this. */
  below(end: number): number {
    return Math.floor(this.#next() * end);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  /** A name, as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let rest = this.#next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      rest -= weight;
      if (rest < 0) return name;
    }
    throw new Error('there is nothing to pick from');
  }

  #next(): number {
    this.#drawn++;
    return Number.parseInt(sha256(`${this.#seed} ${this.#drawn}`).slice(0, 8), 16) / 2 ** 32;
  }
}
