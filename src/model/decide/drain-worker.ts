import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { livingWorker, mustBeNamed } from '../rule/find.ts';
import { setWorkerStatus } from '../rule/worker-status.ts';

/** It finishes what it has, takes nothing more, and ends. Its lease is renewed to the last: it is not dead, it is busy. */
export function drainWorker(draft: Draft, command: CommandOf<'drainWorker'>): ReplyTo<'drainWorker'> {
  const worker = livingWorker(draft, command.worker);
  mustBeNamed(command.by);
  return setWorkerStatus(draft, worker, 'draining', command.by);
}
