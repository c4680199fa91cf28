import { StayHabits } from '#session';

/** Longer than anybody takes to publish something, in the time of the history. */
const STAY_MS = 40;

/**
 * Every second session stays. One of two for no time at all: what comes between its last commit and its end is then in the histories too.
 * The other for a moment in which somebody does something: what is published meanwhile is offered to it.
 */
export class StubbornHabits extends StayHabits {
  readonly #meanwhile: (turn: number) => void;
  #sessions = 0;
  #waits = 0;

  constructor(meanwhile: (turn: number) => void) {
    super();
    this.#meanwhile = meanwhile;
  }

  override isWorthIt(): boolean {
    return ++this.#sessions % 2 === 0;
  }

  override waitMs(): number {
    const turn = this.#waits++;
    if (turn % 2 === 1) return 0;
    this.#meanwhile(turn / 2);
    return STAY_MS;
  }
}
