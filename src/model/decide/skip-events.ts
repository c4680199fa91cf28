import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { changeEvents } from '../rule/events-of-workflow.ts';

/** A person decides that these events are not to be worked on. */
export function skipEvents(draft: Draft, command: CommandOf<'skipEvents'>): ReplyTo<'skipEvents'> {
  return changeEvents(draft, command, 'skip', ['pending', 'parked'], (event) =>
    draft.write({ set: 'event.skipped', event: event.id, from: event.status }),
  );
}
