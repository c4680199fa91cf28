import { keepNewest } from '#base';

/** Every series costs whoever keeps them: past so many workflows, or connections, the rest is counted together. */
export const LABELS_MAX = 100;
/** What is past the bound, or began before this process did. */
export const OTHER = 'other';

/** Counts by whom they are about and what it was; of the first, only so many are told apart. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(about: string, what: string, count = 1): void {
    const key = this.#counts.has(about) || this.#counts.size < LABELS_MAX ? about : OTHER;
    const counts = this.#counts.get(key) ?? new Map<string, number>();
    counts.set(what, (counts.get(what) ?? 0) + count);
    this.#counts.set(key, counts);
  }

  /** `[about, what, count]` */
  *entries(): Generator<readonly [string, string, number]> {
    for (const [about, counts] of this.#counts) {
      for (const [what, count] of counts) yield [about, what, count];
    }
  }
}

/** The newest of many: what is older is forgotten. */
export class Recent<K, V> {
  readonly #max: number;
  readonly #values = new Map<K, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: K): V | undefined {
    return this.#values.get(key);
  }

  set(key: K, value: V): void {
    keepNewest(this.#values, key, value, this.#max);
  }
}
