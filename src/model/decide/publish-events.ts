import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { audit, mustBeLive, mustBeNamed, scriptRow, workflowOf } from '../rule/find.ts';
import { publishAll } from '../rule/publish.ts';
import { settle } from '../rule/settle.ts';

/** Events from outside a run: a person, or a system that has a name. */
export function publishEvents(draft: Draft, command: CommandOf<'publishEvents'>): ReplyTo<'publishEvents'> {
  const workflow = workflowOf(draft, command.workflow);
  mustBeNamed(command.by);
  mustBeLive(workflow, 'published to');
  assert(workflow.activeScriptId, `live workflow ${workflow.id} has no active version`);
  const position = draft.newId('event');
  const published = publishAll(draft, {
    workflow,
    publishes: command.publishes,
    topics: scriptRow(draft, workflow.activeScriptId).handlers.topics,
    publisher: command.by,
    run: null,
    messageIdAt: (index) => `${position}:${index}`,
    causes: () => [],
  });
  const { length } = published;
  audit(draft, command.by, 'publish', workflow.id, `${length} event${length === 1 ? '' : 's'}`);
  settle(draft, workflow.id, true);
  return { published };
}
