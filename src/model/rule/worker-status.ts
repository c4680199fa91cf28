import type { Draft } from '../draft.ts';
import type { Worker } from '../rows-of-fleet.ts';
import { isStep, WORKER_STEPS, type WorkerStatus } from '../states.ts';
import { audit } from './find.ts';
import { refuse } from './refusal.ts';

const ACTS: Readonly<Record<WorkerStatus, string>> = { open: 'uncordon', cordoned: 'cordon', draining: 'drain' };

/** What it is already, it is not made again. Without a name nobody did it but the process itself. */
export function setWorkerStatus(draft: Draft, worker: Worker, to: WorkerStatus, by?: string): { status: WorkerStatus } {
  const { id, name, status: from } = worker;
  if (from === to) return { status: to };
  if (!isStep(WORKER_STEPS, from, to)) {
    refuse('wrong-state', `worker ${name} drains, so nothing else can be asked of it`, 'it ends when it has finished', {
      next: [{ label: 'see who is there', argv: ['pawl', 'workers'] }, 'start another one'],
      ids: { worker: id },
    });
  }
  draft.write({ set: 'worker.status', worker: id, from, to });
  if (by !== undefined) audit(draft, by, ACTS[to], id, name);
  return { status: to };
}

/** Whoever is cordoned or drains claims nothing new, whatever it believes of itself. */
export function mustTakeWork({ id, name, status }: Worker): void {
  if (status === 'open') return;
  refuse('cordoned', `worker ${name} takes nothing new`, `it is ${status}`, {
    next: [{ label: 'let it take work again', argv: ['pawl', 'uncordon', id] }],
    ids: { worker: id },
  });
}
