import type { Hono } from 'hono';
import { z } from 'zod';
import { RefusedError } from '#base';
import { type Api, type Env, listed, one } from '../context.ts';
import { bodyOf } from '../input.ts';

const NOTHING = z.object({});

export function addConnections(routes: Hono<Env>, api: Api): void {
  const { app } = api;
  routes.get('/connections', (ask) => {
    const items = Object.entries(app.connections.describe().connections).map(([name, type]) => {
      const [row] = app.engine.history.fetch('connection', name);
      return {
        name,
        type,
        status: row?.refusedAt == null ? 'ok' : 'refused',
        reason: row?.refusedReason ?? null,
        since: row?.refusedAt ?? null,
        workflows: app.engine.history.fetch('workflowsHeldBy', name).map((workflow) => workflow.name),
      };
    });
    return listed(ask, items, null);
  });

  routes.post('/connections/:name/test', async (ask) => {
    const name = known(api, ask.req.param('name'));
    await bodyOf(ask, NOTHING);
    const outcome = await app.connections.test(name);
    if (outcome.kind === 'not_done') {
      return one(ask, {
        connection: name,
        ok: false,
        error: outcome.error,
        sentence: outcome.error.message,
        freed: [],
      });
    }
    return one(ask, { connection: name, ok: true, ...(await cure(api, name, ask.get('by'))) });
  });

  routes.post('/connections/:name/cure', async (ask) => {
    const name = known(api, ask.req.param('name'));
    await bodyOf(ask, NOTHING);
    return one(ask, { connection: name, ...(await cure(api, name, ask.get('by'))) });
  });
}

/** A good test or a person's word: everybody who waited goes on. */
async function cure({ app }: Api, name: string, by: string): Promise<object> {
  const waiting = app.engine.history.fetch('workflowsHeldBy', name).map((workflow) => workflow.name);
  const { version, freed } = await app.engine.manager.cureConnection(name, by);
  const goOn =
    freed.length === 0 ? 'nobody waited for it' : `${waiting.join(', ')} ${freed.length === 1 ? 'goes' : 'go'} on`;
  return { version, freed, sentence: `it works; ${goOn}` };
}

function known({ app }: Api, name: string): string {
  const names = Object.keys(app.connections.describe().connections);
  if (names.includes(name)) return name;
  throw new RefusedError({
    code: 'not-found',
    message: `there is no connection ${JSON.stringify(name.slice(0, 100))}`,
    why: `the config names ${names.join(', ') || 'none'}`,
    next: [{ label: 'see the connections', argv: ['pawl', 'connections'] }],
  });
}
