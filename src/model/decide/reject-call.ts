import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Mutation, Run } from '../rows.ts';
import { audit, lastRunRow, mustBeNamed, mutationOf } from '../rule/find.ts';
import { checkWord, refuse } from '../rule/refusal.ts';
import { settle, unpoint } from '../rule/settle.ts';
import { skip } from './skip-mutation.ts';

/** A recorded call is not to be sent. Skip goes on without it; park keeps its events for later. */
export function rejectCall(draft: Draft, command: CommandOf<'rejectCall'>): ReplyTo<'rejectCall'> {
  const mutation = mutationOf(draft, command.mutation);
  mustBeNamed(command.by);
  checkWord('a way to reject', command.how, ['skip', 'park']);
  mustBePending(mutation, 'rejected');
  const run = lastRunRow(draft, mutation.rootRunId);
  if (command.how === 'skip') return skip(draft, mutation, run, command.by, 'reject');
  park(draft, mutation, run, 'user_reject', command.by);
  audit(draft, command.by, 'reject', mutation.id);
  settle(draft, mutation.workflowId, true);
  return { run: run.id, status: run.status };
}

export function mustBePending(mutation: Mutation, verb: 'rejected' | 'expired'): void {
  if (mutation.status === 'pending') return;
  refuse(
    'wrong-state',
    `mutation ${mutation.id} is ${mutation.status}, so it cannot be ${verb}`,
    'only a call that was not sent can be',
    {
      next: [{ label: 'see what became of it', argv: ['pawl', 'show', mutation.id] }],
      ids: { mutation: mutation.id },
    },
  );
}

/** Parked, not released: a released event would bring the same question back for ever. */
export function park(
  draft: Draft,
  mutation: Mutation,
  run: Run,
  resolvedBy: 'user_reject' | 'expired',
  by: string | null,
): void {
  draft.write({
    set: 'mutation.failed',
    mutation: mutation.id,
    from: 'pending',
    error: by === null ? 'nobody approved it in time' : `rejected by ${by}`,
    resolvedBy,
    resolvedByName: by,
    callEndedAt: null,
    at: draft.now,
  });
  draft.write({ set: 'run.outcome', run: run.id, outcome: 'failure' });
  draft.write({ set: 'events.parked', run: run.id, count: draft.find('reserved', run.id).length });
  unpoint(draft, run, mutation);
}
