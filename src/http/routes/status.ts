import type { Hono } from 'hono';
import { explain, needsOf, statusOf } from '#story';
import { type Api, type Env, listed, one, tellerOf } from '../context.ts';
import { nextAfter, pageOf } from '../input.ts';

/** How everything stands must fit one page, or nobody sees it at 3 am. */
const PAGE = 1_000;

export function addStatus(routes: Hono<Env>, api: Api): void {
  routes.get('/status', (ask) => {
    const teller = tellerOf(api);
    const { after, limit } = pageOf(ask, {}, PAGE);
    const rows = teller.history.workflows({ after, limit });
    const items = rows.map((row) => statusOf(teller, row));
    return listed(
      ask,
      items,
      nextAfter(rows, limit, (row) => row.name),
    );
  });

  routes.get('/needs', (ask) => {
    const teller = tellerOf(api);
    const { after, limit } = pageOf(ask, {}, PAGE);
    const rows = teller.history.troubled({ after, limit });
    const items = rows.flatMap((row) => needsOf(teller, row));
    return listed(
      ask,
      items,
      nextAfter(rows, limit, (row) => row.id),
    );
  });

  routes.get('/explain/:id', (ask) => one(ask, explain(tellerOf(api), ask.req.param('id'))));
}
