import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { RESULT_CHARS_MAX } from '../limits.ts';
import { mustBeLive, workflowOf, workflowRow } from '../rule/find.ts';
import { checkText } from '../rule/refusal.ts';
import { changeStanding } from '../rule/standing.ts';
import { reschedule } from '../rule/work.ts';

/** The engine saw something it must not decide alone: a broken invariant, a restored backup. */
export function holdWorkflow(draft: Draft, command: CommandOf<'holdWorkflow'>): ReplyTo<'holdWorkflow'> {
  const workflow = workflowOf(draft, command.workflow);
  checkText('the reason', command.reason, RESULT_CHARS_MAX);
  mustBeLive(workflow, 'held');
  changeStanding(draft, workflow.id, { put: ['error'], errorReason: command.reason });
  reschedule(draft, workflow.id);
  return { status: workflowRow(draft, workflow.id).status };
}
