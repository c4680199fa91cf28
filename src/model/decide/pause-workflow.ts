import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, mustBeLive, mustBeNamed, workflowOf, workflowRow } from '../rule/find.ts';
import { changeStanding } from '../rule/standing.ts';
import { reschedule } from '../rule/work.ts';

/** A person's hold. It touches no run, event or call: a run past its boundary goes on to its commit. */
export function pauseWorkflow(draft: Draft, command: CommandOf<'pauseWorkflow'>): ReplyTo<'pauseWorkflow'> {
  const workflow = workflowOf(draft, command.workflow);
  mustBeNamed(command.by);
  mustBeLive(workflow, 'paused');
  changeStanding(draft, workflow.id, { put: ['user'] });
  audit(draft, command.by, 'pause', workflow.id);
  reschedule(draft, workflow.id);
  return { status: workflowRow(draft, workflow.id).status };
}
