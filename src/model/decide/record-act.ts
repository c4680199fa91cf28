import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX, TARGET_CHARS_MAX } from '../limits.ts';
import { audit, mustBeNamed } from '../rule/find.ts';
import { checkLength, checkText } from '../rule/refusal.ts';

/** What a person did that changes no row of the model: a backup, a test of a connection. */
export function recordAct(draft: Draft, command: CommandOf<'recordAct'>): ReplyTo<'recordAct'> {
  const { act, subject, detail = '', by } = command;
  checkText('an act', act, NAME_CHARS_MAX);
  checkText('what it was done to', subject, TARGET_CHARS_MAX);
  checkLength('the detail of an act', detail, TARGET_CHARS_MAX);
  mustBeNamed(by);
  audit(draft, by, act, subject, detail);
  return {};
}
