import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { livingWorker } from '../rule/find.ts';
import { needsReconcile } from '../rule/needs-reconcile.ts';
import { checkWhole, refuse } from '../rule/refusal.ts';
import { mustTakeWork } from '../rule/worker-status.ts';

/** A worker takes a due look-up, so that no other does the same at the same time. */
export function claimReconcile(draft: Draft, command: CommandOf<'claimReconcile'>): ReplyTo<'claimReconcile'> {
  const mutation = needsReconcile(draft, command.mutation);
  const worker = livingWorker(draft, command.owner);
  mustTakeWork(worker);
  const { reconcileAt, reconcileUntil } = mutation;
  assert(reconcileAt !== null, `mutation ${mutation.id} has no time to be looked up at`);
  const taken = reconcileUntil !== null && reconcileUntil > draft.now;
  if (taken || reconcileAt > draft.now) {
    refuse(
      'too-early',
      `mutation ${mutation.id} is not to be looked up now`,
      taken ? 'another worker is looking' : 'its time has not come',
      {
        next: ['come back at its time'],
        notBefore: taken ? reconcileUntil : reconcileAt,
        retryable: true,
        ids: { mutation: mutation.id },
      },
    );
  }
  checkWhole('the lease', command.leaseMs);
  const until = draft.now + command.leaseMs;
  draft.write({ set: 'mutation.reconcileClaimed', mutation: mutation.id, owner: worker.id, until });
  return { until };
}
