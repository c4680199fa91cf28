import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX } from '../limits.ts';
import { audit, mustBeNamed, workflowOf } from '../rule/find.ts';
import { checkText, refuse } from '../rule/refusal.ts';

/** What was allowed is not any more. Calls under way are not touched; the next one asks. */
export function takeGrant(draft: Draft, command: CommandOf<'takeGrant'>): ReplyTo<'takeGrant'> {
  const workflow = workflowOf(draft, command.workflow);
  const { connection, method, by } = command;
  checkText('the connection of a grant', connection, NAME_CHARS_MAX);
  checkText('the method of a grant', method, NAME_CHARS_MAX);
  mustBeNamed(by);
  const given = draft
    .find('grantsOf', workflow.id)
    .some((grant) => grant.connection === connection && grant.method === method);
  if (!given) {
    refuse('not-found', `${workflow.name} may not use ${connection}.${method} anyway`, 'nobody allowed it', {
      next: [{ label: 'see what it may do', argv: ['pawl', 'permissions', workflow.name] }],
      ids: { workflow: workflow.id },
    });
  }
  draft.write({ set: 'grant.taken', workflow: workflow.id, connection, method });
  audit(draft, by, 'disallow', workflow.id, `${connection}.${method}`);
  return {};
}
