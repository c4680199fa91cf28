import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { lastRunRow, mutationOf } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';
import { mustBePending, park } from './reject-call.ts';

/** Nobody answered in time: the events are parked, and the workflow goes on. */
export function expireCall(draft: Draft, command: CommandOf<'expireCall'>): ReplyTo<'expireCall'> {
  const mutation = mutationOf(draft, command.mutation);
  mustBePending(mutation, 'expired');
  const { approvalExpiresAt: expiresAt } = mutation;
  assert(expiresAt !== null, `mutation ${mutation.id} waits for ever`);
  if (mutation.approvedAt !== null || expiresAt > draft.now) {
    const why = mutation.approvedAt !== null ? `${mutation.approvedBy} approved it` : 'its time has not run out';
    refuse('too-early', `mutation ${mutation.id} cannot expire`, why, {
      next: ['come back at its time, unless it was answered'],
      notBefore: expiresAt,
      ids: { mutation: mutation.id },
    });
  }
  const run = lastRunRow(draft, mutation.rootRunId);
  park(draft, mutation, run, 'expired', null);
  settle(draft, mutation.workflowId, false);
  return { run: run.id, status: run.status };
}
