import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallInvalidError, type Outcome, type ReadOutcome } from '#connector';
import { json, open, plenty, startProvider } from './outside-world.ts';

const TOKEN = 'tok-"7f3a/9c+1';

function withSecrets(names: Record<string, string>): { resolveSecret: (name: string) => string | undefined } {
  return { resolveSecret: (name) => names[name] };
}

test('path, query, headers and form are sent as given, under the path of baseUrl', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, {}));
  const connections = open(t, { shop: { type: 'http', baseUrl: `${provider.url}/api/v1/` } });
  await connections.read('shop', 'get', { path: '/orders?page=2', query: { after: 'ä b', n: 3, tag: ['x', 'y'] } });
  await connections.mutate(
    'shop',
    'put',
    { path: '/o/7', form: { a: '1 2', b: true }, headers: { 'X-Why': 'test' } },
    plenty(),
  );
  await connections.mutate('shop', 'delete', { path: '/o/7' }, plenty());
  await connections.mutate('shop', 'patch', { path: '/o/7', text: 'héllo' }, plenty());
  const [get, put, del, patch] = provider.seen;
  assert.equal(get?.url, '/api/v1/orders?page=2&after=%C3%A4+b&n=3&tag=x&tag=y');
  assert.equal(get?.headers['idempotency-key'], undefined);
  assert.deepEqual([put?.method, put?.url, put?.body], ['PUT', '/api/v1/o/7', 'a=1+2&b=true']);
  assert.equal(put?.headers['x-why'], 'test');
  assert.equal(put?.headers['content-type'], 'application/x-www-form-urlencoded');
  assert.deepEqual([del?.method, del?.body], ['DELETE', '']);
  assert.deepEqual([patch?.body, patch?.headers['content-type']], ['héllo', 'text/plain; charset=utf-8']);
});

test('the idempotency header has the name the operator gave, or is not sent', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, {}));
  const connections = open(t, {
    named: { type: 'http', baseUrl: provider.url, idempotencyHeader: 'X-Request-Id' },
    none: { type: 'http', baseUrl: provider.url, idempotencyHeader: false },
  });
  const sneaky = { path: '/', headers: { 'x-request-id': 'mine' } };
  await connections.mutate('named', 'post', sneaky, plenty({ idempotencyKey: 'key-a' }));
  await connections.mutate('none', 'post', { path: '/' }, plenty({ idempotencyKey: 'key-b' }));
  assert.deepEqual(
    provider.seen.map(({ headers }) => [headers['x-request-id'], headers['idempotency-key']]),
    [
      ['key-a', undefined],
      [undefined, undefined],
    ],
  );
});

test('secrets are read at each call, sent, and cannot be replaced by a script', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, {}));
  const secrets: Record<string, string> = { token: 'first-token' };
  const connections = open(
    t,
    { shop: { type: 'http', baseUrl: provider.url, headers: { 'X-Api-Key': { secret: 'token' } } } },
    withSecrets(secrets),
  );
  await connections.read('shop', 'get', { path: '/', headers: { 'x-api-key': 'forged' } });
  secrets.token = 'second-token';
  await connections.read('shop', 'get', { path: '/' });
  assert.deepEqual(
    provider.seen.map(({ headers }) => headers['x-api-key']),
    ['first-token', 'second-token'],
  );
});

test('bearer and basic credentials are made from secrets', async (t) => {
  const provider = await startProvider(t, (response, { headers }) =>
    json(response, 200, { got: headers.authorization }),
  );
  const connections = open(
    t,
    {
      bearer: { type: 'http', baseUrl: provider.url, auth: { bearer: { secret: 'token' } } },
      basic: { type: 'http', baseUrl: provider.url, auth: { user: 'ann', password: { secret: 'token' } } },
    },
    withSecrets({ token: TOKEN }),
  );
  const answers = [
    await connections.read('bearer', 'get', { path: '/' }),
    await connections.read('basic', 'get', { path: '/' }),
  ];
  assert.deepEqual(
    provider.seen.map(({ headers }) => headers.authorization),
    [`Bearer ${TOKEN}`, `Basic ${Buffer.from(`ann:${TOKEN}`).toString('base64')}`],
  );
  assert.deepEqual(
    answers.map((answer) => (answer as { result: { body: unknown } }).result.body),
    [{ got: 'Bearer [secret token]' }, { got: 'Basic [secret token]' }],
  );
});

