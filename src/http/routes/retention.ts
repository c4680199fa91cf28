import { z } from 'zod';
import { RefusedError } from '#base';
import type { Api } from '../context.ts';
import { type Route, route } from '../route.ts';
import { count, time } from '../shapes/parts.ts';

const rows = z
  .strictObject({
    runs: count,
    events: count,
    mutations: count,
    deliveries: count,
    sessions: count,
    executions: count,
    inputs: count,
  })
  .meta({ id: 'HistoryRows' });

/** History that is older than the config keeps it. */
export const RETENTION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/retention',
    scope: 'read',
    says: 'how long history is kept, and what was last removed by this process',
    answer: z.strictObject({
      /** Null: everything is kept. */
      keepDays: z.number().nullable(),
      isRunning: z.boolean(),
      last: z.strictObject({ startedAt: time, endedAt: time, removed: rows }).nullable(),
    }),
    run({ api: { app } }) {
      return app.retention?.state() ?? { keepDays: null, isRunning: false, last: null };
    },
  }),
  route({
    method: 'POST',
    path: '/api/retention/preview',
    scope: 'operate',
    says: 'what would be removed now, by the same rule; nothing is written',
    answer: z.strictObject({
      removable: rows,
      /** False: there is more than was looked at. */
      isWhole: z.boolean(),
    }),
    run: ({ api }) => retentionOf(api).preview(),
  }),
  route({
    method: 'POST',
    path: '/api/retention/run',
    scope: 'admin',
    says: 'begin to remove what is older than the config keeps, instead of within the hour',
    answer: z.strictObject({ started: z.boolean() }),
    async run({ api, by }) {
      const retention = retentionOf(api);
      await api.app.engine.manager.recordAct('remove old history', `${retention.state().keepDays} days`, by);
      retention.begin();
      return { started: true };
    },
  }),
];

function retentionOf({ app }: Api): NonNullable<Api['app']['retention']> {
  if (app.retention) return app.retention;
  throw new RefusedError({
    code: 'wrong-state',
    message: 'no history is ever removed here',
    why: 'the config of this engine says nothing of retention',
    next: [{ label: 'write retention: { keepDays: 90 } into pawl.config.ts, and start again' }],
  });
}
