import type { CommandOf, GivenGrant, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { GRANTS_MAX, NAME_CHARS_MAX, TARGET_CHARS_MAX, TARGETS_MAX } from '../limits.ts';
import { audit, mustBeNamed, workflowOf, workflowRow } from '../rule/find.ts';
import { checkText, checkWhole, refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';
import { changeStanding } from '../rule/standing.ts';

/** A person allows a workflow what it asks for: each method once, with the bounds given here. */
export function giveGrants(draft: Draft, command: CommandOf<'giveGrants'>): ReplyTo<'giveGrants'> {
  const workflow = workflowOf(draft, command.workflow);
  const { grants, by } = command;
  mustBeNamed(by);
  if (!Array.isArray(grants) || grants.length === 0 || grants.length > GRANTS_MAX) {
    refuse('invalid', 'nothing is allowed by this', `a grant names 1 to ${GRANTS_MAX} methods`, {
      next: ['name a connection and a method'],
      ids: { workflow: workflow.id },
    });
  }
  for (const grant of grants) {
    checkGrant(grant);
    const { connection, method, targets, capPerHour } = grant;
    draft.write({
      set: 'grant.given',
      row: {
        workflowId: workflow.id,
        connection,
        method,
        targets,
        capPerHour,
        allowedAt: draft.now,
        allowedBy: by,
      },
    });
    const cap = capPerHour === null ? '' : `, at most ${capPerHour} an hour`;
    audit(draft, by, 'allow', workflow.id, `${connection}.${method} on ${targets.join(', ')}${cap}`);
  }
  changeStanding(draft, workflow.id, { grantMissing: false });
  settle(draft, workflow.id, true);
  return { given: grants.length, status: workflowRow(draft, workflow.id).status };
}

function checkGrant({ connection, method, targets, capPerHour }: GivenGrant): void {
  checkText('the connection of a grant', connection, NAME_CHARS_MAX);
  checkText('the method of a grant', method, NAME_CHARS_MAX);
  if (!Array.isArray(targets) || targets.length === 0 || targets.length > TARGETS_MAX) {
    refuse('invalid', `${connection}.${method} is allowed for no target`, `a grant names 1 to ${TARGETS_MAX}`, {
      next: ['name the targets; * stands for anything'],
    });
  }
  for (const target of targets) checkText('a target', target, TARGET_CHARS_MAX);
  if (capPerHour !== null) checkWhole('the cap of a grant', capPerHour);
}
