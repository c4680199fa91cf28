import type { Clock } from '#base';
import type { MutationLimits } from '../connector.ts';
import { NotDoneError, notDone, type Outcome } from '../outcome.ts';
import { diskNotDone, diskWords } from './disk-error.ts';

/** A disk call cannot be called back: how long to wait for its end before saying that nobody knows. */
const GRACE_MS = 1_000;
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Runs a change under its deadline. `begin` is to be called in the tick that changes the first thing: it throws when it is
 * too late. What fails before it was not done; what hangs after it is uncertain, and not over.
 */
export async function timedChange(
  what: string,
  clock: Clock,
  limits: MutationLimits,
  change: (begin: () => void) => Promise<Outcome>,
  graceMs = GRACE_MS,
): Promise<Outcome> {
  let begun = false;
  let abandoned = false;
  const begin = (): void => {
    if (abandoned || limits.signal.aborted)
      throw new NotDoneError(notDone('transient', `${what} was stopped before it began`));
    if (clock.now() >= limits.deadline)
      throw new NotDoneError(notDone('transient', `the time for ${what} ran out before it began`));
    limits.onFirstByte();
    begun = true;
  };
  const changed = change(begin).catch((error: unknown): Outcome => {
    if (!begun) return diskNotDone(error, what);
    return { kind: 'uncertain', message: `${what} was begun, and then ${diskWords(error)}`, callEnded: true };
  });
  const timer = Promise.withResolvers<undefined>();
  const outOfTime = setTimeout(
    () => timer.resolve(undefined),
    Math.min(TIMER_MS_MAX, Math.max(0, limits.deadline - clock.now())),
  );
  const stop = (): void => timer.resolve(undefined);
  limits.signal.addEventListener('abort', stop, { once: true });
  if (limits.signal.aborted) stop();
  try {
    const outcome = await Promise.race([changed, timer.promise]);
    if (outcome !== undefined) return outcome;
    if (!begun) {
      abandoned = true;
      return diskNotDone(new NotDoneError(notDone('transient', `the time for ${what} ran out before it began`)), what);
    }
    return (await Promise.race([changed, after(graceMs)])) ?? unknownEnd(what);
  } finally {
    clearTimeout(outOfTime);
    limits.signal.removeEventListener('abort', stop);
  }
}

function unknownEnd(what: string): Outcome {
  return { kind: 'uncertain', message: `the disk has not finished ${what}, and may still do it`, callEnded: false };
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined).unref());
}
