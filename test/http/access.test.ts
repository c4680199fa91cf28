import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { serve } from '#http';
import { Api, type Json } from './api.ts';
import { GIVEN } from './scripts.ts';

const DAY = 86_400_000;

/** A browser that has opened the console: it keeps the cookie, and the other half of the session. */
class Browser {
  readonly #url: string;
  cookie = '';
  csrf = '';

  constructor(url: string) {
    this.#url = url;
  }

  async login(body: object): Promise<{ status: number; body: Json; setCookie: string }> {
    const answer = await fetch(`${this.#url}/api/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: this.#url },
      body: JSON.stringify(body),
    });
    const setCookie = answer.headers.get('set-cookie') ?? '';
    const told = (await answer.json()) as Json;
    if (answer.ok) {
      this.cookie = setCookie.split(';', 1)[0] ?? '';
      this.csrf = told.csrf;
    }
    return { status: answer.status, body: told, setCookie };
  }

  async ask(method: string, path: string, body?: object): Promise<{ status: number; body: Json }> {
    const answer = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        cookie: this.cookie,
        'x-pawl-csrf': this.csrf,
        origin: this.#url,
        'sec-fetch-site': 'same-origin',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  }
}

async function tokenOf(api: Api, scopes: string[], more: object = {}): Promise<{ token: string; secret: string }> {
  return api.ok(api.post('/api/tokens', { name: `the ${scopes.join(' ')} one`, scopes, ...more }));
}

test('a token is told once, acts under its own name within its scopes, and ends when it is revoked', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const { token, secret } = await tokenOf(api, ['operate']);
  assert.match(secret, /^pawl_[\w-]{43}$/);
  const as = (path: string, body: object = {}) =>
    api.ask('POST', path, body, { authorization: `Bearer ${secret}`, 'x-pawl-by': 'somebody else' });
  await api.ok(as('/api/workflows/orders/pause'));
  const [need] = (await api.ok(api.get('/api/status'))).items;
  assert.match(need.sentence, /^paused by the operate one/, 'nobody acts under another name than their own');
  await api.refused(as('/api/backup', { file: '/x' }), 403, 'scope');
  await api.refused(as('/api/tokens', { name: 'x', scopes: ['read'] }), 403, 'scope');

  const { items } = await api.ok(api.get('/api/tokens'));
  assert.deepEqual(
    items.map((item: Json) => [item.id, item.name, item.scopes, item.state]),
    [[token, 'the operate one', ['operate'], 'good']],
  );
  assert.ok(!JSON.stringify(items).includes(secret.slice(5)), 'no list tells a secret');
  assert.ok(!('hash' in items[0]));

  await api.ok(api.post(`/api/tokens/${token}/revoke`));
  await api.refused(as('/api/workflows/orders/resume'), 401, 'unauthorized');
  await api.refused(api.post(`/api/tokens/${token}/revoke`), 409, 'wrong-state');
  assert.equal((await api.ok(api.get('/api/tokens'))).items[0].state, 'revoked');
  const said = (await api.ok(api.get(`/api/explain/orders`))).story.join('\n');
  assert.match(said, /the operate one paused it/);
});

test('a token ends by itself, also while nobody looks', async (t) => {
  const api = await Api.open(t);
  const { secret } = await tokenOf(api, ['read'], { expiresInMs: DAY });
  const as = () => api.ask('GET', '/api/status', undefined, { authorization: `Bearer ${secret}` });
  assert.equal((await as()).status, 200);
  api.stage.clock.aheadMs += DAY;
  await api.refused(as(), 401, 'unauthorized');
  assert.equal((await api.ok(api.get('/api/tokens'))).items[0].state, 'expired');
  for (const expiresInMs of [0, -1, 1.5, 400 * DAY]) {
    await api.refused(api.post('/api/tokens', { name: 'x', scopes: ['read'], expiresInMs }), 400, 'invalid');
  }
  await api.refused(api.post('/api/tokens', { name: 'x', scopes: [] }), 400, 'invalid');
  await api.refused(api.post('/api/tokens', { name: 'x', scopes: ['root'] }), 400, 'invalid');
});

test('a session of the console: a cookie that no script can read, and its other half for the page', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const { token, secret } = await tokenOf(api, ['operate']);
  const browser = new Browser(api.url);
  const { body, setCookie } = await browser.login({ token: secret });
  assert.deepEqual([body.by, body.kind, body.scopes], ['the operate one', 'session', ['operate']]);
  assert.match(setCookie, /; HttpOnly/i);
  assert.match(setCookie, /; SameSite=Strict/i);
  assert.match(setCookie, /; Path=\//i);
  assert.doesNotMatch(setCookie, /; Secure/i, 'this machine is asked without TLS');

  assert.equal((await browser.ask('GET', '/api/me')).body.by, 'the operate one');
  assert.equal((await browser.ask('POST', '/api/workflows/orders/pause', {})).status, 200);
  assert.equal((await browser.ask('POST', '/api/tokens', { name: 'x', scopes: ['admin'] })).body.code, 'scope');

  const { csrf } = browser;
  browser.csrf = '';
  assert.equal((await browser.ask('GET', '/api/me')).body.code, 'no-csrf');
  assert.equal((await browser.ask('POST', '/api/workflows/orders/resume', {})).body.code, 'no-csrf');
  browser.csrf = csrf;

  assert.equal((await browser.ask('POST', '/api/logout', {})).status, 200);
  assert.equal((await browser.ask('GET', '/api/me')).status, 401, 'whoever kept the cookie has nothing');

  const again = new Browser(api.url);
  await again.login({ token: secret });
  await api.ok(api.post(`/api/tokens/${token}/revoke`));
  assert.equal((await again.ask('GET', '/api/me')).status, 401, 'a session ends with the token that opened it');
});

test('a session ends after a working day, and outlives the engine until then', async (t) => {
  const api = await Api.open(t);
  const browser = new Browser(api.url);
  await browser.login({ token: api.token });
  const dataDir = join(api.stage.folder, 'data');
  const again = await serve(api.stage.app, { port: 0, dataDir });
  t.after(() => again.close());
  const later = new Browser(again.url);
  Object.assign(later, { cookie: browser.cookie, csrf: browser.csrf });
  assert.equal((await later.ask('GET', '/api/me')).status, 200, 'the page of an engine that was started again goes on');
  api.stage.clock.aheadMs += 12 * 3_600_000;
  assert.equal((await later.ask('GET', '/api/me')).status, 401);
});

test('a link opens the console once and soon, for whoever asked for it', async (t) => {
  const api = await Api.open(t);
  const { url, expiresAt } = await api.ok(api.post('/api/login-links'));
  const [, code] = /^http:\/\/127\.0\.0\.1:\d+\/#login=([\w-]{43})$/.exec(url) ?? [];
  assert.ok(code);
  assert.ok(expiresAt > api.stage.clock.now());
  const browser = new Browser(api.url);
  const { body } = await browser.login({ code });
  assert.deepEqual([body.by, body.scopes.length], ['ada', 4]);
  assert.equal((await new Browser(api.url).login({ code })).status, 401, 'a link is used up');

  const late = new URL((await api.ok(api.post('/api/login-links'))).url).hash.slice('#login='.length);
  api.stage.clock.aheadMs += 10 * 60_000;
  assert.equal((await new Browser(api.url).login({ code: late })).status, 401);
  const { secret } = await tokenOf(api, ['read']);
  const own = await api.ok(api.ask('POST', '/api/login-links', {}, { authorization: `Bearer ${secret}` }));
  const opened = await new Browser(api.url).login({ code: new URL(own.url).hash.slice('#login='.length) });
  assert.deepEqual(opened.body.scopes, ['read'], 'a link gives no more than its maker has');
  for (const bad of [{}, { token: 'x', code: 'y' }, { token: 7 }]) {
    assert.equal((await new Browser(api.url).login(bad)).status, 400);
  }
  await api.refused(api.post('/api/logout'), 409, 'wrong-state');
});

test('whoever guesses is made to wait, and whoever is known is not', async (t) => {
  const api = await Api.open(t);
  const guess = () => api.ask('GET', '/api/status', undefined, { authorization: 'Bearer guess' });
  let waits = 0;
  for (let i = 0; i < 30; i++) if ((await guess()).status === 429) waits++;
  assert.ok(waits >= 9, `${waits}`);
  const answer = await fetch(`${api.url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"token":"guess"}',
  });
  assert.equal(answer.status, 429);
  assert.ok(Number(answer.headers.get('retry-after')) >= 1);
  assert.equal((await api.get('/api/status')).status, 200);
  api.stage.clock.aheadMs += 60_000;
  await api.refused(guess(), 401, 'unauthorized');
});

