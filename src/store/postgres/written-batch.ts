import type { UnitOutcome } from '../store.ts';
import { bindWrites } from './apply.ts';
import type { DecidedBatch } from './batch.ts';
import type { Arrangement, Written } from './together.ts';

/** What became of each unit, and what is to be written. */
export interface WrittenBatch {
  readonly outcomes: readonly UnitOutcome[];
  readonly writing: readonly Written[];
  /** The end of the audit log after it. */
  readonly head: DecidedBatch['head'];
}

/** What cannot even be written down is refused here; the other units are not touched by it. */
export function writtenBatch({ decisions, head: before }: DecidedBatch, { fold, arrange }: Arrangement): WrittenBatch {
  const outcomes: UnitOutcome[] = [...decisions];
  let head = before;
  const writes = outcomes.map((outcome, position) => {
    if (outcome.kind !== 'done') return [];
    try {
      const applied = bindWrites(fold(outcome.writes), head);
      head = applied.head;
      return applied.bound;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      outcomes[position] = { kind: 'refused', error };
      return [];
    }
  });
  return { outcomes, writing: arrange(writes), head };
}
