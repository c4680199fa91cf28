import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { livingWorker, mustBeNamed } from '../rule/find.ts';
import { setWorkerStatus } from '../rule/worker-status.ts';

/** It takes what comes again. */
export function uncordonWorker(draft: Draft, command: CommandOf<'uncordonWorker'>): ReplyTo<'uncordonWorker'> {
  const worker = livingWorker(draft, command.worker);
  mustBeNamed(command.by);
  return setWorkerStatus(draft, worker, 'open', command.by);
}
