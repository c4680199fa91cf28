import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { checkWhole, refuse } from '../rule/refusal.ts';
import { checkLimitName } from '../rule/slots.ts';

/** One that is lowered ends nothing: what is under way goes on, and nothing is added until there is room. */
export function setLimit(draft: Draft, command: CommandOf<'setLimit'>): ReplyTo<'setLimit'> {
  const { limit: name, slotsMax } = command;
  checkLimitName(name);
  if (slotsMax !== null) checkWhole('the limit', slotsMax);
  if (slotsMax === 0) {
    refuse('invalid', `nothing could ever run under ${name}`, 'a limit is at least 1', {
      next: [{ label: 'pause the workflows instead', argv: ['pawl', 'pause'] }],
    });
  }
  if (draft.one('limit', name)?.slotsMax === slotsMax) return {};
  draft.write({ set: 'limit.set', row: { name, slotsMax, setAt: draft.now } });
  return {};
}
