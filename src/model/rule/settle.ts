import type { WorkflowId } from '#base';
import type { Draft } from '../draft.ts';
import type { Mutation, Run } from '../rows.ts';
import { workflowRow } from './find.ts';
import { changeStanding } from './standing.ts';
import { reschedule } from './work.ts';

/** After an answer from outside a run: holds follow from the rows as they are now, and the scheduler looks again. */
export function settle(draft: Draft, workflow: WorkflowId, byPerson: boolean): void {
  changeStanding(draft, workflow);
  if (byPerson) endQuiet(draft, workflow);
  reschedule(draft, workflow);
}

/**
 * After a cancel there is no follow-up until somebody or something asks. Whoever asked for another execution, under way or
 * waiting, has asked: what was cancelled does not silence it.
 */
export function beginQuiet(draft: Draft, workflow: WorkflowId): void {
  if (draft.find('openExecutions', workflow).length > 0) return;
  if (!workflowRow(draft, workflow).quiet) draft.write({ set: 'workflow.quiet', workflow, quiet: true });
}

/** A person's act is a trigger: what a cancel silenced may go on. */
export function endQuiet(draft: Draft, workflow: WorkflowId): void {
  if (workflowRow(draft, workflow).quiet) draft.write({ set: 'workflow.quiet', workflow, quiet: false });
}

/** The chain is done with: neither pending retry nor set aside. */
export function unpoint(draft: Draft, run: Run, mutation: Mutation | undefined): void {
  const { id, pendingRetryRunId } = workflowRow(draft, run.workflowId);
  if (pendingRetryRunId === run.id) draft.write({ set: 'workflow.retry', workflow: id, from: run.id, to: null });
  if (mutation?.setAsideAt != null)
    draft.write({ set: 'mutation.setAside', mutation: mutation.id, from: mutation.setAsideAt, to: null });
}
