import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { checkId, checkWord, notFound, refuse } from '../rule/refusal.ts';

/** What a person says to a version that asks for more. The grants and the activation are commands of their own, beside this one. */
export function answerPermission(draft: Draft, command: CommandOf<'answerPermission'>): ReplyTo<'answerPermission'> {
  const { request: id, answer, by } = command;
  checkId('permissionRequest', id);
  const request = draft.one('permissionRequest', id) ?? notFound('permissionRequest', id);
  checkWord('an answer', answer, ['allowed', 'refused']);
  mustBeNamed(by);
  if (request.answer !== '') {
    refuse('already-resolved', `request ${id} was answered: ${request.answer}`, `${request.answeredBy} did so`, {
      next: [{ label: 'see what waits', argv: ['pawl', 'needs'] }],
      ids: { request: id, workflow: request.workflowId },
    });
  }
  draft.write({ set: 'permission.answered', request: id, answer, at: draft.now, by });
  audit(draft, by, answer === 'allowed' ? 'allow version' : 'refuse version', id);
  return {};
}
