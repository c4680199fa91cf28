import { assert, type RunId } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { ConsumerRun, Mutation, Run, Session, Workflow } from '../rows.ts';
import { boundaryOfRun } from '../rule/boundary.ts';
import { fenced, lastRunRow, mustBeConsumer, retryScript, runOf, workflowRow } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import type { ConsumerPhase } from '../states.ts';
import { mayStartRun } from './start-run.ts';

/** A new run goes on where a stopped one may not: to `next` after the boundary, or to send an approved call as it was recorded. */
export function createRetryRun(draft: Draft, command: CommandOf<'createRetryRun'>): ReplyTo<'createRetryRun'> {
  const { execution, session } = fenced(draft, command.fence);
  const run = runOf(draft, command.run);
  const workflow = workflowRow(draft, session.workflowId);
  if (run.workflowId !== workflow.id) {
    refuse('wrong-state', `run ${run.id} is of another workflow`, 'a session retries runs of its own workflow', {
      next: ['retry it in a session of its workflow'],
      ids: { run: run.id },
    });
  }
  mayStartRun(draft, workflow, execution);
  return retry(draft, workflow, session, run);
}

export function retry(
  draft: Draft,
  workflow: Workflow,
  session: Session,
  run: Run,
): { run: RunId; phase: ConsumerPhase } {
  const consumer = mustBeConsumer(run);
  const ledger = draft.one('ledger', run.rootRunId);
  checkLast(draft, run);
  const phase = startPhase(draft, run, ledger);
  checkPointer(workflow, run, ledger);
  const id = createNext(draft, workflow, session, consumer, phase);
  const count = draft.find('reserved', run.id).length;
  if (count > 0) draft.write({ set: 'events.transferred', from: run.id, to: id, count });
  if (workflow.pendingRetryRunId === run.id)
    draft.write({ set: 'workflow.retry', workflow: workflow.id, from: run.id, to: null });
  if (ledger?.setAsideAt != null)
    draft.write({ set: 'mutation.setAside', mutation: ledger.id, from: ledger.setAsideAt, to: null });
  if (phase === 'mutating') {
    assert(ledger, `run ${run.id} waits for a call that is not recorded`);
    draft.write({ set: 'mutation.sent', mutation: ledger.id, deadline: draft.now + ledger.callTimeoutMs });
  }
  return { run: id, phase };
}

function checkLast(draft: Draft, run: Run): void {
  const last = lastRunRow(draft, run.rootRunId);
  if (last.id === run.id && run.status !== 'active' && run.status !== 'committed') return;
  refuse(
    'wrong-state',
    `run ${run.id} cannot be retried`,
    last.id === run.id ? `it is ${run.status}` : `run ${last.id} retried it already`,
    {
      next: ['retry the last run of its chain, once it has stopped'],
      ids: { run: run.id },
    },
  );
}

function startPhase(draft: Draft, run: Run, ledger: Mutation | undefined): 'emitting' | 'mutating' {
  const boundary = boundaryOfRun(draft, run);
  switch (boundary) {
    case 'after':
      return 'emitting';
    case 'held':
      if (ledger?.approvedAt != null) return 'mutating';
      return refuse('held', `the call of run ${run.id} waits for approval`, 'nobody has approved it yet', {
        next: ['approve or reject it'],
        ids: { run: run.id },
      });
    case 'unknown':
      return refuse(
        'unknown-outcome',
        `run ${run.id} cannot be retried: nobody knows whether its call happened`,
        'sending or going on would be a guess',
        {
          next: ['answer: it happened, it did not happen, skip, or set aside'],
          ids: { run: run.id },
        },
      );
    case 'before':
      return refuse(
        'before-boundary',
        `run ${run.id} stopped before its effect`,
        'its events were released; a fresh run takes them',
        {
          next: ['start a new run'],
          ids: { run: run.id },
        },
      );
  }
}

function checkPointer(workflow: Workflow, run: Run, ledger: Mutation | undefined): void {
  if (workflow.pendingRetryRunId === run.id || ledger?.setAsideAt != null) return;
  refuse('wrong-state', `run ${run.id} is not waiting for a retry`, 'it is neither the pending retry nor set aside', {
    next: [{ label: 'look for what broke', argv: ['pawl', 'doctor'] }],
    ids: { run: run.id },
  });
}

/** Results go through the chain: the new run has what the old one prepared and what became of its call. */
function createNext(
  draft: Draft,
  workflow: Workflow,
  session: Session,
  run: ConsumerRun,
  phase: 'emitting' | 'mutating',
): RunId {
  const id = draft.newId('run');
  draft.write({
    set: 'run.created',
    row: {
      id,
      scriptRunId: session.id,
      scriptId: retryScript(draft, workflow, run).id,
      workflowId: workflow.id,
      rootRunId: run.rootRunId,
      retryOf: run.id,
      attempt: run.attempt + 1,
      handlerType: 'consumer',
      handlerName: run.handlerName,
      phase,
      status: 'active',
      prepareResult: run.prepareResult,
      mutationOutcome: run.mutationOutcome,
      outputState: null,
      error: null,
      errorType: null,
      suspects: [],
      cost: 0,
      startSeq: workflow.eventSeq,
      deliveryId: null,
      startTimestamp: draft.now,
      endTimestamp: null,
    },
  });
  return id;
}
