import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Run } from '../rows.ts';
import { boundaryOfRun } from '../rule/boundary.ts';
import { audit, lastRunRow, mustBeNamed, runOf, workflowRow } from '../rule/find.ts';
import { finishRun } from '../rule/finish-run.ts';
import { refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';
import { exitMaintenance } from './exit-maintenance-mode.ts';

/** The effect is done and `next` cannot be mended: a person closes the run without it. */
export function finishWithoutNext(draft: Draft, command: CommandOf<'finishWithoutNext'>): ReplyTo<'finishWithoutNext'> {
  const run = runOf(draft, command.run);
  mustBeNamed(command.by);
  mustWait(draft, run);
  finishRun(draft, run, run.mutationOutcome === 'skipped' ? 'skipped' : 'consumed');
  if (workflowRow(draft, run.workflowId).maintenanceRunId === run.id)
    exitMaintenance(draft, run.workflowId, command.by, false);
  audit(draft, command.by, 'finish without next', run.id);
  settle(draft, run.workflowId, true);
  return { run: run.id, status: lastRunRow(draft, run.rootRunId).status };
}

function mustWait(draft: Draft, run: Run): void {
  const ledger = draft.one('ledger', run.rootRunId);
  const waits =
    workflowRow(draft, run.workflowId).pendingRetryRunId === run.id ||
    (ledger?.setAsideAt != null && lastRunRow(draft, run.rootRunId).id === run.id);
  const boundary = boundaryOfRun(draft, run);
  if (waits && boundary === 'after' && run.status !== 'active') return;
  const why = waits ? `its boundary is ${boundary}` : `it is ${run.status} and waits for no retry`;
  refuse('wrong-state', `run ${run.id} cannot be finished without next`, why, {
    next: ['only a stopped run whose effect is done can be finished this way'],
    ids: { run: run.id },
  });
}
