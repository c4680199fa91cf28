import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Worker } from '../rows-of-fleet.ts';
import { livingWorker } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';

/**
 * The process says goodbye, is known to be dead, or is taken for dead: whatever it held may be recovered at once, and what it was looking up
 * is looked up by somebody else.
 */
export function endWorker(draft: Draft, command: CommandOf<'endWorker'>): ReplyTo<'endWorker'> {
  const worker = livingWorker(draft, command.worker);
  if (command.silentMs !== undefined) mustBeSilent(draft, worker, command.silentMs);
  for (const { id: mutation, reconcileAt: at, reconcileCount: count } of draft.find('lookUpsOf', worker.id)) {
    assert(at !== null, `mutation ${mutation} has no time to be looked up at`);
    draft.write({ set: 'mutation.reconcilePostponed', mutation, at, count });
  }
  draft.write({ set: 'worker.ended', worker: worker.id, at: draft.now });
  return {};
}

/** Whoever says so may have looked long ago, and the worker may be back: its row and the database's clock decide. */
function mustBeSilent(draft: Draft, { id, leaseUntil }: Worker, silentMs: number): void {
  const until = leaseUntil + silentMs;
  if (until <= draft.now) return;
  refuse('too-early', `worker ${id} is not taken for dead yet`, 'it has shown a sign of life since', {
    next: ['come back when it has been silent for long enough'],
    notBefore: until,
    retryable: true,
    ids: { worker: id },
  });
}
