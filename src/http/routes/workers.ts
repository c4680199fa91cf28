import { z } from 'zod';
import { type Route, route } from '../route.ts';
import { count, id, many, text, time } from '../shapes/parts.ts';

const worker = z
  .strictObject({
    id,
    name: text,
    pool: text,
    /** By its lease, on the clock of the database. */
    state: z.enum(['alive', 'silent']),
    startedAt: time,
    leaseUntil: time,
    /** Executions under way. */
    load: count,
  })
  .meta({ id: 'Worker' });

const PAGE = 1_000;

export const WORKER_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/workers',
    scope: 'read',
    says: 'the processes that have not said goodbye: until when each is taken for alive, and how much it is doing',
    answer: z.strictObject({ items: many(worker), next: z.null() }),
    async run({ api: { app } }) {
      const { reader, self } = app.engine;
      const [workers, open] = await Promise.all([
        reader.unendedWorkers(),
        reader.unfinishedExecutions({ limit: PAGE }),
      ]);
      const oldestFirst = workers.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      const items = oldestFirst.map(({ id: worker, name, pool, startedAt, leaseUntil }) => ({
        id: worker,
        name,
        pool,
        // Whoever answers is alive, also where nobody needs a lease because the folder has one lock.
        state: worker === self || leaseUntil > app.clock.now() ? ('alive' as const) : ('silent' as const),
        startedAt,
        leaseUntil,
        load: open.filter(({ owner }) => owner === worker).length,
      }));
      return { items, next: null };
    },
  }),
];
