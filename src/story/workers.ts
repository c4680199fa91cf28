import type { WorkerId } from '#base';
import type { Engine } from '#execution';
import type { Worker } from '#model';
import { loadsOf } from './loads.ts';
import { list } from './words.ts';

/** A process that has not said goodbye. */
interface SeenWorker extends Omit<Worker, 'endedAt' | 'lacks'> {
  /** By its lease, on the clock of the database. */
  readonly state: 'alive' | 'silent';
  /** Executions under way. */
  readonly load: number;
  /** What it has not got, in sentences that go on from its name. */
  readonly lacks: readonly string[];
}

/** `self` is whoever answers: that one is alive, also where nobody needs a lease because the folder has one lock. */
export async function workersSeen(
  reader: Engine['reader'],
  now: number,
  self?: WorkerId,
): Promise<readonly SeenWorker[]> {
  const [workers, loads] = await Promise.all([reader.unendedWorkers(), loadsOf(reader)]);
  return workers.map(({ endedAt: _, lacks, ...worker }) => ({
    ...worker,
    lacks: lackSentences(lacks),
    state: worker.id === self || worker.leaseUntil > now ? 'alive' : 'silent',
    load: loads.get(worker.id) ?? 0,
  }));
}

/** One for each thing that is missing, with the workflows that are left for it. */
export function lackSentences(lacks: Worker['lacks']): string[] {
  return [...new Set(lacks.map(({ why }) => why))].map((why) => {
    const workflows = lacks.filter((lack) => lack.why === why).map(({ workflow }) => workflow);
    return `${why}: it takes nothing of ${list(workflows)}`;
  });
}
