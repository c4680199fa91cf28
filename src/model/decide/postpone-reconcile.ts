import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { RECONCILE_COUNT_MAX } from '../limits.ts';
import { needsReconcile } from '../rule/needs-reconcile.ts';
import { checkWhole } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';

/** The look-up could not tell. Later again; after enough tries a person is asked. */
export function postponeReconcile(draft: Draft, command: CommandOf<'postponeReconcile'>): ReplyTo<'postponeReconcile'> {
  const mutation = needsReconcile(draft, command.mutation);
  checkWhole('the delay', command.delayMs);
  const count = mutation.reconcileCount + 1;
  if (count < RECONCILE_COUNT_MAX) {
    const at = draft.now + command.delayMs;
    draft.write({ set: 'mutation.reconcilePostponed', mutation: mutation.id, at, count });
    return { at };
  }
  draft.write({
    set: 'mutation.unknown',
    mutation: mutation.id,
    from: 'needs_reconcile',
    to: 'indeterminate',
    error: mutation.error,
    callEndedAt: mutation.callEndedAt,
    reconcileAt: null,
    reconcileCount: count,
  });
  settle(draft, mutation.workflowId, false);
  return { at: null };
}
