import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import {
  NOTICE_BEGUN,
  NOTICE_BEGUN_MS,
  NOTICE_MS_MAX,
  NOTICE_MS_MIN,
  NOTICE_TRIES_MAX,
  RESULT_CHARS_MAX,
} from '../limits.ts';
import type { Notice } from '../rows-of-people.ts';
import { checkId, checkLength, checkWhole, checkWord, notFound, refuse } from '../rule/refusal.ts';
import type { NoticeStatus } from '../states.ts';

const OUTCOMES = ['begun', 'sent', 'failed', 'given_up'];

/**
 * What becomes of one try to tell somebody. That it begins is recorded before the first byte goes out: one that was begun and
 * never settled may have arrived, and is not begun again.
 */
export function settleNotice(draft: Draft, command: CommandOf<'settleNotice'>): ReplyTo<'settleNotice'> {
  const { notice: id, outcome, error = '', retryAfterMs = 0 } = command;
  checkId('notice', id);
  const notice = draft.one('notice', id) ?? notFound('notice', id);
  checkWord('what came of a notice', outcome, OUTCOMES);
  checkLength('the error of a notice', error, RESULT_CHARS_MAX);
  checkWhole('the time to wait', retryAfterMs);
  if (notice.status !== 'due') refuseStep(notice, 'it is settled');
  if (outcome === 'begun' && notice.error === NOTICE_BEGUN)
    refuseStep(notice, 'it was begun before, and may have arrived');
  const tries = outcome === 'begun' ? notice.tries : notice.tries + 1;
  const status = statusAfter(outcome, tries);
  const delayMs = Math.min(NOTICE_MS_MAX, Math.max(retryAfterMs, NOTICE_MS_MIN * 2 ** notice.tries));
  const waitMs = outcome === 'begun' ? NOTICE_BEGUN_MS : delayMs;
  draft.write({
    set: 'notice.tried',
    notice: id,
    from: notice.tries,
    tries,
    to: status,
    dueAt: status === 'due' ? draft.now + waitMs : notice.dueAt,
    error: errorAfter(outcome, error),
    settledAt: status === 'due' ? null : draft.now,
  });
  return { status };
}

function refuseStep(notice: Notice, why: string): never {
  return refuse('wrong-state', `notice ${notice.id} is ${notice.status}`, why, {
    next: ['leave it'],
    ids: { notice: notice.id },
  });
}

function statusAfter(outcome: CommandOf<'settleNotice'>['outcome'], tries: number): NoticeStatus {
  switch (outcome) {
    case 'begun':
      return 'due';
    case 'sent':
    case 'given_up':
      return outcome;
    case 'failed':
      return tries >= NOTICE_TRIES_MAX ? 'given_up' : 'due';
  }
}

function errorAfter(outcome: CommandOf<'settleNotice'>['outcome'], error: string): string | null {
  if (outcome === 'begun') return NOTICE_BEGUN;
  return outcome === 'sent' ? null : error;
}
