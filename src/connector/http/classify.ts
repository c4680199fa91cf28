import type { Clock } from '#base';
import { type ErrorClass, type NotDone, notDone } from '../outcome.ts';
import type { CallSecrets } from '../secrets.ts';
import { AddressRefusedError } from './guarded-socket.ts';

const RETRY_AFTER_MS_MAX = 24 * 3_600_000;
/** Refusals of most servers, but these may come when the work was done or is still going on. */
const UNCERTAIN_4XX = [408, 409, 425];
const EXCERPT_LENGTH_MAX = 300;
/** Of an answer that is all blanks but for a word. */
const READ_BYTES_MAX = 256 * 1_024;

export type MutationStatus =
  | { readonly kind: 'applied' }
  | { readonly kind: 'refused'; readonly class: ErrorClass }
  | { readonly kind: 'uncertain' };

/** What a status says about a mutation, given what the operator knows of the provider. */
export function mutationStatus(status: number, listedAsNotDone: readonly number[]): MutationStatus {
  if (status >= 200 && status < 300) return { kind: 'applied' };
  const isRefusal = status >= 400 && status < 500 && !UNCERTAIN_4XX.includes(status);
  return isRefusal || listedAsNotDone.includes(status)
    ? { kind: 'refused', class: classOf(status) }
    : { kind: 'uncertain' };
}

/** Whether a read's status is an answer to hand to the script. */
export function isReadValue(status: number): boolean {
  return status < 500 && ![401, 403, 407, 429].includes(status);
}

export function classOf(status: number): ErrorClass {
  if (status === 401 || status === 407) return 'auth';
  if (status === 403) return 'permission';
  if (status >= 500 || [408, 425, 429].includes(status)) return 'transient';
  return 'logic';
}

/** Why nothing was sent, by what stopped it. */
export function notSent(error: Error, what: string): NotDone {
  // No permission helps: the script, the event or the config must change.
  const isRefused = error instanceof AddressRefusedError;
  return notDone(isRefused ? 'logic' : 'transient', `${what} was not sent: ${describeError(error)}`);
}

export function describeError(error: Error): string {
  // Several addresses were tried, and each failed in its own way: the empty message of the whole helps nobody.
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map((each) => (each instanceof Error ? each.message : `${each}`)).join('; ');
  }
  return error.message === '' ? error.name : error.message;
}

/** `Retry-After`, in seconds or as a date, as a wait. */
export function retryAfterMs(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined;
  const waitMs = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now();
  return Number.isNaN(waitMs) ? undefined : Math.min(RETRY_AFTER_MS_MAX, Math.max(0, waitMs));
}

/** What the provider said, for an error message. A secret is taken out before anything is cut: nobody would know half of it again. */
export function excerpt(body: Buffer, secrets: Pick<CallSecrets, 'redact'>): string {
  const text = secrets
    .redact(body.subarray(0, READ_BYTES_MAX).toString('utf8'))
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (text === '') return '';
  return `: ${text.length > EXCERPT_LENGTH_MAX ? `${text.slice(0, EXCERPT_LENGTH_MAX)}…` : text}`;
}
