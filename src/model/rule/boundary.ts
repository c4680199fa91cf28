import type { Draft } from '../draft.ts';
import type { Mutation, Run } from '../rows.ts';
import type { Hold } from '../states.ts';

/**
 * Where a chain stands to its one external effect: the question that failure, crash recovery, cancel and retry all ask.
 *
 * - before: nothing happened outside; the events go back and a fresh run starts over.
 * - unknown: a call may have happened; nobody may send again or release until someone says.
 * - held: the call is recorded and waits for a person; nothing was sent.
 * - after: the effect happened, or a person decided to go on without it; only `next` is left.
 */
export type Boundary = 'before' | 'unknown' | 'held' | 'after';

/**
 * Ledger before phase. A stopped run still at `mutating` may be answered *applied* or *skip*; deciding by phase would
 * release its events and send the effect again.
 */
export function boundaryOf(run: Run, ledger: Mutation | undefined, reservedCount: number): Boundary {
  if (ledger) return boundaryByLedger(ledger);
  const pastCall = run.phase === 'mutated' || run.phase === 'emitting';
  return pastCall && reservedCount > 0 ? 'after' : 'before';
}

function boundaryByLedger(ledger: Mutation): Boundary {
  switch (ledger.status) {
    case 'in_flight':
    case 'needs_reconcile':
    case 'indeterminate':
      return 'unknown';
    case 'pending':
      return 'held';
    case 'applied':
      return 'after';
    case 'failed':
      return ledger.resolvedBy === 'user_skip' ? 'after' : 'before';
  }
}

interface OnBoundary {
  readonly events: 'release' | 'keep';
  readonly pointer: boolean;
  readonly hold: Hold | null;
}

export const ON_BOUNDARY: Readonly<Record<Boundary, OnBoundary>> = {
  unknown: { events: 'keep', pointer: true, hold: 'unknown' },
  held: { events: 'keep', pointer: true, hold: 'approval' },
  after: { events: 'keep', pointer: true, hold: null },
  before: { events: 'release', pointer: false, hold: null },
};

export function boundaryOfRun(draft: Draft, run: Run): Boundary {
  return boundaryOf(run, draft.one('ledger', run.rootRunId), draft.find('reserved', run.id).length);
}
