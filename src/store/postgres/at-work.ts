/** Longer than a workflow in the middle of its work takes from one commit to the next, also on a slow machine. */
const WITHIN_MS = 200;

/** The workflows that were committed just now: those that will most likely be back in a moment. */
export class AtWork {
  readonly #seenAt = new Map<string, number>();

  note(workflows: readonly string[]): void {
    const now = performance.now();
    for (const workflow of workflows) {
      // Behind all others, so that the oldest come first.
      this.#seenAt.delete(workflow);
      this.#seenAt.set(workflow, now);
    }
  }

  get count(): number {
    const since = performance.now() - WITHIN_MS;
    for (const [workflow, at] of this.#seenAt) {
      if (at >= since) break;
      this.#seenAt.delete(workflow);
    }
    return this.#seenAt.size;
  }
}
