import type { HostRun } from './host-run.ts';
import type { HostCall, SandboxOutcome } from './request.ts';

/** A request that a child was sent, and what is not done of it. */
export interface Current {
  readonly run: HostRun;
  readonly outcome: Promise<SandboxOutcome>;
  readonly generation: number;
  readonly settle: (outcome: SandboxOutcome) => void;
  readonly reject: (error: unknown) => void;
  readonly told: Promise<unknown>[];
  startedAtMs: number;
  isSettled: boolean;
  unanswered: number;
  answering: number;
  untakenChars: number;
  /** Calls that wait until another one's answer has been taken. */
  readonly waiting: { readonly id: string; readonly call: HostCall }[];
}

export function begun(run: HostRun, generation: number): Current {
  const { promise, resolve, reject } = Promise.withResolvers<SandboxOutcome>();
  return {
    run,
    outcome: promise,
    generation,
    settle: resolve,
    reject,
    told: [],
    startedAtMs: performance.now(),
    isSettled: false,
    unanswered: 0,
    answering: 0,
    untakenChars: 0,
    waiting: [],
  };
}

/** With what comes behind it, if it returned. */
export function ended({ run }: Current, fields: readonly string[], following: Current | undefined): SandboxOutcome {
  const outcome = run.ended(fields);
  return outcome.kind === 'failed' || following === undefined ? outcome : { ...outcome, following: following.outcome };
}

export function asked({ run }: Current, call: HostCall): Promise<string> {
  return new Promise((resolve) => resolve(run.request.onCall(call)));
}