test('who asks without end is answered later', async (t) => {
  const api = await Api.open(t);
  const { clock } = api.stage;
  // The clock stands, so that nothing is forgiven meanwhile.
  const now = clock.now();
  clock.now = () => now;
  const statuses = new Map<number, number>();
  for (let round = 0; round < 45; round++) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(`${api.url}/api/health`)));
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.equal(statuses.get(200), 4_000);
  assert.equal(statuses.get(429), 500);
});

test('the console is served, and nothing beside it', async (t) => {
  const api = await Api.open(t);
  const consoleDir = join(api.stage.folder, 'dist');
  mkdirSync(join(consoleDir, 'assets'), { recursive: true });
  writeFileSync(join(consoleDir, 'index.html'), '<!doctype html><title>Pawl</title>');
  writeFileSync(join(consoleDir, 'assets', 'main-1a2b.js'), 'export {};');
  writeFileSync(join(api.stage.folder, 'secret.txt'), 'nobody should see this');
  const served = await serve(api.stage.app, { port: 0, dataDir: join(api.stage.folder, 'data'), consoleDir });
  t.after(() => served.close());
  const get = (path: string, headers: Record<string, string> = {}) => raw(served.url, path, headers);
  for (const path of ['/', '/needs/mut_1', '/workflows/orders', '/index.html']) {
    const { status, headers, text } = await get(path);
    assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], path);
    assert.match(text, /<title>Pawl/);
    assert.match(String(headers['content-security-policy']), /script-src 'self'/);
    assert.equal(headers['cache-control'], 'no-cache');
  }
  const script = await get('/assets/main-1a2b.js');
  assert.deepEqual([script.status, script.headers['content-type']], [200, 'text/javascript; charset=utf-8']);
  assert.match(String(script.headers['cache-control']), /immutable/);
  const again = await get('/assets/main-1a2b.js', { 'if-none-match': String(script.headers.etag) });
  assert.deepEqual([again.status, again.text], [304, '']);
  for (const path of [
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/none.js',
    '/token',
    '//etc/passwd',
  ]) {
    const { text } = await get(path);
    assert.doesNotMatch(text, /nobody should see|root:|[0-9a-f]{64}/, path);
  }
  assert.equal((await get('/', { host: 'evil.example' })).status, 403);
  assert.match((await raw(api.url, '/', {})).text, /its console is not built|<title>/);
});

