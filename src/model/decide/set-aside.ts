import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, lastRunRow, mustBeNamed, mutationOf } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { settle, unpoint } from '../rule/settle.ts';

/** An open question does not have to stop the workflow: its order is given up, the question stays. */
export function setAside(draft: Draft, command: CommandOf<'setAside'>): ReplyTo<'setAside'> {
  const mutation = mutationOf(draft, command.mutation);
  mustBeNamed(command.by);
  const run = lastRunRow(draft, mutation.rootRunId);
  const unknown = mutation.status === 'needs_reconcile' || mutation.status === 'indeterminate';
  if (!unknown || mutation.setAsideAt !== null || run.status === 'active') {
    const why =
      mutation.setAsideAt !== null
        ? 'it is set aside already'
        : `its call is ${mutation.status} and its run ${run.status}`;
    refuse('wrong-state', `mutation ${mutation.id} cannot be set aside`, why, {
      next: ['only a stopped run whose outcome is unknown can be set aside, once'],
      ids: { mutation: mutation.id },
    });
  }
  draft.write({ set: 'mutation.setAside', mutation: mutation.id, from: null, to: draft.now });
  unpoint(draft, run, undefined);
  audit(draft, command.by, 'set aside', mutation.id);
  settle(draft, mutation.workflowId, true);
  return {};
}
