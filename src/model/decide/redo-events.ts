import type { EventId } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { changeEvents, mustBeRead } from '../rule/events-of-workflow.ts';
import { addCauses, causesOf } from '../rule/publish.ts';
import { nextSeq } from '../rule/stop.ts';

/** A person asks for the whole thing again: a new event with the same payload and causes, and its effect with it. */
export function redoEvents(draft: Draft, command: CommandOf<'redoEvents'>): ReplyTo<'redoEvents'> {
  const events: EventId[] = [];
  let seq: number | undefined;
  changeEvents(draft, command, 'redo', ['consumed', 'skipped'], (event) => {
    mustBeRead(draft, event, 'redo');
    seq ??= nextSeq(draft, event.workflowId);
    const id = draft.newId('event');
    draft.write({
      set: 'event.published',
      row: {
        ...event,
        id,
        messageId: `${event.messageId}#${id}`,
        status: 'pending',
        reservedByRunId: null,
        redoOf: event.id,
        pendingSeq: seq,
        publishedByRunId: null,
        createdAt: draft.now,
      },
    });
    addCauses(draft, id, causesOf(draft, [event]));
    events.push(id);
  });
  return { events };
}