test('no answer, error or preview carries a secret, however the provider spells it', async (t) => {
  const spellings = [
    TOKEN,
    JSON.stringify(TOKEN),
    encodeURIComponent(TOKEN),
    Buffer.from(TOKEN).toString('base64'),
    ...['x', 'xy', 'xyz'].map((before) => Buffer.from(`${before}${TOKEN}!`).toString('base64').slice(4, -8)),
    ...['x', 'xy', 'xyz'].map((before) => Buffer.from(`${before}${TOKEN}!`).toString('base64')),
  ].join(' ');
  const provider = await startProvider(t, (response, { url }) => {
    if (url === '/refuse') return json(response, 422, { [TOKEN]: spellings });
    if (url === '/fail') return json(response, 500, { deep: [{ spellings }] });
    json(response, 200, { [TOKEN]: [{ spellings }] }, { 'x-echo': TOKEN });
  });
  const connections = open(
    t,
    { shop: { type: 'http', baseUrl: provider.url, headers: { 'X-Key': { secret: 'token' } } } },
    withSecrets({ token: TOKEN }),
  );
  const told: (Outcome | ReadOutcome | string)[] = [
    connections.describeCall('shop', 'post', { path: '/' }).preview,
    await connections.read('shop', 'get', { path: '/' }),
    await connections.read('shop', 'get', { path: '/fail' }),
    ...(await Promise.all(
      ['/', '/refuse', '/fail'].map((path) => connections.mutate('shop', 'post', { path }, plenty())),
    )),
  ];
  const text = JSON.stringify(told);
  for (const spelling of [
    TOKEN,
    JSON.stringify(TOKEN).slice(1, -1),
    encodeURIComponent(TOKEN),
    Buffer.from(TOKEN).toString('base64'),
  ]) {
    assert.ok(!text.includes(spelling) && !text.includes(JSON.stringify(spelling).slice(1, -1)), text);
  }
  assert.ok(text.includes('[secret token]'));
});

test('a secret that is missing, broken or unfit is refused credentials, and nothing is sent', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, {}));
  const config = { shop: { type: 'http', baseUrl: provider.url, auth: { bearer: { secret: 'token' } } } };
  const sources = [
    () => undefined,
    () => {
      throw new Error('vault is shut');
    },
    () => 'abc\ndef',
  ];
  const messages: string[] = [];
  for (const resolveSecret of sources) {
    const outcome = await open(t, config, { resolveSecret }).mutate('shop', 'post', { path: '/' }, plenty());
    assert.equal(outcome.kind === 'not_done' && outcome.error.class, 'auth');
    messages.push(outcome.kind === 'not_done' ? outcome.error.message : '');
  }
  assert.match(messages[0] ?? '', /"token" is not set/);
  assert.match(messages[1] ?? '', /"token" could not be read/);
  assert.match(messages[2] ?? '', /line break/);
  assert.equal(provider.seen.length, 0);
});

test('the preview is what will be sent, formatted, without secrets', (t) => {
  const connections = open(t, {
    shop: {
      type: 'http',
      baseUrl: 'https://api.example.com/v1',
      headers: { 'X-Team': 'blue', 'X-Key': { secret: 'key' } },
      auth: { bearer: { secret: 'token' } },
      visibilityMs: 0,
      timeoutMs: 5_000,
      costPerCall: 0.5,
      approval: { post: 'always' },
    },
  });
  const args = { path: '/bookings', query: { dry: false }, json: { id: 'A1' }, headers: { Cookie: 'session=1' } };
  const { preview, ...rest } = connections.describeCall('shop', 'post', args);
  assert.equal(
    preview,
    [
      'POST https://api.example.com/v1/bookings?dry=false',
      'Accept-Encoding: identity',
      'Content-Type: application/json',
      'Cookie: [hidden]',
      'Idempotency-Key: (made from the events and the call)',
      'X-Team: blue',
      'X-Key: [secret key]',
      'Authorization: Bearer [secret token]',
      '',
      '{',
      '  "id": "A1"',
      '}',
    ].join('\n'),
  );
  assert.deepEqual(rest, {
    args,
    target: '/bookings',
    timeoutMs: 5_000,
    cost: 0.5,
    canReconcile: false,
    visibilityMs: 0,
    approval: 'always',
  });
  assert.equal(connections.costOf('shop'), 0.5);
  const form = connections.describeCall('shop', 'put', { path: '/', form: { a: '1 2' } }).preview;
  assert.ok(form.endsWith('\n\na = 1 2'), form);
  assert.match(
    connections.describeCall('shop', 'post', { path: '/', text: 'x'.repeat(20_000) }).preview,
    /more characters$/,
  );
});

