import type { DoneHeader, Phase } from '../protocol.ts';
import type { PhaseOutcome } from './phase-run.ts';

export interface Told {
  readonly isForeseenTaken: boolean;
  readonly hasResult: boolean;
  readonly cpuMs: number;
}

/** What the host is told of how a message ended. */
export function doneHeader(outcome: PhaseOutcome, phase: Phase | 'load', told: Told): DoneHeader {
  const { isForeseenTaken, hasResult, cpuMs } = told;
  if (outcome.kind === 'failed') return { ...outcome, isForeseenTaken, phase, cpuMs };
  if (outcome.kind === 'mutation') {
    const mutate = { connection: outcome.connection, method: outcome.method };
    return { kind: 'returned', isForeseenTaken, hasResult, cpuMs, mutate };
  }
  if (phase === 'mutate') return { kind: 'returned', isForeseenTaken, hasResult, cpuMs, mutate: 'none' };
  return { kind: 'returned', isForeseenTaken, hasResult, cpuMs };
}
