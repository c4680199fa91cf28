import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigInvalidError, catalogueOf, openConnections } from '#connector';
import { json, open, startProvider, temporaryFolder } from './outside-world.ts';

const http = { type: 'http', baseUrl: 'https://api.example.com' };

for (const [what, connection, message] of [
  ['an unknown type', { type: 'htp' }, /connections\.it: unknown type "htp"; did you mean "http"\?/],
  ['a type far from any', { type: 'telegram' }, /the types are http, files/],
  ['no type', {}, /type is missing: it must be one of http, files/],
  ['something that is no object', 'http', /must be an object/],
  ['no baseUrl', { type: 'http' }, /baseUrl is missing/],
  ['a baseUrl that is no URL', { type: 'http', baseUrl: 'api.example.com' }, /"api\.example\.com" is not a URL/],
  ['a baseUrl of another scheme', { type: 'http', baseUrl: 'ftp://x' }, /only http: and https:/],
  ['a password in baseUrl', { type: 'http', baseUrl: 'https://a:hunter2@x' }, /holds a password/],
  ['a query in baseUrl', { type: 'http', baseUrl: 'https://x/?a=1' }, /no "\?"/],
  ['a mistyped field', { ...http, timeoutMS: 5 }, /unknown field "timeoutMS"; did you mean "timeoutMs"\?/],
  ['an unknown field', { ...http, retries: 5 }, /unknown field "retries"; the fields are type, baseUrl/],
  ['a timeout that is none', { ...http, timeoutMs: -1 }, /timeoutMs:/],
  ['a header that is no text', { ...http, headers: { a: 5 } }, /headers\.a: must be a text or a secret/],
  ['a header name that is none', { ...http, headers: { 'a b': 'x' } }, /headers\.a b: is not a header name/],
  ['a framing header', { ...http, headers: { Host: 'x' } }, /set by the engine/],
  ['credentials of no known kind', { ...http, auth: { token: 'x' } }, /auth: must be \{ bearer/],
  ['a status that cannot mean not done', { ...http, notDone: [200] }, /notDone\.0/],
  ['an origin with a path', { ...http, origins: ['https://x/y'] }, /not an origin/],
  ['a reconcile rule without get', { ...http, reconcile: { applied: {} } }, /reconcile\.get is missing/],
  [
    'a reconcile rule with an unknown hole',
    { ...http, reconcile: { get: '/x/{body.id}' } },
    /\{body\.id\} is not known/,
  ],
  [
    'a reconcile path that leads nowhere',
    { ...http, reconcile: { get: '/x', applied: { has: { items: 1 } } } },
    /must begin with body/,
  ],
  ['an approval of no mutation', { ...http, approval: { get: 'always' } }, /"get" is no mutation of http/],
  ['files without root', { type: 'files' }, /root is missing/],
  ['files with an unknown field', { type: 'files', root: '.', roots: [] }, /did you mean "root"\?/],
] as const) {
  test(`a connection with ${what} is refused with a clear message`, () => {
    assert.throws(
      () => openConnections({ connections: { it: connection } }),
      (error: unknown) => {
        assert.ok(error instanceof ConfigInvalidError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes('hunter2'));
        return true;
      },
    );
  });
}

test('every problem of every connection is listed', () => {
  assert.throws(
    () => openConnections({ connections: { a: { type: 'http' }, b: { type: 'files' }, 'c!': http, log: http } }),
    (error: unknown) => error instanceof ConfigInvalidError && error.problems.length === 4,
  );
  assert.throws(() => openConnections({ connections: [] }), /connections must be an object/);
});

test('a config without connections opens, and knows the connectors', () => {
  const catalogue = openConnections({}).describe();
  assert.deepEqual(catalogue, {
    connectors: {
      http: { reads: ['get', 'head'], mutations: ['post', 'put', 'patch', 'delete'] },
      files: { reads: ['list', 'read'], mutations: ['append', 'write'] },
    },
    connections: {},
  });
  assert.deepEqual(catalogueOf(), catalogue.connectors);
});

test('the catalogue names each connection and its type', (t) => {
  const connections = open(t, { shop: http, book: { type: 'files', root: temporaryFolder(t) } });
  assert.deepEqual(connections.describe().connections, { shop: 'http', book: 'files' });
});

test('what a connection does not say: http shows nothing about visibility, files show at once', (t) => {
  const connections = open(t, { shop: http, book: { type: 'files', root: temporaryFolder(t) } });
  const post = connections.describeCall('shop', 'post', { path: '/' });
  assert.deepEqual([post.visibilityMs, post.timeoutMs, post.cost, post.approval], [undefined, 30_000, 0, 'never']);
  assert.equal(connections.describeCall('book', 'append', { path: 'a', text: 'x' }).visibilityMs, 0);
});

test('a test of a connection says whether its credentials are taken', async (t) => {
  const provider = await startProvider(t, (response, { url, headers }) => {
    json(response, headers['x-key'] === 'right-key' ? (url === '/me' ? 200 : 500) : 401, {});
  });
  let key = 'wrong-key';
  const config = { type: 'http', baseUrl: provider.url, headers: { 'X-Key': { secret: 'key' } }, testPath: '/me' };
  const connections = open(
    t,
    {
      shop: config,
      good: { type: 'files', root: temporaryFolder(t) },
      gone: { type: 'files', root: '/no/such/folder' },
    },
    { resolveSecret: () => key },
  );
  const refused = await connections.test('shop');
  assert.equal(refused.kind === 'not_done' && refused.error.class, 'auth');
  key = 'right-key';
  assert.equal((await connections.test('shop')).kind, 'answered');
  assert.equal((await connections.test('good')).kind, 'answered');
  const gone = await connections.test('gone');
  assert.equal(gone.kind === 'not_done' && gone.error.class, 'transient');
});
