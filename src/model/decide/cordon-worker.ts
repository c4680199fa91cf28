import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { livingWorker, mustBeNamed } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { setWorkerStatus } from '../rule/worker-status.ts';

/** It goes on with what it has, and claims nothing new until it is opened again. */
export function cordonWorker(draft: Draft, command: CommandOf<'cordonWorker'>): ReplyTo<'cordonWorker'> {
  const worker = livingWorker(draft, command.worker);
  mustBeNamed(command.by);
  if (worker.concurrency === 0) {
    refuse('wrong-state', `${worker.name} cannot be cordoned`, 'it only hands work off, and takes none', {
      next: [{ label: 'let it end', argv: ['pawl', 'drain', worker.id] }, 'or cordon workers'],
      ids: { worker: worker.id },
    });
  }
  return setWorkerStatus(draft, worker, 'cordoned', command.by);
}
