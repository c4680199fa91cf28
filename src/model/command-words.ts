import type { EventId, ExecutionId, RunId, ScriptId, WorkerId } from '#base';
import type { Grant } from './rows-of-people.ts';
import type { RunStatus } from './states.ts';

/** Which execution a worker acts for. Every worker command is refused unless all three are still the row's. */
export interface Fence {
  readonly execution: ExecutionId;
  readonly epoch: number;
  readonly owner: WorkerId;
}

export interface Reservation {
  readonly topic: string;
  readonly ids: readonly string[];
}

/**
 * An event as `peek` handed it out; `pendingSeq` tells later whether it has changed since. One that is published in the commit that
 * reserves it has none yet.
 */
export interface HandedOut {
  readonly event: EventId;
  readonly pendingSeq: number | undefined;
}

export interface Publish {
  readonly topic: string;
  /** May be left out in `next`: then it follows from the chain and the position. */
  readonly messageId?: string | undefined;
  readonly payload: string;
  readonly title?: string | null | undefined;
  /** Producers: which of the registered inputs, by position, caused it. */
  readonly input?: number | undefined;
  /** What a script was shown of it before it was there. */
  readonly shownAs?: ShownAhead | undefined;
}

/** The id an event is to have, and when it came: both made before the commit that publishes it. */
export interface ShownAhead {
  readonly event: EventId;
  readonly createdAt: number;
}

export interface RegisteredInput {
  readonly source: string;
  readonly type: string;
  readonly id: string;
  readonly title: string;
}

/** The exact call, and what the host needs to know of its method. */
export interface Call {
  readonly connection: string;
  readonly method: string;
  readonly params: string;
  readonly preview: string;
  readonly title: string | null;
  readonly timeoutMs: number;
  readonly canReconcile: boolean;
  /** How long the provider may take to show what it did; undeclared: 30 s. */
  readonly visibilityMs?: number | undefined;
  readonly needsApproval: boolean;
  /** Why a person is asked, in words. */
  readonly approvalWhy?: string | undefined;
}

/** What refused the run: a connection's credentials (of that version), or a grant nobody gave. */
export type ApprovalCause =
  | { readonly kind: 'auth'; readonly connection: string; readonly version: number }
  | { readonly kind: 'permission' };

export interface StopOptions {
  readonly error: string;
  readonly errorType?: string | undefined;
  readonly cost?: number | undefined;
  readonly cause?: ApprovalCause | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly suspects?: readonly EventId[] | undefined;
  /** The process knows that its call is over: no byte of it can go out any more. */
  readonly callEnded?: boolean | undefined;
  readonly timeout?: boolean | undefined;
  /** Of a producer that was cancelled: its next tick, null for none. The one it ran for is used up. */
  readonly nextAt?: number | null | undefined;
}

export type ErrorClass = 'transient' | 'auth' | 'permission' | 'logic' | 'internal';

/** Who answers for a mutation, and how. */
export type Answer =
  | { readonly resolvedBy: 'provider' }
  /** `askedAt` is when the look-up began; without it, it is taken to have begun with this command. */
  | { readonly resolvedBy: 'reconcile'; readonly askedAt?: number | undefined }
  | { readonly resolvedBy: 'user_assert_applied'; readonly by: string }
  | { readonly resolvedBy: 'user_assert_failed'; readonly by: string };

/** What an approval covers besides the call itself. */
export interface Cover {
  /** Null: any target of the method. */
  readonly target: string | null;
  readonly callsMax: number;
  readonly until: number;
}

export type GivenGrant = Pick<Grant, 'connection' | 'method' | 'targets' | 'capPerHour'>;

export interface Stopped {
  readonly run: RunId;
  readonly status: RunStatus;
}

/** A consumer's run whose `prepare` was run before the run was there: with this id, at this time, on this state. */
export interface ExpectedRun {
  readonly run: RunId;
  readonly startedAt: number;
  readonly script: ScriptId;
  readonly handler: string;
  readonly state: string | null;
  /** It was shown nothing of this topic but what is published in the commit that begins it. */
  readonly newIn?: string | undefined;
}
