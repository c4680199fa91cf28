import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { workflowOf } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';

/** The work item of a repair. The flag came first, with the failure itself; however often this is called, one case has one task. */
export function createMaintenanceTask(
  draft: Draft,
  command: CommandOf<'createMaintenanceTask'>,
): ReplyTo<'createMaintenanceTask'> {
  const workflow = workflowOf(draft, command.workflow);
  const runId = workflow.maintenanceRunId;
  if (runId === null) {
    refuse('wrong-state', `workflow ${workflow.name} needs no repair`, 'it is not in maintenance', {
      next: [{ label: 'see what it waits for', argv: ['pawl', 'status'] }],
      ids: { workflow: workflow.id },
    });
  }
  const open = draft.find('openTasks', workflow.id).find((task) => task.kind === 'repair');
  if (open) return { task: open.id, kind: 'repair', created: false };
  const id = draft.newId('task');
  const detail = draft.one('run', runId)?.error;
  assert(detail, `run ${runId} failed without a word`);
  draft.write({
    set: 'task.opened',
    row: {
      id,
      workflowId: workflow.id,
      runId,
      kind: 'repair',
      status: 'open',
      detail,
      createdAt: draft.now,
      closedAt: null,
      closedBy: null,
    },
  });
  return { task: id, kind: 'repair', created: true };
}
