import type { HostRun } from './host-run.ts';
import type { HostCall, SandboxOutcome } from './request.ts';

/** It had not begun when its child had no time for it: nothing of it has happened, and another child may take it. */
export const WITHDRAWN = 'withdrawn';

/** A request that a child was sent, and what is not done of it. */
export interface Current {
  readonly run: HostRun;
  readonly outcome: Promise<SandboxOutcome | typeof WITHDRAWN>;
  readonly generation: number;
  readonly settle: (outcome: SandboxOutcome | typeof WITHDRAWN) => void;
  readonly reject: (error: unknown) => void;
  readonly told: Promise<unknown>[];
  /** It was sent along, and begins when this one returns. */
  following: Current | undefined;
  /** Undefined while it stands behind another, or its child has not started. */
  startedAtMs: number | undefined;
  isSettled: boolean;
  unanswered: number;
  /** Answers being made or on their way to the child. */
  answering: number;
  untakenChars: number;
  readonly waiting: { readonly id: string; readonly call: HostCall }[];
}

export function begun(run: HostRun, generation: number, following?: Current): Current {
  const { promise, resolve, reject } = Promise.withResolvers<SandboxOutcome | typeof WITHDRAWN>();
  return {
    run,
    outcome: promise,
    generation,
    settle: resolve,
    reject,
    told: [],
    following,
    startedAtMs: undefined,
    isSettled: false,
    unanswered: 0,
    answering: 0,
    untakenChars: 0,
    waiting: [],
  };
}

/** With what comes behind it, if it returned. */
export function ended({ run, following }: Current, fields: readonly string[]): SandboxOutcome {
  const outcome = run.ended(fields);
  if (outcome.kind === 'failed' || following === undefined) return outcome;
  // It takes the place of this one, at the head of the line, and leaves it only when it is over: it is never withdrawn.
  return { ...outcome, following: following.outcome as Promise<SandboxOutcome> };
}

export function settled(current: Current, outcome: SandboxOutcome): void {
  if (current.isSettled) return;
  current.isSettled = true;
  // Whoever waits is told in a later turn, and finds everything said; and is told whatever happens here.
  current.settle(outcome);
  current.run.over();
}

export function rejected(current: Current, error: unknown): void {
  if (current.isSettled) return;
  current.isSettled = true;
  current.reject(error);
}

/** Nothing of it has happened, and nothing of what was to follow it. */
export function withdrawn(current: Current): void {
  for (const each of [current, current.following]) {
    if (each === undefined || each.isSettled) continue;
    each.isSettled = true;
    each.settle(WITHDRAWN);
  }
}

/** What was to follow it does not. */
export function unfollowed(leader: Current): void {
  const { following } = leader;
  leader.following = undefined;
  if (following === undefined) return;
  settled(following, following.run.failure('crashed', 'what it was to follow had not returned'));
}

export function asked({ run }: Current, call: HostCall): Promise<string> {
  return new Promise((resolve) => resolve(run.request.onCall(call)));
}
