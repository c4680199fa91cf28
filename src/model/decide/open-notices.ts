import type { NoticeId } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { CHANNELS_MAX, NAME_CHARS_MAX, TARGET_CHARS_MAX } from '../limits.ts';
import { checkText, refuse } from '../rule/refusal.ts';

/** Somebody is to be told of a case, once on each channel, however often it is seen and whoever starts again in between. */
export function openNotices(draft: Draft, command: CommandOf<'openNotices'>): ReplyTo<'openNotices'> {
  const { caseKey, channels } = command;
  checkText('the key of a case', caseKey, TARGET_CHARS_MAX);
  if (!Array.isArray(channels) || channels.length > CHANNELS_MAX) {
    refuse('invalid', 'these channels cannot be told', `a list of at most ${CHANNELS_MAX} is`, { next: ['name them'] });
  }
  for (const channel of channels) checkText('the name of a channel', channel, NAME_CHARS_MAX);
  const told = new Set(draft.find('noticesOf', caseKey).map(({ channel }) => channel));
  const opened: NoticeId[] = [];
  for (const channel of new Set(channels)) {
    if (told.has(channel)) continue;
    const id = draft.newId('notice');
    draft.write({
      set: 'notice.opened',
      row: {
        id,
        caseKey,
        channel,
        status: 'due',
        tries: 0,
        dueAt: draft.now,
        error: null,
        createdAt: draft.now,
        settledAt: null,
      },
    });
    opened.push(id);
  }
  return { opened };
}
