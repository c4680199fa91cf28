import type { Clock } from '#base';
import { NotDoneError, notDone } from './outcome.ts';

/** More callers than this waiting for one connection means that something is wrong; they are told to come back. */
const WAITING_MAX = 10_000;
const WAIT_MS_MAX = 60_000;

export interface LimiterOptions {
  readonly concurrency: number;
  /** Calls a second, on average; undefined means no limit. */
  readonly ratePerSecond: number | undefined;
  /** How many calls may go at once after a rest. */
  readonly burst: number;
  readonly clock: Clock;
}

/** Held by a call while it runs. Releasing twice does nothing. */
export interface Slot {
  release(): void;
  /** The same for a call that was never made: nor does it count for the rate. */
  giveBack(): void;
}

export interface Limiter {
  acquire(signal: AbortSignal): Promise<Slot>;
  /** Without waiting: undefined when it is not this call's turn. */
  acquireNow(): Slot | undefined;
}

interface Waiter {
  readonly admit: () => void;
}

/** A semaphore and a token bucket, first come first served. */
export function createLimiter({ concurrency, ratePerSecond, burst, clock }: LimiterOptions): Limiter {
  const waiting: Waiter[] = [];
  let running = 0;
  let tokens = burst;
  let refilledAt = clock.now();
  let timer: NodeJS.Timeout | undefined;

  function refill(): void {
    const now = clock.now();
    // A clock that steps back adds nothing; it must not take tokens away either.
    const elapsedMs = Math.max(0, now - refilledAt);
    refilledAt = now;
    tokens = Math.min(burst, tokens + (elapsedMs * (ratePerSecond ?? 0)) / 1000);
  }

  function msUntilToken(): number {
    if (ratePerSecond === undefined) return 0;
    refill();
    // A thousandth is rounding: waiting for it would wake a millisecond early for ever.
    return tokens >= 0.999 ? 0 : Math.min(WAIT_MS_MAX, Math.ceil(((1 - tokens) * 1000) / ratePerSecond));
  }

  function pump(): void {
    clearTimeout(timer);
    timer = undefined;
    while (waiting.length > 0 && running < concurrency) {
      const waitMs = msUntilToken();
      if (waitMs > 0) {
        timer = setTimeout(pump, waitMs);
        return;
      }
      running++;
      tokens -= 1;
      waiting.shift()?.admit();
    }
  }

  function slot(): Slot {
    let held = true;
    const release = (unused: number): void => {
      if (!held) return;
      held = false;
      running--;
      tokens = Math.min(burst, tokens + unused);
      pump();
    };
    return { release: () => release(0), giveBack: () => release(1) };
  }

  return {
    acquireNow() {
      if (waiting.length > 0 || running >= concurrency || msUntilToken() > 0) return undefined;
      running++;
      tokens -= 1;
      return slot();
    },
    acquire(signal) {
      if (signal.aborted)
        return Promise.reject(new NotDoneError(notDone('transient', 'the call was stopped before it began')));
      if (waiting.length >= WAITING_MAX) {
        return Promise.reject(
          new NotDoneError(notDone('transient', `${WAITING_MAX} calls already wait for this connection`)),
        );
      }
      return new Promise((resolve, reject) => {
        const stop = (): void => {
          waiting.splice(waiting.indexOf(waiter), 1);
          pump();
          reject(new NotDoneError(notDone('transient', 'the call was stopped while it waited for its connection')));
        };
        const waiter: Waiter = {
          admit() {
            signal.removeEventListener('abort', stop);
            resolve(slot());
          },
        };
        signal.addEventListener('abort', stop, { once: true });
        waiting.push(waiter);
        pump();
      });
    },
  };
}
