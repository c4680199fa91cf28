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
  | { readonly kind: 'renewed'; readonly status: string }
  /** This incarnation was declared over. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly error: string };

/** Times that both see at once: nanoseconds of the steady clock, and milliseconds of the one on the wall. */
export const TICKED_AT = 0;
export const RENEWED_AT = 1;
export const RENEWED_WALL = 2;
export const SHARED_BYTES = 3 * BigInt64Array.BYTES_PER_ELEMENT;

/** Of a lease: a loop that has not ticked for so long is stuck, and no sign of life is shown for it. */
export const STUCK = 15 / 45;
