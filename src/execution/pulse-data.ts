import { type ErrorFacts, PawlError, StoreFailedError, StoreUnavailableError } from '#base';

/** What a process and the thread that shows its sign of life tell each other. */
export interface PulseData {
  readonly url: string;
  readonly worker: string;
  readonly leaseMs: number;
  readonly everyMs: number;
  readonly shared: SharedArrayBuffer;
}

export type Wish = 'begin' | 'beat' | 'end';

export type Beat =
  /** Connected, and waiting to begin. */
  | { readonly kind: 'ready' }
  /** There is no connection, and the thread has ended. */
  | { readonly kind: 'unopened'; readonly failure: Failure }
  | { readonly kind: 'renewed'; readonly status: string }
  /** This incarnation was declared over. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly error: string };

/** An error of the store on its way between threads, where it would lose its class. */
type Failure = Omit<ErrorFacts, 'cause'> & { readonly isLasting: boolean };

/** Undefined where it is none of the store's: then it is a bug, and stays what it is. */
export function failureOf(error: unknown): Failure | undefined {
  if (!(error instanceof PawlError)) return undefined;
  const { code, message, why, next, ids, retryable } = error;
  return { code, message, why, next, ids, retryable, isLasting: error instanceof StoreFailedError };
}

export function errorOf({ isLasting, ...facts }: Failure): PawlError {
  return isLasting ? new StoreFailedError(facts) : new StoreUnavailableError(facts);
}

/** Times that both see at once: nanoseconds of the steady clock, and milliseconds of the one on the wall. */
export const TICKED_AT = 0;
export const RENEWED_AT = 1;
export const RENEWED_WALL = 2;
export const SHARED_BYTES = 3 * BigInt64Array.BYTES_PER_ELEMENT;

/** Of a lease: a loop that has not ticked for so long is stuck, and no sign of life is shown for it. */
export const STUCK = 15 / 45;
