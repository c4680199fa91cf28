import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Workflow } from '../rows.ts';
import { audit, mustBeLive, mustBeNamed, workflowOf, workflowRow } from '../rule/find.ts';
import { keep, NO_TROUBLE } from '../rule/keep.ts';
import { refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';
import { changeStanding } from '../rule/standing.ts';

/** Lifts what a person may lift: their own pause, and an error they have looked at. Open questions must be answered instead. */
export function resumeWorkflow(draft: Draft, command: CommandOf<'resumeWorkflow'>): ReplyTo<'resumeWorkflow'> {
  const workflow = workflowOf(draft, command.workflow);
  mustBeNamed(command.by);
  mustBeLive(workflow, 'resumed');
  mustHaveNoQuestion(workflow);
  for (const task of draft.find('openTasks', workflow.id)) {
    // Resuming over evidence means: send again, in this person's name.
    if (task.kind === 'evidence') draft.write({ set: 'task.closed', task: task.id, at: draft.now, by: command.by });
  }
  if (workflow.holds.includes('error')) forgetTroubles(draft, workflow);
  changeStanding(draft, workflow.id, { lift: ['user', 'error'] });
  audit(draft, command.by, 'resume', workflow.id);
  settle(draft, workflow.id, true);
  return { status: workflowRow(draft, workflow.id).status };
}

/** A person has looked: what led here is not counted again, or the first stumble would hold at once. */
function forgetTroubles(draft: Draft, workflow: Workflow): void {
  for (const kept of draft.find('handlerStates', workflow.id)) keep(draft, kept, NO_TROUBLE);
}

function mustHaveNoQuestion(workflow: Workflow): void {
  if (workflow.holds.includes('unknown')) {
    refuse(
      'unknown-outcome',
      `workflow ${workflow.name} cannot be resumed: nobody knows whether its last call happened`,
      'going on would be a guess',
      {
        next: [
          { label: 'see the question', argv: ['pawl', 'needs'] },
          'answer: it happened, it did not happen, skip, or set aside',
        ],
        ids: { workflow: workflow.id },
      },
    );
  }
  if (workflow.holds.includes('approval')) {
    refuse(
      'held',
      `workflow ${workflow.name} cannot be resumed: it waits for an approval`,
      'what it wants to do was not allowed yet',
      {
        next: [{ label: 'see the question', argv: ['pawl', 'needs'] }, 'approve or reject it'],
        ids: { workflow: workflow.id },
      },
    );
  }
}
