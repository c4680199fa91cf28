import type { HostRefusal } from './errors.ts';
import type { LimitName } from './limits.ts';
import type { Phase } from './protocol.ts';

export interface SandboxRequest {
  readonly scriptId: string;
  readonly code: string;
  readonly handler: string;
  readonly runId: string;
  /** What `Date` says inside, in milliseconds. */
  readonly startedAt: number;
  readonly phase: Phase;
  /** A JSON array, handed to the handler after `ctx`. */
  readonly args: string;
  /** The connection names that become `ctx.<name>`. */
  readonly uses: readonly string[];
  /** With `prepare`: run `mutate` in the same message when something was reserved. */
  readonly andMutate?: boolean;
  readonly signal?: AbortSignal;
  readonly foreseen?: ForeseenPeek | undefined;
  /** What the same child runs right after this, if this returns: on what this returned, where that is something. */
  readonly following?: SandboxRequest | undefined;
  /** Answers with JSON. Rejecting with a HostRefusal ends the run; the script cannot catch it. */
  onCall(call: HostCall): Promise<string>;
}

/** What the script will most likely ask first, with its answer: if it does, nobody has to be asked. */
export interface ForeseenPeek {
  /** Of the call, as the script would send them. */
  readonly args: string;
  readonly answer: string;
  /** The script was handed it, or may have been: nobody knows of one that had to be ended. Told once it is over; it must not throw. */
  onTaken(): void;
}

/**
 * What a script asks of the host; `args` is a JSON array.
 *
 * | name | args | answer |
 * |---|---|---|
 * | peek | topic, options or null | the events |
 * | getByIds | topic, ids | the events |
 * | read | connection, method, argument or null | what the method answered |
 * | publish | topic, { messageId?, inputId?, title?, payload } | not waited for |
 * | registerInput | handle, { source, type, id, title } | not waited for; publish names the handle as inputId |
 * | log | message, data or null | not waited for |
 */
export interface HostCall {
  readonly name: HostCallName;
  readonly args: string;
}

export type HostCallName = 'peek' | 'getByIds' | 'publish' | 'registerInput' | 'log' | 'read';

/** Where in `code` something happened; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The one call `mutate` ended with, if it made one. `params` is the JSON of its argument. */
export interface MutateOutcome {
  readonly call?: { readonly connection: string; readonly method: string; readonly params: string };
}

export type SandboxOutcome = Returned | Failed;

export interface Returned {
  readonly kind: 'returned';
  /** JSON; undefined when the handler returned nothing. `ctx.idle(…)` gives `{"idle":true,"wakeAt":…}`. */
  readonly result: string | undefined;
  /** Of the phase `mutate`, or of `prepare` with `andMutate` when something was reserved. */
  readonly mutate?: MutateOutcome;
  /** How what followed ended; it may still be running. */
  readonly following?: Promise<SandboxOutcome>;
  readonly cpuMs: number;
}

export interface Failed {
  readonly kind: 'failed';
  readonly errorKind: 'script' | 'limit' | 'forbidden' | 'refused' | 'cancelled' | 'crashed';
  readonly phase: Phase | 'load';
  readonly limit?: LimitName;
  /** With `refused`: what `onCall` rejected with. */
  readonly refusal?: HostRefusal;
  readonly message: string;
  readonly stack: readonly Position[];
  readonly cpuMs: number;
}
