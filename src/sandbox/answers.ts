import { asked, type Current, rejected, settled } from './current.ts';
import { HostRefusal } from './errors.ts';
import { encodeFrame } from './frames.ts';
import type { Guard } from './guard.ts';
import { FRAME } from './protocol.ts';
import type { Failed } from './request.ts';

/** Calls of one run answered at the same time. */
const ANSWERING_MAX = 8;
/** Answers are in memory until the child has taken them: with so much of them no further call is looked at. */
const UNTAKEN_CHARS_MAX = 4 * 1_024 * 1_024;

/** A child, as far as what it asks is concerned. */
export interface Asking {
  readonly guard: Guard;
  isCurrent(current: Current): boolean;
  write(bytes: Buffer, onTaken: () => void): void;
  /** The request is over, and its child is to let go of it. */
  abandon(current: Current): void;
  /** It asked what its own code never would. */
  breakOff(failed: Failed): void;
}

/** What the script in a child asks of the host and is told: some calls at a time, and no more than the child takes. */
export class Answers {
  readonly #child: Asking;

  constructor(child: Asking) {
    this.#child = child;
  }

  called(current: Current, [id = '', name = '', args = '']: readonly string[]): void {
    if (current.isSettled) return;
    const { guard } = this.#child;
    const call = current.run.accept(name, args, id !== '');
    if ('kind' in call) return this.#child.breakOff(call);
    guard.heard();
    if (id === '') {
      current.told.push(asked(current, call).catch((error: unknown) => this.#refused(current, error)));
      return;
    }
    current.unanswered++;
    guard.isWaiting = true;
    current.waiting.push({ id, call });
  }

  /** Not before all the child said was read: the last of it may say that the script is over. */
  answerWaiting(current: Current): void {
    while (!current.isSettled && current.answering < ANSWERING_MAX && current.untakenChars <= UNTAKEN_CHARS_MAX) {
      const next = current.waiting.shift();
      if (next === undefined) return;
      current.answering++;
      asked(current, next.call).then(
        (answer) => this.#answer(current, next.id, answer),
        (error: unknown) => this.#refused(current, error),
      );
    }
  }

  #answer(current: Current, id: string, given: string): void {
    if (!this.#child.isCurrent(current) || current.isSettled) return;
    const answer = current.run.answer(given);
    if (typeof answer !== 'string') {
      settled(current, answer);
      return this.#child.abandon(current);
    }
    const { guard } = this.#child;
    current.unanswered--;
    guard.isWaiting = current.unanswered > 0;
    guard.heard();
    current.untakenChars += answer.length;
    this.#child.write(encodeFrame(FRAME.answer, current.generation, [id, answer]), () => {
      current.answering--;
      current.untakenChars -= answer.length;
      this.answerWaiting(current);
    });
  }

  #refused(current: Current, error: unknown): void {
    if (current.isSettled) return;
    if (error instanceof HostRefusal) {
      settled(current, { ...current.run.failure('refused', error.message), refusal: error });
    } else {
      rejected(current, error);
    }
    this.#child.abandon(current);
  }
}
