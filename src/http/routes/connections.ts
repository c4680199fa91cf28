import { z } from 'zod';
import { RefusedError } from '#base';
import type { Api } from '../context.ts';
import { cut, says } from '../page.ts';
import { type Route, route } from '../route.ts';
import { count, id, listOf, many, maybeText, maybeTime, name, page, search, text } from '../shapes/parts.ts';

const PAGE = 1_000;
const DETAIL_CHARS_MAX = 500;
const STATUS = z.enum(['ok', 'refused']);

const connection = z
  .strictObject({
    name: text,
    type: text,
    status: STATUS,
    reason: maybeText,
    since: maybeTime,
    workflows: many(text),
    reads: many(text),
    mutations: many(text),
    /** Which mutations wait for a person. */
    approval: z.record(z.string(), z.enum(['never', 'first', 'always'])),
  })
  .meta({ id: 'Connection' });

const cured = z
  .strictObject({
    connection: text,
    ok: z.boolean().optional(),
    version: count.optional(),
    freed: many(id),
    sentence: text,
    error: z.strictObject({ class: text, message: text, retryAfterMs: count.optional() }).optional(),
  })
  .meta({ id: 'ConnectionTested' });

export const CONNECTION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/connections',
    scope: 'read',
    says: 'what the config connects, whether it works, and who waits for it',
    query: { ...page(PAGE), ...search, status: STATUS.optional(), type: name },
    answer: listOf(connection),
    async run({ api, query }) {
      const { app } = api;
      const { connectors, connections } = app.connections.describe();
      const known = await Promise.all(
        Object.entries(connections).map(async ([each, type]) => {
          const [row] = await app.engine.history.fetch('connection', each);
          return { name: each, type, row, status: row?.refusedAt == null ? ('ok' as const) : ('refused' as const) };
        }),
      );
      const asked = known.filter(
        ({ name: each, type, status }) =>
          status === (query.status ?? status) && type === (query.type ?? type) && says(query.q, each, type),
      );
      const { rows, next } = cut(asked, query, (each) => each.name);
      const items = await Promise.all(
        rows.map(async ({ name, type, row, status }) => {
          return {
            name,
            type,
            status,
            reason: row?.refusedReason ?? null,
            since: row?.refusedAt ?? null,
            workflows: (await app.engine.history.fetch('workflowsHeldBy', name)).map((workflow) => workflow.name),
            reads: connectors[type]?.reads ?? [],
            mutations: connectors[type]?.mutations ?? [],
            approval: app.connections.approvalOf(name),
          };
        }),
      );
      return { items, next };
    },
  }),
  route({
    method: 'POST',
    path: '/api/connections/{name}/test',
    scope: 'operate',
    says: 'read once through a connection; if that works, everybody who waits for it goes on',
    answer: cured,
    async run({ api, params, by }) {
      const name = known(api, params.name);
      const outcome = await api.app.connections.test(name);
      if (outcome.kind === 'not_done') {
        const { error } = outcome;
        await api.app.engine.manager.recordAct('test connection', name, by, error.message.slice(0, DETAIL_CHARS_MAX));
        return { connection: name, ok: false, error, sentence: error.message, freed: [] };
      }
      return { connection: name, ok: true, ...(await cure(api, name, by)) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/connections/{name}/cure',
    scope: 'operate',
    says: 'a person says that a connection works again',
    answer: cured,
    async run({ api, params, by }) {
      const name = known(api, params.name);
      return { connection: name, ...(await cure(api, name, by)) };
    },
  }),
];

/** A good test or a person's word: everybody who waited goes on. */
async function cure({ app }: Api, name: string, by: string) {
  const waiting = (await app.engine.history.fetch('workflowsHeldBy', name)).map((workflow) => workflow.name);
  const { version, freed } = await app.engine.manager.cureConnection(name, by);
  const goOn =
    freed.length === 0 ? 'nobody waited for it' : `${waiting.join(', ')} ${freed.length === 1 ? 'goes' : 'go'} on`;
  return { version, freed, sentence: `it works; ${goOn}` };
}

function known({ app }: Api, name: string): string {
  if (app.connections.has(name)) return name;
  const names = Object.keys(app.connections.describe().connections);
  throw new RefusedError({
    code: 'not-found',
    message: `there is no connection ${JSON.stringify(name.slice(0, 100))}`,
    why: `the config names ${names.join(', ') || 'none'}`,
    next: [{ label: 'see the connections', argv: ['pawl', 'connections'] }],
  });
}
