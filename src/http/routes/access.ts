import { z } from 'zod';
import { RefusedError } from '#base';
import { TOKEN_KINDS, TOKEN_SCOPES, type Token } from '#model';
import type { Asker } from '../access/asker.ts';
import { forgetSession, keepSession } from '../access/session-cookie.ts';
import type { Api } from '../context.ts';
import { idOf } from '../find.ts';
import { addressOf, nameIn, tooOften } from '../guard.ts';
import { nextAfter, says } from '../page.ts';
import { RequestError } from '../problem.ts';
import { type Ask, type Route, route } from '../route.ts';
import { id, listOf, many, maybeText, maybeTime, page, search, text, time } from '../shapes/parts.ts';

const PAGE = 100;
const DAY = 24 * 3_600_000;
const scope = z.enum(TOKEN_SCOPES).meta({ id: 'Scope' });
const state = z.enum(['good', 'expired', 'revoked']);

const me = z
  .strictObject({
    by: text,
    kind: z.enum(['owner', ...TOKEN_KINDS]),
    scopes: many(scope),
    token: id.nullable(),
    expiresAt: maybeTime,
  })
  .meta({ id: 'Me' });

/** A token as it is listed: nobody ever sees its secret again. */
const token = z
  .strictObject({
    id,
    kind: z.enum(TOKEN_KINDS),
    name: text,
    scopes: many(scope),
    parentId: id.nullable(),
    createdAt: time,
    createdBy: text,
    expiresAt: time,
    revokedAt: maybeTime,
    revokedBy: maybeText,
    state,
  })
  .meta({ id: 'Token' });

/** Who gets in. */
export const ACCESS_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/login',
    scope: 'open',
    says: 'open a session of the console with a token, or with the code of a link; sets the cookie and gives the other half of it',
    body: z
      .strictObject({ token: z.string().max(500).optional(), code: z.string().max(500).optional() })
      .refine(
        (body) => (body.token === undefined) !== (body.code === undefined),
        'give a token, or the code of a link',
      ),
    answer: z.strictObject({ ...me.shape, csrf: text }).meta({ id: 'LoggedIn' }),
    async run({ api, body, ask }) {
      const asker = (await askerOf(api, ask, body)) ?? refuseLogin(api, ask);
      const opened = await api.access.openSession(asker);
      keepSession(ask, opened.secret, api.place.isSecure, opened.expiresAt - api.app.clock.now());
      return { ...opened.asker, csrf: opened.csrf };
    },
  }),
  route({
    method: 'POST',
    path: '/api/logout',
    scope: 'read',
    says: 'end the session of the console that asks',
    answer: z.strictObject({ ended: id }),
    async run({ api, asker, by, ask }) {
      if (asker.kind !== 'session' || asker.token === null) throw noSession();
      await api.app.engine.manager.revokeToken(asker.token, by);
      forgetSession(ask, api.place.isSecure);
      return { ended: asker.token };
    },
  }),
  route({
    method: 'GET',
    path: '/api/me',
    scope: 'read',
    says: 'who asks, and what they may do',
    answer: me,
    run: ({ asker }) => asker,
  }),
  route({
    method: 'POST',
    path: '/api/login-links',
    scope: 'read',
    says: 'a link that opens the console once, within ten minutes, for whoever asks for it',
    answer: z.strictObject({ url: text, expiresAt: time }),
    run: ({ api, asker }) => loginLink(api, asker),
  }),
  route({
    method: 'GET',
    path: '/api/tokens',
    scope: 'admin',
    says: 'the tokens and the sessions they opened, newest first',
    query: { ...page(PAGE), ...search, kind: z.enum(TOKEN_KINDS).optional(), state: state.optional() },
    answer: listOf(token),
    async run({ api, query: { after, limit, q, kind, state: stands } }) {
      const rows = await api.app.engine.history.tokens({ after, limit });
      const items = rows
        .map((row) => tokenRow(row, api.app.clock.now()))
        .filter(
          (row) =>
            row.kind === (kind ?? row.kind) &&
            row.state === (stands ?? row.state) &&
            says(q, row.name, row.createdBy, row.id),
        );
      return { items, next: nextAfter(rows, limit, (row) => row.id) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/tokens',
    scope: 'admin',
    says: 'a new token; its secret is told now and never again',
    body: z.strictObject({
      name: z.string().min(1).max(200),
      scopes: z.array(scope).min(1).max(TOKEN_SCOPES.length),
      expiresInMs: z
        .int()
        .min(60_000)
        .max(366 * DAY)
        .optional(),
    }),
    answer: z.strictObject({ token: id, secret: text, name: text, scopes: many(scope), expiresAt: time }),
    async run({ api, body, by }) {
      const made = await api.access.createToken(body, by);
      return { ...made, name: body.name, scopes: body.scopes };
    },
  }),
  route({
    method: 'POST',
    path: '/api/tokens/{id}/revoke',
    scope: 'admin',
    says: 'nobody gets in with this token any more, nor with the sessions it opened',
    answer: z.strictObject({ token: id }),
    async run({ api, params, by }) {
      const of = idOf('token', params.id);
      await api.app.engine.manager.revokeToken(of, by);
      return { token: of };
    },
  }),
];

/** The code stands behind the #: no server, log or other page ever sees it. */
export function loginLink({ access, place, port }: Api, asker: Asker): { url: string; expiresAt: number } {
  const { code, expiresAt } = access.newLink(asker);
  return { url: `${place.publicUrl(port())}/#login=${code}`, expiresAt };
}

async function askerOf(
  { access }: Api,
  ask: Ask,
  given: { token?: string | undefined; code?: string | undefined },
): Promise<Asker | undefined> {
  if (given.code !== undefined) return access.byLink(given.code);
  return access.byBearer(given.token ?? '', nameIn(ask.req.header('x-pawl-by')));
}

function refuseLogin({ failures }: Api, ask: Ask): never {
  const key = addressOf(ask);
  if (!failures.take(key)) throw tooOften(ask, failures.waitMs(key), 'too many tries to get in failed');
  throw new RequestError(
    401,
    'unauthorized',
    'this opens nothing',
    'the token is not good, or the link was used or is older than ten minutes',
    'ask for a new link: pawl login',
  );
}

function noSession(): RefusedError {
  return new RefusedError({
    code: 'wrong-state',
    message: 'there is no session to end',
    why: 'whoever asks with a token has none',
    next: [{ label: 'revoke the token instead', argv: ['pawl', 'token', 'revoke', 'ID'] }],
  });
}

function tokenRow({ hash: _hash, ...row }: Token, now: number) {
  const state = row.revokedAt !== null ? 'revoked' : row.expiresAt <= now ? 'expired' : 'good';
  return { ...row, state } as const;
}
