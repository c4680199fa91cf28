import type { Output, Run } from '../api-types.ts';

/** What became of one phase in one attempt. */
export type SegmentState =
  /** It was done in this attempt. */
  | 'done'
  /** It is under way. */
  | 'busy'
  /** The attempt stopped here. */
  | 'stopped'
  /** It was done, or is as it is, since an earlier attempt of the chain. */
  | 'earlier'
  /** There was nothing to do. */
  | 'none'
  /** It did not come to it. */
  | 'never';

export interface Attempt {
  readonly run: Run;
  readonly prepare: SegmentState;
  readonly mutate: SegmentState;
  readonly next: SegmentState;
}

const ORDER: Readonly<Record<Run['phase'], number>> = {
  executing: 0,
  preparing: 0,
  prepared: 1,
  mutating: 2,
  mutated: 3,
  emitting: 4,
  committed: 5,
};

/** A chain of runs as a table: an attempt a row, a phase a column. */
export function attemptsOf(runs: readonly Run[]): readonly Attempt[] {
  return runs.map((run, i) => {
    const before = runs[i - 1];
    // A retry begins after the call, unless the call itself waited for approval.
    const sendsItself = before?.status === 'paused:approval' && before.phase === 'mutating';
    return {
      run,
      prepare: before ? 'earlier' : segment(run, 0, 1),
      mutate: before && !sendsItself ? 'earlier' : mutateOf(run),
      next: segment(run, 4, 5),
    };
  });
}

function mutateOf(run: Run): SegmentState {
  if (ORDER[run.phase] >= ORDER.mutated && tookNothing(run)) return 'none';
  return segment(run, 1, 3);
}

/** The part of a run between two points of its way. */
function segment({ phase, status }: Run, begin: number, end: number): SegmentState {
  const at = ORDER[phase];
  if (at >= end) return 'done';
  if (at < begin) return 'never';
  if (status === 'active') return 'busy';
  return 'stopped';
}

function tookNothing({ prepareResult }: Run): boolean {
  const reservations = (prepareResult as { reservations?: readonly { ids: readonly string[] }[] } | null)?.reservations;
  return (reservations ?? []).every(({ ids }) => ids.length === 0);
}

/** Where a chain stands: the one question that every stop, retry and crash asks. */
export function boundaryWords(runs: readonly Run[], output: Output | undefined): string {
  const last = runs.at(-1);
  if (last?.status === 'committed') return 'It went past the boundary and is committed.';
  switch (output?.status) {
    case 'in_flight':
    case 'needs_reconcile':
    case 'indeterminate':
      return 'Nobody knows yet on which side of the boundary it is: its events stay with it, and nothing is sent again.';
    case 'pending':
      return 'It stands in front of the boundary: the call is recorded and waits for approval.';
    case 'applied':
      return 'It is past the boundary: the call is done and never made again; from here it only goes forward.';
    case 'failed':
      return output.resolvedBy === 'user_skip'
        ? 'It is past the boundary: the call was skipped, and next is told so.'
        : 'It is before the boundary: the call was not done, so its events are free again.';
    case undefined:
      return last && ORDER[last.phase] >= ORDER.mutated
        ? 'It is past the boundary without a call: from here it only goes forward.'
        : 'It is before the boundary: nothing went out, so it can begin anew at any time.';
  }
}
