import type { LookupName, Question } from '#model';

/** What is known by question. Nearly all are asked about one id: to put a question into words, as a key, takes longer than to answer it. */
export class ByQuestion<V> {
  readonly #byName = new Map<LookupName, Map<string, V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ name, by }: Question): V | undefined {
    return this.#byName.get(name)?.get(wordsOf(by));
  }

  set({ name, by }: Question, value: V): void {
    let values = this.#byName.get(name);
    if (values === undefined) {
      values = new Map();
      this.#byName.set(name, values);
    }
    const before = values.size;
    values.set(wordsOf(by), value);
    this.#size += values.size - before;
  }

  delete(name: LookupName, ...by: readonly string[]): void {
    if (this.#byName.get(name)?.delete(wordsOf(by))) this.#size -= 1;
  }
}

/** Of one lookup no two different questions read the same: it has a fixed number of parts, and none that is asked has the character between them. */
function wordsOf(by: readonly string[]): string {
  return by.length === 1 ? (by[0] as string) : by.join('\0');
}
