import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { RESULT_CHARS_MAX } from '../limits.ts';
import { audit, mustBeNamed, workflowOf } from '../rule/find.ts';
import { overtakeRequests } from '../rule/overtake-requests.ts';
import { checkId, checkJson, notFound, refuse } from '../rule/refusal.ts';

/** A version that asks for more waits for a person; what was active goes on. A newer one takes the place of an older one. */
export function askPermission(draft: Draft, command: CommandOf<'askPermission'>): ReplyTo<'askPermission'> {
  const workflow = workflowOf(draft, command.workflow);
  checkId('script', command.script);
  const script = draft.one('script', command.script) ?? notFound('script', command.script);
  checkJson('what it asks for', command.asks, RESULT_CHARS_MAX);
  mustBeNamed(command.by);
  if (script.workflowId !== workflow.id || workflow.status === 'archived') {
    const why = workflow.status === 'archived' ? 'the workflow is archived' : 'it is a version of another workflow';
    refuse('wrong-state', `version ${script.id} cannot wait for ${workflow.name}`, why, {
      next: ['take a version of this workflow'],
      ids: { workflow: workflow.id, script: script.id },
    });
  }
  overtakeRequests(draft, workflow.id, command.by);
  const request = draft.newId('permissionRequest');
  draft.write({
    set: 'permission.asked',
    row: {
      id: request,
      workflowId: workflow.id,
      scriptId: script.id,
      asks: command.asks,
      askedAt: draft.now,
      askedBy: command.by,
      answer: '',
      answeredAt: null,
      answeredBy: null,
    },
  });
  audit(draft, command.by, 'ask permission', request, `${script.major}.${script.minor}`);
  return { request };
}
