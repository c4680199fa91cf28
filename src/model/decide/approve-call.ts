import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, mustBeNamed, mutationOf } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';

/** The recorded call may be sent, byte for byte as it was shown. */
export function approveCall(draft: Draft, command: CommandOf<'approveCall'>): ReplyTo<'approveCall'> {
  const mutation = mutationOf(draft, command.mutation);
  mustBeNamed(command.by);
  if (mutation.status !== 'pending' || mutation.approvedAt !== null) {
    const why =
      mutation.status === 'pending'
        ? `${mutation.approvedBy} approved it already`
        : 'only a recorded call waits for approval';
    refuse('wrong-state', `mutation ${mutation.id} is ${mutation.status} and cannot be approved`, why, {
      next: [{ label: 'see what became of it', argv: ['pawl', 'show', mutation.id] }],
      ids: { mutation: mutation.id },
    });
  }
  assert(mutation.approvalExpiresAt !== null, `mutation ${mutation.id} waits for ever`);
  if (mutation.approvalExpiresAt <= draft.now) {
    refuse('wrong-state', `the time to approve mutation ${mutation.id} ran out`, 'nobody answered, so it is parked', {
      next: [{ label: 'unpark its events to be asked again', argv: ['pawl', 'show', mutation.id] }],
      ids: { mutation: mutation.id },
    });
  }
  draft.write({ set: 'mutation.approved', mutation: mutation.id, at: draft.now, by: command.by });
  audit(draft, command.by, 'approve', mutation.id);
  settle(draft, mutation.workflowId, true);
  return {};
}
