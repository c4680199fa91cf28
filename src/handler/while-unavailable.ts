import { StoreUnavailableError } from '#base';

const WAIT_MS_MIN = 100;
const WAIT_MS_MAX = 5_000;

/**
 * A full disk is no reason to forget what is known: the same write is tried again until it can be made. Whoever calls this says
 * with `act` something that is still true later.
 */
export async function whileUnavailable<T>(act: () => Promise<T>): Promise<T> {
  for (let waitMs = WAIT_MS_MIN; ; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || error.code === 'closed') throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}
