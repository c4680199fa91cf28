import type { WorkerId } from '#base';
import type { Engine } from '#execution';
import type { Worker } from '#model';
import { loadsOf } from './loads.ts';

/** A process that has not said goodbye. */
interface SeenWorker extends Omit<Worker, 'endedAt'> {
  /** By its lease, on the clock of the database. */
  readonly state: 'alive' | 'silent';
  /** Executions under way. */
  readonly load: number;
}

/** `self` is whoever answers: that one is alive, also where nobody needs a lease because the folder has one lock. */
export async function workersSeen(
  reader: Engine['reader'],
  now: number,
  self?: WorkerId,
): Promise<readonly SeenWorker[]> {
  const [workers, loads] = await Promise.all([reader.unendedWorkers(), loadsOf(reader)]);
  return workers.map(({ endedAt: _, ...worker }) => ({
    ...worker,
    state: worker.id === self || worker.leaseUntil > now ? 'alive' : 'silent',
    load: loads.get(worker.id) ?? 0,
  }));
}
