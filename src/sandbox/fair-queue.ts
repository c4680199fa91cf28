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

  /** The first of the line whose turn it is; that line goes to the back. */
  shift(): T | undefined {
    for (const [key, line] of this.#lines) {
      const item = line.shift();
      this.#lines.delete(key);
      if (line.length > 0) this.#lines.set(key, line);
      if (item === undefined) continue;
      this.#length--;
      return item;
    }
    return undefined;
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