for (const [path, message] of [
  ['orders', /must begin with one "\/"/],
  ['//evil.example/x', /must begin with one "\/"/],
  ['http://evil.example/', /whole URL/],
  ['/../admin', /"\." or "\.\." segments/],
  ['/a/%2e%2E/admin', /segments/],
  ['/a%2f..%2fadmin', /segments/],
  ['/a\\b', /backslash/],
  ['/a b', /space/],
  ['/a\r\nX: 1', /control character/],
  ['/a#b', /"#"/],
] as const) {
  test(`the path ${JSON.stringify(path)} is refused before anything is sent`, (t) => {
    const connections = open(t, { shop: { type: 'http', baseUrl: 'http://127.0.0.1:1' } });
    assert.throws(() => connections.describeCall('shop', 'post', { path }), { code: 'invalid-arguments', message });
  });
}

test('arguments that make no sense are refused with the field and the reason', (t) => {
  const connections = open(t, { shop: { type: 'http', baseUrl: 'http://127.0.0.1:1' } });
  const refusals: [unknown, RegExp][] = [
    [undefined, /path is missing: it must be a string/],
    [{ path: '/', json: {}, form: {} }, /give one of json and form/],
    [{ path: '/', body: 'x' }, /unknown field "body"/],
    [{ path: '/', headers: { Host: 'evil' } }, /Host is set by the engine/],
    [{ path: '/', headers: { 'content-length': '3' } }, /content-length is set by the engine/],
    [{ path: '/', headers: { 'X-A': 'a\r\nX-B: b' } }, /without control characters/],
    [{ path: '/', headers: { 'X A': 'a' } }, /not a header name/],
    [{ path: '/', query: { a: { b: 1 } } }, /query\.a: must be a text, a number or true\/false/],
  ];
  for (const [args, message] of refusals) {
    assert.throws(
      () => connections.describeCall('shop', 'post', args),
      (error: unknown) => {
        assert.ok(error instanceof CallInvalidError);
        assert.equal(error.code, 'invalid-arguments');
        assert.match(error.message, message);
        return true;
      },
    );
  }
});

test('unknown connections and methods are named, with what was likely meant', async (t) => {
  const connections = open(t, { shop: { type: 'http', baseUrl: 'http://127.0.0.1:1' } });
  assert.throws(() => connections.describeCall('shp', 'post', {}), {
    code: 'unknown-connection',
    message: /did you mean "shop"/,
  });
  assert.throws(() => connections.describeCall('shop', 'pst', {}), {
    code: 'unknown-method',
    message: /did you mean "post"/,
  });
  assert.throws(() => connections.describeCall('shop', 'get', {}), { code: 'unknown-method', message: /is a read/ });
  assert.throws(() => connections.describeRead('shop', 'post', {}), { code: 'unknown-method', message: /only mutate/ });
  assert.throws(() => connections.describeCall('shop', 'constructor', {}), { code: 'unknown-method' });
  const outcome = await connections.read('shop', 'fetch', {});
  assert.equal(outcome.kind === 'not_done' && outcome.error.class, 'logic');
});

test('a person may give the body alone, everything, or nothing as the result', (t) => {
  const connections = open(t, { shop: { type: 'http', baseUrl: 'http://127.0.0.1:1' } });
  assert.deepEqual(connections.checkResult('shop', 'post', { body: { ref: 1 } }), {
    status: 200,
    headers: {},
    body: { ref: 1 },
  });
  assert.equal(connections.checkResult('shop', 'post', null), null);
  assert.throws(() => connections.checkResult('shop', 'post', { ref: 1 }), {
    code: 'invalid-result',
    message: /unknown field "ref"/,
  });
});
