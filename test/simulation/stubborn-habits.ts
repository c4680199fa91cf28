import { StayHabits } from '#session';

/** Every second session stays, for no time at all: what comes between its last commit and its end is then in the histories too. */
export class StubbornHabits extends StayHabits {
  override readonly stayMs = 0;
  #sessions = 0;

  override isWorthIt(): boolean {
    return ++this.#sessions % 2 === 0;
  }
}
