/** A queue in which each key has its own line, and the lines take turns: one that is long does not hold up the others. */
export class FairQueue<T> {
  #lines = new Map<string, T[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(key: string, item: T): void {
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, [item]);
    else line.push(item);
    this.#length++;
  }

  /** It had its turn, and could not go after all: it is the first again. */
  putBack(key: string, item: T): void {
    const line = this.#lines.get(key) ?? [];
    this.#lines.delete(key);
    this.#lines = new Map([[key, [item, ...line]], ...this.#lines]);
    this.#length++;
  }

  /** The key of the line whose turn it is, of those that may go. */
  turn(mayGo: (key: string) => boolean): string | undefined {
    for (const key of this.#lines.keys()) if (mayGo(key)) return key;
    return undefined;
  }

  first(key: string): T | undefined {
    return this.#lines.get(key)?.[0];
  }

  /** The first of a line; the line goes to the back. */
  take(key: string): T | undefined {
    const line = this.#lines.get(key);
    const item = line?.shift();
    this.#lines.delete(key);
    if (line === undefined || item === undefined) return undefined;
    if (line.length > 0) this.#lines.set(key, line);
    this.#length--;
    return item;
  }

  remove(key: string, item: T): boolean {
    const line = this.#lines.get(key);
    const at = line?.indexOf(item) ?? -1;
    if (line === undefined || at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(key);
    this.#length--;
    return true;
  }

  clear(): T[] {
    const items = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.#length = 0;
    return items;
  }
}
