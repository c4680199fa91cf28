import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, mustBeNamed, mutationOf } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';

/** A person asks to look again, where the method knows how. */
export function checkAgain(draft: Draft, command: CommandOf<'checkAgain'>): ReplyTo<'checkAgain'> {
  const mutation = mutationOf(draft, command.mutation);
  mustBeNamed(command.by);
  if (mutation.status !== 'indeterminate' || !mutation.canReconcile) {
    const why = mutation.canReconcile
      ? 'only an unknown outcome can be looked up again'
      : `${mutation.connection}.${mutation.method} has no way to look it up`;
    refuse('wrong-state', `mutation ${mutation.id} is ${mutation.status} and cannot be checked again`, why, {
      next: ['look yourself, then say: it happened, it did not happen, or skip'],
      ids: { mutation: mutation.id },
    });
  }
  draft.write({
    set: 'mutation.unknown',
    mutation: mutation.id,
    from: 'indeterminate',
    to: 'needs_reconcile',
    error: mutation.error,
    callEndedAt: mutation.callEndedAt,
    reconcileAt: draft.now,
    reconcileCount: 0,
  });
  audit(draft, command.by, 'check again', mutation.id);
  settle(draft, mutation.workflowId, true);
  return { reconcileAt: draft.now };
}
