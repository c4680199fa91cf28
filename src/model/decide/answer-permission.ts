import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { PermissionRequest } from '../rows-of-people.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { checkId, checkWord, notFound, refuse } from '../rule/refusal.ts';

/** What a person says to a version that asks for more. The grants and the activation are commands of their own, beside this one. */
export function answerPermission(draft: Draft, command: CommandOf<'answerPermission'>): ReplyTo<'answerPermission'> {
  const { request: id, answer, by } = command;
  checkId('permissionRequest', id);
  const request = draft.one('permissionRequest', id) ?? notFound('permissionRequest', id);
  checkWord('an answer', answer, ['allowed', 'refused']);
  mustBeNamed(by);
  if (request.answer !== '') answeredBefore(request, request.answer);
  draft.write({ set: 'permission.answered', request: id, answer, at: draft.now, by });
  audit(draft, by, answer === 'allowed' ? 'allow version' : 'refuse version', id);
  return {};
}

const BEFORE = {
  allowed: ['was allowed', 'did so'],
  refused: ['was refused', 'did so'],
  replaced: ['asks for nothing any more', 'let another version take its place, or put the workflow away'],
} as const satisfies Record<Exclude<PermissionRequest['answer'], ''>, readonly [string, string]>;

function answeredBefore(
  { id, workflowId, answeredBy }: PermissionRequest,
  answer: Exclude<PermissionRequest['answer'], ''>,
): never {
  const [what, did] = BEFORE[answer];
  refuse('already-resolved', `request ${id} ${what}`, `${answeredBy} ${did}`, {
    next: [{ label: 'see what waits', argv: ['pawl', 'needs'] }],
    ids: { request: id, workflow: workflowId },
  });
}
