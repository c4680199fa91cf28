import { z } from 'zod';
import { RefusedError, type WorkerId } from '#base';
import { WORKER_STEPS, type Worker } from '#model';
import { silenceWords, workersSeen } from '#story';
import type { Api } from '../context.ts';
import { cut, says } from '../page.ts';
import { type Route, route } from '../route.ts';
import { count, id, listOf, many, maybeText, name, page, search, text, time, wordsOf } from '../shapes/parts.ts';
import { workerAt } from '../worker-at.ts';

const worker = z
  .strictObject({
    /** Of this incarnation: each start of a process is another. */
    id,
    name: text,
    pool: text,
    /** What it is a process of; null where it did not say. */
    version: maybeText,
    /** By its lease, on the clock of the database. */
    state: z.enum(['alive', 'silent']),
    /** Whether it takes what comes. */
    status: wordsOf(WORKER_STEPS),
    startedAt: time,
    leaseUntil: time,
    /** Executions under way. */
    load: count,
    /** How many it takes at once: none where it only hands off, null where it did not say. */
    concurrency: count.nullable(),
    /** What it has not got and its workflows use, so that it leaves them to others: sentences that go on from its name. */
    lacks: many(text),
  })
  .meta({ id: 'Worker' });

const acted = z.strictObject({ worker: id, name: text, status: wordsOf(WORKER_STEPS), sentence: text });

/** Most fleets fit; what is asked for by a page sees the whole of one. */
const WORKERS_PAGE = 500;

export const WORKER_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/workers',
    scope: 'read',
    says: 'the processes that have not said goodbye: until when each is taken for alive, how much it does, and what it takes',
    query: { ...page(WORKERS_PAGE), ...search, pool: name },
    answer: z.strictObject({
      ...listOf(worker).shape,
      /** False where one process has the data to itself: there is nobody to cordon. */
      shared: z.boolean(),
    }),
    async run({ api: { app }, query: { q, pool, ...asked } }) {
      const { reader, self } = app.engine;
      const workers = await workersSeen(reader, app.clock.now(), self);
      const found = workers.filter(
        (row) => says(q, row.name, row.pool, row.version, row.id) && (pool === undefined || row.pool === pool),
      );
      const { rows: items, next } = cut(found, asked, (row) => row.id);
      return { items, next, shared: app.isShared };
    },
  }),
  route({
    method: 'POST',
    path: '/api/workers/{worker}/cordon',
    scope: 'operate',
    says: 'let a worker claim nothing new; it goes on with what it has',
    answer: acted,
    run: ({ api, params, by }) => act(api, params.worker, (id) => api.app.engine.manager.cordonWorker(id, by)),
  }),
  route({
    method: 'POST',
    path: '/api/workers/{worker}/uncordon',
    scope: 'operate',
    says: 'let a worker that was cordoned take work again',
    answer: acted,
    run: ({ api, params, by }) => act(api, params.worker, (id) => api.app.engine.manager.uncordonWorker(id, by)),
  }),
  route({
    method: 'POST',
    path: '/api/workers/{worker}/drain',
    scope: 'admin',
    says: 'let a process finish what it has and end; whether it is started again is up to its machine',
    answer: acted,
    run: ({ api, params, by }) => act(api, params.worker, (id) => api.app.engine.manager.drainWorker(id, by)),
  }),
];

const SENTENCES: Readonly<Record<Worker['status'], string>> = {
  open: 'it takes what comes',
  cordoned: 'it finishes what it has, and claims nothing new until it is uncordoned',
  draining: 'it finishes what it has, claims nothing new, and ends',
};

/** One that is silent may come back all the same. */
const ON_RETURN: Readonly<Record<Worker['status'], string>> = {
  open: 'should it come back, it takes what comes',
  cordoned: 'should it come back, it claims nothing new until it is uncordoned',
  draining: 'should it come back, it ends',
};

async function act(
  api: Api,
  named: string,
  command: (id: WorkerId) => Promise<{ readonly status: Worker['status'] }>,
): Promise<z.input<typeof acted>> {
  if (!api.app.isShared) throw alone();
  const { id: worker, name } = await workerAt(api, named);
  const { status } = await command(worker);
  const { engine, clock, leaseMs } = api.app;
  const silence = await silenceWords(engine.reader, clock.now(), leaseMs, worker, engine.self);
  const sentence =
    silence === undefined ? SENTENCES[status] : `${silence}; ${ON_RETURN[status]}, and else it is struck off the list`;
  return { worker, name, status, sentence };
}

function alone(): RefusedError {
  return new RefusedError({
    code: 'wrong-state',
    message: 'this engine is one process, with its data to itself',
    why: 'nobody else could take what it leaves; workers are of a fleet, over PostgreSQL',
    next: [
      { label: 'keep a workflow from running', argv: ['pawl', 'pause', 'WORKFLOW'] },
      { label: 'or end the engine: it drains by itself on SIGTERM' },
    ],
  });
}
