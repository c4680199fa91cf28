import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { checkId } from '../rule/refusal.ts';

/** A message is deleted in the transaction of whoever acted on it. */
export function deleteMessage(draft: Draft, command: CommandOf<'deleteMessage'>): ReplyTo<'deleteMessage'> {
  checkId('message', command.message);
  draft.write({ set: 'message.deleted', message: command.message });
  return {};
}
