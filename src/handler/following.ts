import { type Ahead, type Expected, expectAfter, type Outlook, preparedAfter, TOGETHER_MS } from './ahead.ts';
import { stateOf } from './args-of.ts';
import { appliedResult, runNext } from './emit.ts';
import type { DrivenHost, DrivenRun } from './handler-host.ts';
import type { Step } from './moved.ts';
import type { Given, NextEnd } from './next-end.ts';
import { Moment, within } from './within.ts';

/**
 * `next` as it runs while the answer it was told is not durable yet, and behind it the run that may come after: nothing of either
 * counts before that is.
 */
export class Following {
  readonly run: DrivenRun;
  readonly end: Promise<NextEnd>;
  /** What `next` gave, once it has. */
  given: Given | undefined;
  /** The run that may come after, once it is prepared. */
  ahead: Ahead | undefined;
  readonly #heard: Promise<void>;
  #isClosed = false;

  private constructor(host: DrivenHost, run: DrivenRun, result: string, expected: Expected | undefined) {
    this.run = run;
    this.end = runNext(host, run, () => appliedResult(result), expected?.request);
    // Whoever awaits its end is told of what went wrong with it; what goes wrong ahead goes wrong for nobody.
    this.#heard = this.#hear(host, expected).catch(() => undefined);
  }

  /** With what it gives in a moment; undefined where nobody waits for it. */
  static async begin(
    host: DrivenHost,
    before: DrivenRun,
    result: string,
    outlook: Promise<Outlook | undefined> = Promise.resolve(undefined),
  ): Promise<Following | undefined> {
    const { togetherMs = TOGETHER_MS } = host;
    if (togetherMs === 0) return undefined;
    const moment = new Moment(togetherMs);
    try {
      const state = stateOf(host, before);
      const expecting = expectAfter(host, before, state, outlook, host.cancel.signal).catch(() => undefined);
      const expected = await moment.within(expecting);
      const following = new Following(host, { ...before, phase: 'emitting' }, result, expected);
      await moment.within(following.#heard);
      return following;
    } finally {
      moment.end();
    }
  }

  /** A moment more for what is prepared ahead. */
  async wait(ms = TOGETHER_MS): Promise<void> {
    await within(ms, this.#heard);
  }

  /** What was prepared ahead belongs to whoever sends it now. */
  used(step: Step): Step {
    if (step !== 'again' && 'run' in step && step.sent !== undefined) this.ahead = undefined;
    return step;
  }

  /** Whatever is not used by now comes too late. */
  close(): void {
    this.#isClosed = true;
    this.ahead?.slot.giveBack();
    this.ahead = undefined;
  }

  async #hear(host: DrivenHost, expected: Expected | undefined): Promise<void> {
    const given = await this.end;
    if (given.kind !== 'given') return;
    this.given = given;
    const ahead = expected && (await preparedAfter(host, expected, given, stateOf(host, this.run)));
    if (this.#isClosed) ahead?.slot.giveBack();
    else this.ahead = ahead;
  }
}
