import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NOTICE_MS_MAX, NOTICE_MS_MIN, NOTICE_TRIES_MAX, RESULT_CHARS_MAX } from '../limits.ts';
import { checkId, checkLength, checkWhole, notFound, refuse } from '../rule/refusal.ts';
import type { NoticeStatus } from '../states.ts';

/** What came of one try to tell somebody: told, to be tried again later, or given up. */
export function settleNotice(draft: Draft, command: CommandOf<'settleNotice'>): ReplyTo<'settleNotice'> {
  const { notice: id, sent, error = '', retryAfterMs = 0 } = command;
  checkId('notice', id);
  const notice = draft.one('notice', id) ?? notFound('notice', id);
  checkLength('the error of a notice', error, RESULT_CHARS_MAX);
  checkWhole('the time to wait', retryAfterMs);
  if (notice.status !== 'due') {
    refuse('wrong-state', `notice ${id} is ${notice.status}`, 'it is settled', {
      next: ['leave it'],
      ids: { notice: id },
    });
  }
  const status = statusAfter(sent, notice.tries + 1);
  const delayMs = Math.min(NOTICE_MS_MAX, Math.max(retryAfterMs, NOTICE_MS_MIN * 2 ** notice.tries));
  draft.write({
    set: 'notice.tried',
    notice: id,
    from: notice.tries,
    to: status,
    dueAt: status === 'due' ? draft.now + delayMs : notice.dueAt,
    error: sent ? null : error,
    settledAt: status === 'due' ? null : draft.now,
  });
  return { status };
}

function statusAfter(sent: boolean, tries: number): NoticeStatus {
  if (sent) return 'sent';
  return tries >= NOTICE_TRIES_MAX ? 'given_up' : 'due';
}
