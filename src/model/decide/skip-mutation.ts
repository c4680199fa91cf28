import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Mutation, Run } from '../rows.ts';
import { audit, consumerSpec, lastRunRow, mustBeNamed, mutationOf, retryScript, workflowRow } from '../rule/find.ts';
import { finishRun } from '../rule/finish-run.ts';
import { refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';

/** A person goes on without the effect. With `next` the retry is told `skipped`; without it the run is done at once. */
export function skipMutation(draft: Draft, command: CommandOf<'skipMutation'>): ReplyTo<'skipMutation'> {
  const mutation = mutationOf(draft, command.mutation);
  mustBeNamed(command.by);
  const run = lastRunRow(draft, mutation.rootRunId);
  if (mutation.status !== 'needs_reconcile' && mutation.status !== 'indeterminate') {
    refuse(
      'wrong-state',
      `mutation ${mutation.id} is ${mutation.status}, so it cannot be skipped`,
      whyNot(mutation.status),
      {
        next: [{ label: 'see it', argv: ['pawl', 'show', mutation.id] }],
        ids: { mutation: mutation.id },
      },
    );
  }
  return skip(draft, mutation, run, command.by, 'skip');
}

function whyNot(status: Exclude<Mutation['status'], 'needs_reconcile' | 'indeterminate'>): string {
  switch (status) {
    case 'pending':
      return 'it was never sent: reject it instead';
    case 'in_flight':
      return 'its call is under way';
    case 'applied':
    case 'failed':
      return 'its outcome is known';
  }
}

/** Also the rejection of a recorded call that a person wants skipped. */
export function skip(draft: Draft, mutation: Mutation, run: Run, by: string, act: string): ReplyTo<'skipMutation'> {
  draft.write({
    set: 'mutation.failed',
    mutation: mutation.id,
    from: mutation.status,
    error: `skipped by ${by}`,
    resolvedBy: 'user_skip',
    resolvedByName: by,
    callEndedAt: mutation.callEndedAt,
    at: draft.now,
  });
  draft.write({ set: 'run.outcome', run: run.id, outcome: 'skipped' });
  const spec = consumerSpec(retryScript(draft, workflowRow(draft, run.workflowId), run), run.handlerName);
  assert(spec, `run ${run.id} has no consumer`);
  if (!spec.hasNext) finishRun(draft, run, 'skipped');
  audit(draft, by, act, mutation.id);
  settle(draft, mutation.workflowId, true);
  return { run: run.id, status: lastRunRow(draft, run.rootRunId).status };
}
