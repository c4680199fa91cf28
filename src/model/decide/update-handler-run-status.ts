import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { fencedRun, mustBeActive } from '../rule/find.ts';
import { checkText, refuse } from '../rule/refusal.ts';
import { stopRun } from '../rule/stop.ts';
import { STOP_STATUSES } from '../states.ts';

const ERROR_CHARS_MAX = 64 * 1_024;

/** Stop a run: the boundary decides over its events, the session fails, maintenance or a hold is put, at once. */
export function updateHandlerRunStatus(
  draft: Draft,
  command: CommandOf<'updateHandlerRunStatus'>,
): ReplyTo<'updateHandlerRunStatus'> {
  const { run } = fencedRun(draft, command.fence, command.run);
  mustBeActive(run, 'stopped');
  if (!STOP_STATUSES.includes(command.status)) {
    refuse(
      'use-other-method',
      `run ${run.id} cannot be set to ${command.status} this way`,
      'this stops runs; it does not commit them',
      {
        next: ['commit with commitConsumer or commitProducer'],
        ids: { run: run.id },
      },
    );
  }
  checkText('the error', command.error, ERROR_CHARS_MAX);
  return stopRun(draft, run, command.status, command);
}
