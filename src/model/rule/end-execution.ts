import type { Draft } from '../draft.ts';
import type { Execution } from '../rows.ts';
import type { ExecutionEnd } from '../states.ts';
import { freeSlots } from './slots.ts';

/** Whoever ends it: what it took is free for others in the same transaction. */
export function endExecution(draft: Draft, execution: Execution, to: ExecutionEnd, timeoutMs?: number): void {
  freeSlots(draft, execution);
  const limit = to === 'timeout' && timeoutMs !== undefined ? { timeoutMs } : {};
  draft.write({ set: 'execution.ended', execution: execution.id, from: execution.status, to, at: draft.now, ...limit });
}
