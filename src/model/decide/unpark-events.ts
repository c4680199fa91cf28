import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { changeEvents, mustBeRead } from '../rule/events-of-workflow.ts';
import { nextSeq } from '../rule/stop.ts';

/** Parked events are worked on again, as if they had just come. */
export function unparkEvents(draft: Draft, command: CommandOf<'unparkEvents'>): ReplyTo<'unparkEvents'> {
  let seq: number | undefined;
  return changeEvents(draft, command, 'unpark', ['parked'], (event) => {
    mustBeRead(draft, event, 'unpark');
    seq ??= nextSeq(draft, event.workflowId);
    draft.write({ set: 'event.unparked', event: event.id, pendingSeq: seq });
  });
}
