import type { RunId } from '#base';
import type { ExecutionEnd } from '#model';
import type { SentAhead } from './ahead.ts';

/**
 * What came of a run: the next one of its session, perhaps with its call recorded already, or the session's end; or the session is open,
 * and nothing is due.
 */
export type Moved =
  | { readonly run: RunId; readonly sent?: SentAhead }
  | { readonly ended: ExecutionEnd }
  | { readonly waits: true };

/** One step of a run, or what came of it. */
export type Step = 'again' | Moved;
