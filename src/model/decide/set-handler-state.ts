import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { STATE_CHARS_MAX } from '../limits.ts';
import { audit, mustBeNamed, scriptRow, workflowOf } from '../rule/find.ts';
import { keep, keptState } from '../rule/keep.ts';
import { checkJson, refuse } from '../rule/refusal.ts';

/** A person mends what a handler remembers; not while it is running, or its commit would undo the mending. */
export function setHandlerState(draft: Draft, command: CommandOf<'setHandlerState'>): ReplyTo<'setHandlerState'> {
  const workflow = workflowOf(draft, command.workflow);
  mustBeNamed(command.by);
  checkJson('the state', command.state, STATE_CHARS_MAX);
  const handlers = workflow.activeScriptId === null ? undefined : scriptRow(draft, workflow.activeScriptId).handlers;
  const names = handlers ? [...handlers.producers, ...handlers.consumers].map((handler) => handler.name) : [];
  if (!names.includes(command.handler)) {
    refuse(
      'not-found',
      `workflow ${workflow.name} has no handler ${command.handler}`,
      `it has ${names.join(', ') || 'none'}`,
      { next: ['name a handler of the active version'], ids: { workflow: workflow.id } },
    );
  }
  const active = draft.one('activeRun', workflow.id);
  if (active?.handlerName === command.handler) {
    refuse('busy', `handler ${command.handler} is running`, 'its commit would overwrite the state', {
      next: ['wait until it ends'],
      ids: { run: active.id },
    });
  }
  keep(draft, keptState(draft, workflow.id, command.handler), { state: command.state });
  audit(draft, command.by, 'set state', workflow.id, command.handler);
  return {};
}
