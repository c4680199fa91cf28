import type { WorkflowId } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, mustBeNamed, workflowOf, workflowRow } from '../rule/find.ts';
import { keep, keptState } from '../rule/keep.ts';
import { refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';

/** The repair is made, or a person wants the same version tried again. A pending retry stays, and is next. */
export function exitMaintenanceMode(
  draft: Draft,
  command: CommandOf<'exitMaintenanceMode'>,
): ReplyTo<'exitMaintenanceMode'> {
  const workflow = workflowOf(draft, command.workflow);
  mustBeNamed(command.by);
  if (!workflow.maintenance) {
    refuse('wrong-state', `workflow ${workflow.name} needs no repair`, 'it is not in maintenance', {
      next: [{ label: 'see what it waits for', argv: ['pawl', 'status'] }],
      ids: { workflow: workflow.id },
    });
  }
  exitMaintenance(draft, workflow.id, command.by, command.repaired);
  audit(draft, command.by, command.repaired ? 'repaired' : 'retry', workflow.id);
  settle(draft, workflow.id, true);
  return { status: workflowRow(draft, workflow.id).status };
}

/** Ends the case: its task is closed, and whether a repair was made is kept for the next failure to count. */
export function exitMaintenance(draft: Draft, id: WorkflowId, by: string, repaired: boolean): void {
  const { maintenanceRunId } = workflowRow(draft, id);
  if (maintenanceRunId === null) return;
  draft.write({ set: 'workflow.maintenance', workflow: id, from: maintenanceRunId, to: null });
  for (const task of draft.find('openTasks', id)) {
    if (task.kind === 'repair') draft.write({ set: 'task.closed', task: task.id, at: draft.now, by });
  }
  const run = draft.one('run', maintenanceRunId);
  if (run && repaired) keep(draft, keptState(draft, id, run.handlerName), { repaired: true });
}

/** A repair that is about certain events is over when all of them were skipped or parked; a reserved one is still owed its next. */
export function exitIfNoSuspect(draft: Draft, id: WorkflowId, by: string): void {
  const { maintenanceRunId } = workflowRow(draft, id);
  const run = maintenanceRunId === null ? undefined : draft.one('run', maintenanceRunId);
  if (!run || run.suspects.length === 0) return;
  const stillOpen = run.suspects.some((suspect) => {
    const status = draft.one('event', suspect)?.status;
    return status === 'pending' || status === 'reserved';
  });
  if (!stillOpen) exitMaintenance(draft, id, by, false);
}
