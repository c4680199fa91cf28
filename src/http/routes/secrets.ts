import { z } from 'zod';
import type { Api } from '../context.ts';
import { says } from '../page.ts';
import { type Route, route } from '../route.ts';
import { count, id, listOf, many, maybeText, name, page, search, text, time } from '../shapes/parts.ts';

const PAGE = 100;

/** A secret as anybody may know it: that it is there. Its value is told to nobody. */
const secret = z
  .strictObject({
    name: text,
    version: count,
    changedAt: time,
    changedBy: text,
    /** The connections whose config names it. */
    connections: many(text),
    /** Why it cannot be used; null when it can. */
    trouble: maybeText,
  })
  .meta({ id: 'Secret' });

const changed = z.strictObject({ name: text, version: count, connections: many(text), freed: many(id) });

/** What the operator keeps for connections. Values come in and never go out. */
export const SECRET_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/secrets',
    scope: 'read',
    says: 'the secrets that are set, by name: who set them, and which connections use them; never what they are',
    query: { ...page(PAGE), ...search, connection: name },
    answer: listOf(secret),
    async run({ api, query: { after, limit, q, connection } }) {
      const { rows, next } = await api.app.vault.list(after, limit);
      const found = rows.filter(
        (row) =>
          says(q, row.name, row.changedBy) && (connection === undefined || usersOf(api, row.name).includes(connection)),
      );
      const items = await Promise.all(
        found.map(async (row) => ({
          ...row,
          connections: usersOf(api, row.name),
          trouble: (await api.app.vault.trouble(row.name)) ?? null,
        })),
      );
      return { items, next };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/secrets/{name}',
    scope: 'admin',
    says: 'set a secret; connections that were refused for want of it are tried again',
    body: z.strictObject({ value: z.string().max(64 * 1_024) }),
    answer: changed,
    async run({ api, params: { name }, body: { value }, by }) {
      const connections = usersOf(api, name);
      const { history } = api.app.engine;
      const refused: string[] = [];
      const freed = new Set<string>();
      for (const connection of connections) {
        if ((await history.fetch('connection', connection))[0]?.refusedAt == null) continue;
        refused.push(connection);
        for (const held of await history.fetch('workflowsHeldBy', connection)) freed.add(held.id);
      }
      const { version } = await api.app.vault.set(name, value, by, refused);
      return { name, version, connections, freed: [...freed] };
    },
  }),
  route({
    method: 'POST',
    path: '/api/secrets/{name}/remove',
    scope: 'admin',
    says: 'take a secret away; calls that need it wait until it is set again',
    answer: z.strictObject({ name: text, connections: many(text) }),
    async run({ api, params: { name }, by }) {
      await api.app.vault.remove(name, by);
      return { name, connections: usersOf(api, name) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/rotate-key',
    scope: 'admin',
    says: 'seal every secret with a new master key; what they are stays the same',
    answer: z.strictObject({ resealed: count, place: text }),
    async run({ api: { app }, by }) {
      return { ...(await app.vault.rotate(by)), place: app.vault.keyPlace };
    },
  }),
];

function usersOf({ app }: Api, name: string): string[] {
  return Object.keys(app.connections.describe().connections).filter((each) =>
    app.connections.secretsOf(each).includes(name),
  );
}
