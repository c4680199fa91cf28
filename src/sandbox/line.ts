import { type Current, unfollowed, withdrawn } from './current.ts';

/** The requests a child was sent and is not done with, in the order in which it takes them: it works on the first. */
export class Line {
  readonly #all: Current[] = [];

  get first(): Current | undefined {
    return this.#all[0];
  }

  get length(): number {
    return this.#all.length;
  }

  /** Those behind the first that somebody still waits for. */
  get behind(): readonly Current[] {
    return this.#all.slice(1).filter(({ isSettled }) => !isSettled);
  }

  /** What is to follow one of them is none of the line yet. */
  get withFollowing(): readonly Current[] {
    return this.#all.flatMap((each) => (each.following === undefined ? [each] : [each, each.following]));
  }

  has(current: Current): boolean {
    return this.#all.includes(current);
  }

  push(current: Current): void {
    this.#all.push(current);
  }

  /** The child is done with the first: what was to follow it comes next, else whoever stands behind. */
  pass(): void {
    const following = this.first?.following;
    this.#all.splice(0, 1, ...(following === undefined ? [] : [following]));
  }

  /** The first is sent once more: what was sent behind it comes before it now. */
  sendBack(): void {
    this.#all.push(...this.#all.splice(0, 1));
  }

  /**
   * The child was done with one before its turn. Either it was left out because it had been given up, or it was to follow one that has to
   * be sent once more.
   */
  overEarly(generation: number): void {
    const leader = this.#all.find(({ following }) => following?.generation === generation);
    if (leader !== undefined) return unfollowed(leader);
    const at = this.#all.findIndex((each) => each.generation === generation && each.isSettled);
    if (at > 0) this.#all.splice(at, 1);
  }

  /** The child takes nothing more. What it had begun is settled by now, and takes what was to follow it along; the rest goes elsewhere. */
  leave(): void {
    // The last one first: each goes before all that wait for a child.
    for (const current of this.#all.splice(0).toReversed()) {
      if (current.isSettled) unfollowed(current);
      else withdrawn(current);
    }
  }
}
