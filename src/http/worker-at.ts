import { RefusedError } from '#base';
import type { Worker } from '#model';
import type { Api } from './context.ts';

const SHOWN_MAX = 10;

/** A process by the id of its incarnation, or by its name: a forerunner that fell silent gives way to whoever lives. */
export async function workerAt({ app }: Pick<Api, 'app'>, named: string): Promise<Worker> {
  const workers = await app.engine.reader.unendedWorkers();
  const byId = workers.find(({ id }) => id === named);
  if (byId) return byId;
  const called = workers.filter(({ name }) => name === named);
  const living = called.filter(({ leaseUntil }) => leaseUntil > app.clock.now());
  const [found, ...more] = living.length > 0 ? living : called;
  if (!found) throw nobody(named);
  if (more.length > 0) throw several(named, [found, ...more]);
  return found;
}

function nobody(named: string): RefusedError {
  return new RefusedError({
    code: 'not-found',
    message: `there is no worker ${JSON.stringify(named.slice(0, 100))}`,
    why: 'no process that has not ended has this name or id',
    next: [{ label: 'see who is there', argv: ['pawl', 'workers'] }],
  });
}

function several(named: string, workers: readonly Worker[]): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: `${workers.length} workers are called ${JSON.stringify(named.slice(0, 100))}`,
    why: 'only one of them can be meant',
    next: workers.slice(0, SHOWN_MAX).map(({ id, pool }) => ({ label: `say ${id} for the one of pool ${pool}` })),
  });
}
