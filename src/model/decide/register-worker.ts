import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX } from '../limits.ts';
import { checkId, checkText, checkWhole, refuse } from '../rule/refusal.ts';

/** Each start of a process is a new incarnation, also under an old name: its forerunner's work is never taken for its own. */
export function registerWorker(draft: Draft, command: CommandOf<'registerWorker'>): ReplyTo<'registerWorker'> {
  const { worker: id, name, pool, leaseMs, version = null, concurrency = null } = command;
  checkId('worker', id);
  checkText('the name of a worker', name, NAME_CHARS_MAX);
  checkText('the pool of a worker', pool, NAME_CHARS_MAX);
  checkWhole('the lease', leaseMs);
  if (version !== null) checkText('the version of a worker', version, NAME_CHARS_MAX);
  if (concurrency !== null) checkWhole('the concurrency of a worker', concurrency);
  if (draft.one('worker', id))
    refuse('wrong-state', `worker ${id} is registered already`, 'an incarnation begins once', {
      next: ['start under a new id'],
      ids: { worker: id },
    });
  draft.write({
    set: 'worker.registered',
    row: {
      id,
      name,
      pool,
      version,
      concurrency,
      status: 'open',
      lacks: [],
      leaseUntil: draft.now + leaseMs,
      startedAt: draft.now,
      endedAt: null,
    },
  });
  return {};
}
