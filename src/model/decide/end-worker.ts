import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { livingWorker } from '../rule/find.ts';

/**
 * The process says goodbye, or is known to be dead: whatever it held may be recovered at once, and what it was looking up is looked up
 * by somebody else.
 */
export function endWorker(draft: Draft, command: CommandOf<'endWorker'>): ReplyTo<'endWorker'> {
  const worker = livingWorker(draft, command.worker);
  for (const { id: mutation, reconcileAt: at, reconcileCount: count } of draft.find('lookUpsOf', worker.id)) {
    assert(at !== null, `mutation ${mutation} has no time to be looked up at`);
    draft.write({ set: 'mutation.reconcilePostponed', mutation, at, count });
  }
  draft.write({ set: 'worker.ended', worker: worker.id, at: draft.now });
  return {};
}
