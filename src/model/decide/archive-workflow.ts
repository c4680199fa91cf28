import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Workflow } from '../rows.ts';
import { audit, mustBeNamed, workflowOf } from '../rule/find.ts';
import { overtakeRequests } from '../rule/overtake-requests.ts';
import { refuse } from '../rule/refusal.ts';
import { exitMaintenance } from './exit-maintenance-mode.ts';

/** Put away for good. Refused while anything of it is still owed to the outside or to its events. */
export function archiveWorkflow(draft: Draft, command: CommandOf<'archiveWorkflow'>): ReplyTo<'archiveWorkflow'> {
  const workflow = workflowOf(draft, command.workflow);
  mustBeNamed(command.by);
  if (workflow.status === 'archived')
    refuse('wrong-state', `workflow ${workflow.name} is archived already`, 'it is put away for good', {
      next: ['create a new one under another name'],
      ids: { workflow: workflow.id },
    });
  const open = openWork(draft, workflow);
  if (open) {
    refuse('busy', `workflow ${workflow.name} has open work and cannot be archived`, open, {
      next: ['finish, answer or skip it first', { label: 'see it', argv: ['pawl', 'status'] }],
      ids: { workflow: workflow.id },
    });
  }
  exitMaintenance(draft, workflow.id, command.by, false);
  overtakeRequests(draft, workflow.id, command.by);
  for (const task of draft.find('openTasks', workflow.id))
    draft.write({ set: 'task.closed', task: task.id, at: draft.now, by: command.by });
  draft.write({
    set: 'workflow.standing',
    workflow: workflow.id,
    from: workflow.status,
    to: 'archived',
    holds: [],
    errorReason: null,
    heldConnections: [],
    grantMissing: false,
  });
  if (workflow.dueAt !== null) draft.write({ set: 'workflow.due', workflow: workflow.id, at: null });
  audit(draft, command.by, 'archive', workflow.id);
  return { status: 'archived' };
}

function openWork(draft: Draft, workflow: Workflow): string | undefined {
  const execution = draft.find('openExecutions', workflow.id)[0];
  if (execution) return `execution ${execution.id} is ${execution.status}`;
  const question = draft.find('openLedger', workflow.id)[0];
  if (question) return `call ${question.id} is ${question.status}`;
  const reserved = draft.find('anyReserved', workflow.id)[0];
  if (reserved) return `event ${reserved.id} is reserved: its next step is owed`;
  return undefined;
}