function raw(url: string, path: string, headers: Record<string, string>) {
  const { hostname: host, port } = new URL(url);
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const asked = request({ host, port, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

const PUBLIC = { publicUrl: 'https://pawl.example.com' };

test('nobody else reaches the engine unless the config says how, and somebody can get in', async (t: TestContext) => {
  const api = await Api.open(t);
  const dataDir = join(api.stage.folder, 'data');
  const start = (listen: string | undefined, config: unknown) =>
    serve(api.stage.app, { port: 0, dataDir, listen, config });
  await assert.rejects(start('0.0.0.0', undefined), { code: 'not-safe' });
  await assert.rejects(start('192.168.1.1', {}), { code: 'not-safe' });
  await assert.rejects(start('0.0.0.0', PUBLIC), { code: 'not-safe' }, 'nobody has a token');
  for (const publicUrl of ['pawl', 'ftp://x', 'http://pawl.example.com', 'https://a:b@x', 'https://x/path', 7]) {
    await assert.rejects(start(undefined, { publicUrl }), { code: 'config-invalid' }, `${publicUrl}`);
  }
  await assert.rejects(start(undefined, { public: 'x' }), { code: 'config-invalid' });

  const { secret } = await tokenOf(api, ['read']);
  const served = await start('0.0.0.0', PUBLIC);
  t.after(() => served.close());
  const { port } = new URL(served.url);
  const ask = (headers: Record<string, string>, path = '/api/me') =>
    raw(served.url, path, { authorization: `Bearer ${secret}`, ...headers });
  assert.equal((await ask({ host: 'pawl.example.com' })).status, 200);
  assert.equal((await ask({ host: 'pawl.example.com', origin: 'https://pawl.example.com' })).status, 200);
  assert.equal((await ask({ host: `127.0.0.1:${port}` })).status, 200);
  assert.equal((await ask({ host: `0.0.0.0:${port}` })).status, 403);
  assert.equal((await ask({ host: 'pawl.example.com', origin: 'http://pawl.example.com' })).status, 403);
  assert.match(String((await ask({ host: 'pawl.example.com' })).headers['strict-transport-security']), /max-age/);
  const health = JSON.parse((await ask({ host: 'pawl.example.com' }, '/api/health')).text);
  assert.deepEqual([health.ok, health.dataDir, health.pid], [true, null, null]);
  assert.match(served.loginUrl('ada'), /^https:\/\/pawl\.example\.com\/#login=/);
  const login = await fetch(`${served.url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: secret }),
  });
  assert.match(login.headers.get('set-cookie') ?? '', /; Secure/i);
});
