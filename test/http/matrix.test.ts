import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { ROUTES, type Route } from '#http';
import { TOKEN_SCOPES, type TokenScope } from '#model';
import { Api, type Json } from './api.ts';

// Every route, walked through everything that must keep somebody out. A route that is added is walked by being there.

interface Sent {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

interface Got {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const LARGE = JSON.stringify({ text: 'x'.repeat(2 * 1_024 * 1_024) });

/** Ids that nobody has, so that nothing is ever done. */
const pathOf = ({ path }: Route): string => path.replaceAll(/\{\w+\}/g, 'nobody');
const isHook = ({ path }: Route): boolean => path.startsWith('/hooks/');
/** Whoever looks after processes asks these by any name. */
const isProbe = ({ path }: Route): boolean => path === '/health' || path === '/ready';
const acts = ({ method }: Route): boolean => method !== 'GET';

/** Host and Origin are what a browser sets, and what fetch does not let a test choose. */
function send(api: Api, route: Route, { token, headers = {}, body }: Sent): Promise<Got> {
  // Time passes, so that nobody is kept out for having failed too often.
  api.stage.clock.aheadMs += 10_000;
  const { port, host } = new URL(api.url);
  const given = {
    host,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(acts(route) && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body ?? '{}')),
    }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      { host: '127.0.0.1', port, path: pathOf(route), method: route.method, headers: given },
      (answer) => {
        const parts: Buffer[] = [];
        const done = (): void => {
          const text = Buffer.concat(parts).toString('utf8');
          const { code = '' } = text.startsWith('{') ? (JSON.parse(text) as { code?: string }) : {};
          resolve({ status: answer.statusCode ?? 0, code, headers: answer.headers });
        };
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', done);
        // A stream has no end: that it began is the answer.
        if (answer.headers['content-type']?.startsWith('text/event-stream')) {
          done();
          asked.destroy();
        }
      },
    );
    asked.on('error', (error) => ('code' in error && error.code === 'EPIPE' ? undefined : reject(error)));
    if (acts(route)) asked.write(body ?? '{}');
    asked.end();
  });
}

const INCLUDES: Readonly<Record<TokenScope, readonly TokenScope[]>> = {
  read: ['read'],
  operate: ['read', 'operate'],
  edit: ['read', 'edit'],
  admin: ['read', 'operate', 'edit', 'admin'],
};

test('every route against whoever must not get through', async (t) => {
  const api = await Api.open(t);
  const tokens = new Map<TokenScope, string>();
  for (const scope of TOKEN_SCOPES) {
    const { secret } = await api.ok(
      api.post('/api/tokens', { name: `has ${scope}`, scopes: [scope], expiresInMs: 86_400_000 * 30 }),
    );
    tokens.set(scope, secret);
  }
  const admin = tokens.get('admin');
  const session = await loggedIn(api);

  for (const route of ROUTES) {
    const name = `${route.method} ${route.path}`;
    const got = (sent: Sent): Promise<Got> => send(api, route, sent);
    await t.test(name, async () => {
      if (route.scope !== 'open') {
        for (const token of [undefined, 'wrong', 'pawl_', `${admin}x`, session.secret]) {
          const { status, code } = await got({ token });
          assert.deepEqual([status, code], [401, 'unauthorized'], `with the token ${token}`);
        }
        const basic = await got({ headers: { authorization: `Basic ${admin}` } });
        assert.deepEqual([basic.status, basic.code], [401, 'unauthorized']);
        for (const scope of TOKEN_SCOPES) {
          const { status, code } = await got({ token: tokens.get(scope) });
          const isAllowed = INCLUDES[scope].includes(route.scope);
          if (isAllowed) assert.ok(status !== 401 && status !== 403 && status < 500, `${scope}: ${status} ${code}`);
          else assert.deepEqual([status, code], [403, 'scope'], scope);
        }
        // A cookie alone reads nothing but keys.
        const cookie = { cookie: `pawl_session=${session.secret}` };
        const alone = await got({ headers: cookie });
        if (route.path === '/api/live') assert.equal(alone.status, 200);
        else assert.deepEqual([alone.status, alone.code], [403, 'no-csrf']);
        const wrong = await got({ headers: { ...cookie, 'x-pawl-csrf': 'f'.repeat(64) } });
        if (route.path !== '/api/live') assert.deepEqual([wrong.status, wrong.code], [403, 'no-csrf']);
      }
      for (const host of ['evil.example', '127.0.0.1', `127.0.0.1.evil.example:${new URL(api.url).port}`]) {
        const { code } = await got({ token: admin, headers: { host } });
        if (isHook(route) || isProbe(route)) assert.notEqual(code, 'wrong-host');
        else assert.ok(code === 'wrong-host', `${host}: ${code}`);
      }
      for (const headers of [
        { origin: 'http://evil.example' },
        { origin: 'null' },
        { origin: `https://${new URL(api.url).host}` },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ]) {
        const { status, code } = await got({ token: admin, headers });
        if (isHook(route) || isProbe(route)) assert.notEqual(code, 'cross-origin');
        else assert.deepEqual([status, code], [403, 'cross-origin'], JSON.stringify(headers));
      }
      if (acts(route)) {
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
          const { status, code } = await got({ token: admin, headers: { 'content-type': type } });
          if (isHook(route)) assert.notEqual(status, 415);
          else assert.deepEqual([status, code], [415, 'not-json'], type);
        }
        const large = await got({ token: admin, body: LARGE });
        assert.deepEqual([large.status, large.code], [413, 'too-large']);
        for (const body of ['{', '[]', 'null', '{"__proto__":{"x":1},"nobody":1}', `${'['.repeat(5_000)}`, '{"a":1}']) {
          const { status } = await got({ token: admin, body });
          assert.ok(status === 400 || (isHook(route) && status === 404), `${body.slice(0, 20)}: ${status}`);
        }
      }
      const { headers } = await got({ token: admin });
      assert.match(String(headers['content-security-policy']), /default-src 'none'/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['access-control-allow-origin'], undefined);
      if (!isHook(route)) assert.equal(headers['cache-control'], 'no-store');
    });
  }
});

async function loggedIn(api: Api): Promise<{ secret: string; csrf: string }> {
  const answer = await fetch(`${api.url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: api.token }),
  });
  const [, secret = ''] = /pawl_session=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
  return { secret, csrf: ((await answer.json()) as Json).csrf };
}

test('every route says what it needs, and open are only those that must be', () => {
  const open = ROUTES.filter(({ scope }) => scope === 'open').map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(open.sort(), [
    'GET /api/health',
    'GET /api/openapi.json',
    'GET /health',
    'GET /ready',
    'POST /api/login',
    'POST /hooks/{workflow}/{hook}',
  ]);
  for (const { method, scope, path } of ROUTES) {
    assert.ok(scope === 'open' || TOKEN_SCOPES.includes(scope), path);
    const reads = scope === 'read' || scope === 'admin' || scope === 'open';
    if (method === 'GET') assert.ok(reads, `${path} only looks`);
    else if (scope === 'read') assert.ok(['/api/logout', '/api/login-links'].includes(path), `${path} acts`);
  }
});

test('what an agent may do: look, validate and deploy; never answer, approve, redo, skip, or see tokens', () => {
  const may = ROUTES.filter(({ method, scope }) => method !== 'GET' && (scope === 'edit' || scope === 'read'));
  assert.deepEqual(may.map(({ path }) => path).sort(), [
    '/api/deploy',
    '/api/login-links',
    '/api/logout',
    '/api/validate',
    '/api/workflows/{workflow}/rollback',
  ]);
});
