import { z } from 'zod';
import { RequestError } from '../problem.ts';
import { unreadiness } from '../readiness.ts';
import { type Route, rawRoute, route } from '../route.ts';

/** For whatever looks after processes: is this one alive, should it be asked for work, and how does it go. */
export const PROBE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/health',
    scope: 'open',
    says: 'that the process answers; if it does not for long, start it again',
    answer: z.strictObject({ status: z.literal('ok') }).meta({ id: 'Alive' }),
    run: () => ({ status: 'ok' as const }),
  }),
  route({
    method: 'GET',
    path: '/ready',
    scope: 'open',
    says: 'that it takes work: 503 while nothing can be written, and while it drains',
    answer: z.strictObject({ status: z.literal('ready') }).meta({ id: 'Ready' }),
    run({ api: { app } }) {
      const why = unreadiness(app);
      if (why !== undefined) throw notReady(why, WHY[why]);
      return { status: 'ready' as const };
    },
  }),
  rawRoute({
    method: 'GET',
    path: '/metrics',
    scope: 'read',
    says: 'counters and gauges in the text format of Prometheus',
    raw: { type: 'text/plain', says: 'metrics, as docs/operations.md lists them' },
    run: async ({ api, ask }) =>
      ask.body(await api.metrics.text(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  }),
];

const WHY = {
  draining: 'it is on its way out, and begins nothing new',
  'no-writes': 'its store takes no writes now',
} as const;

function notReady(code: string, why: string): RequestError {
  return new RequestError(503, code, 'the engine takes no work now', why, 'ask again in a moment, or ask another one');
}
