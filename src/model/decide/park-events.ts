import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { changeEvents } from '../rule/events-of-workflow.ts';

/** A person lays these events by: no consumer sees them until they are unparked. */
export function parkEvents(draft: Draft, command: CommandOf<'parkEvents'>): ReplyTo<'parkEvents'> {
  return changeEvents(draft, command, 'park', ['pending'], (event) =>
    draft.write({ set: 'event.parked', event: event.id }),
  );
}
