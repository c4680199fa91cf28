import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, mustBeNamed, workflowOf, workflowRow } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';
import { changeStanding } from '../rule/standing.ts';

/** A person allows what the active version asks for. */
export function approveGrant(draft: Draft, command: CommandOf<'approveGrant'>): ReplyTo<'approveGrant'> {
  const workflow = workflowOf(draft, command.workflow);
  mustBeNamed(command.by);
  if (!workflow.grantMissing)
    refuse('wrong-state', `workflow ${workflow.name} asks for no permission`, 'nothing is missing', {
      next: [{ label: 'see what it waits for', argv: ['pawl', 'status'] }],
      ids: { workflow: workflow.id },
    });
  changeStanding(draft, workflow.id, { grantMissing: false });
  audit(draft, command.by, 'approve grant', workflow.id);
  settle(draft, workflow.id, true);
  return { status: workflowRow(draft, workflow.id).status };
}
