import type { AllowanceId } from '#base';
import { assert } from '#base';
import type { CommandOf, Cover, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { COVER_CALLS_MAX, COVER_MS_MAX, TARGET_CHARS_MAX } from '../limits.ts';
import type { Mutation } from '../rows.ts';
import { audit, mustBeNamed, mutationOf } from '../rule/find.ts';
import { checkText, checkWhole, refuse } from '../rule/refusal.ts';
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
  if (command.cover) checkCover(draft, command.cover);
  draft.write({ set: 'mutation.approved', mutation: mutation.id, at: draft.now, by: command.by });
  audit(draft, command.by, 'approve', mutation.id);
  const allowance = command.cover ? giveAllowance(draft, mutation, command.cover, command.by) : null;
  settle(draft, mutation.workflowId, true);
  return { allowance };
}

function checkCover(draft: Draft, { target, callsMax, until }: Cover): void {
  if (target !== null) checkText('the target of an approval', target, TARGET_CHARS_MAX);
  checkWhole('how many calls an approval covers', callsMax);
  checkWhole('until when an approval covers calls', until);
  if (callsMax >= 1 && callsMax <= COVER_CALLS_MAX && until > draft.now && until <= draft.now + COVER_MS_MAX) return;
  refuse('invalid', 'an approval cannot cover that', 'it is for some calls and some days: for more there are grants', {
    next: [`give 1 to ${COVER_CALLS_MAX} calls, and a time within 30 days`],
  });
}

/** More calls of the same method may go out without being asked for. */
function giveAllowance(draft: Draft, mutation: Mutation, cover: Cover, by: string): AllowanceId {
  const { workflowId, connection, method } = mutation;
  const { target, callsMax, until } = cover;
  const id = draft.newId('allowance');
  const row = { id, workflowId, connection, method, target, callsMax, until, givenAt: draft.now, givenBy: by };
  draft.write({ set: 'allowance.given', row });
  audit(draft, by, 'allow calls', mutation.id, `${callsMax} of ${connection}.${method} on ${target ?? '*'}`);
  return id;
}
