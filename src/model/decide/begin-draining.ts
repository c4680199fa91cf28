import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { livingWorker } from '../rule/find.ts';
import { setWorkerStatus } from '../rule/worker-status.ts';

/** The process was told by its machine to end, and shows it; from here on it is as if a person had asked for it. */
export function beginDraining(draft: Draft, command: CommandOf<'beginDraining'>): ReplyTo<'beginDraining'> {
  return setWorkerStatus(draft, livingWorker(draft, command.worker), 'draining');
}
