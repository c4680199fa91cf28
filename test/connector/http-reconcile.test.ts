import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reconciled } from '#connector';
import { json, open, startProvider } from './outside-world.ts';

const byList = {
  get: '/bookings?ref={json.id}',
  applied: { status: 200, has: { 'body.items[*].ref': '{json.id}', 'body.items[*].state': 'done' } },
  failed: { status: 200, hasNot: { 'body.items[*].ref': '{json.id}' } },
  result: 'body.items[*]',
};

const recorded = { args: { path: '/bookings', json: { id: 'A 1' } }, idempotencyKey: 'key-1', startedAt: 0 };

function messageOf(reconciled: Reconciled): string {
  assert.equal(reconciled.kind, 'retry', JSON.stringify(reconciled));
  return reconciled.kind === 'retry' ? reconciled.message : '';
}

test('a lookup in a list finds the element the call made, and gives it as the result', async (t) => {
  let items: unknown = [];
  const provider = await startProvider(t, (response) => json(response, 200, { items }));
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, reconcile: byList } });
  assert.equal(connections.describeCall('shop', 'post', recorded.args).canReconcile, true);
  assert.deepEqual(await connections.reconcile('shop', 'post', recorded), { kind: 'failed' });
  items = [
    { ref: 'Z', state: 'done' },
    { ref: 'A 1', state: 'done', n: 7 },
  ];
  const found = await connections.reconcile('shop', 'post', recorded);
  assert.equal(found.kind, 'applied');
  assert.deepEqual((found as { result: { body: unknown } }).result.body, { ref: 'A 1', state: 'done', n: 7 });
  assert.equal(provider.seen[0]?.url, '/bookings?ref=A%201');
  assert.equal(provider.seen[0]?.method, 'GET');
});

test('conditions on a list hold for one and the same element', async (t) => {
  const items = [
    { ref: 'Z', state: 'done' },
    { ref: 'A 1', state: 'waiting' },
  ];
  const provider = await startProvider(t, (response) => json(response, 200, { items }));
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, reconcile: byList } });
  assert.match(messageOf(await connections.reconcile('shop', 'post', recorded)), /neither/);
});

test('a lookup by status: 200 is applied, 404 is failed, anything else is asked again', async (t) => {
  let status = 200;
  const provider = await startProvider(t, (response) => json(response, status, { id: 7 }, { 'retry-after': '3' }));
  const rule = { get: '/bookings/{key}', applied: { has: { 'body.id': '{json.id}' } }, failed: { status: 404 } };
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, reconcile: rule } });
  const call = { ...recorded, args: { path: '/bookings', json: { id: '7' } } };
  assert.equal((await connections.reconcile('shop', 'post', call)).kind, 'applied');
  status = 404;
  assert.deepEqual(await connections.reconcile('shop', 'post', call), { kind: 'failed' });
  status = 503;
  const later = await connections.reconcile('shop', 'post', call);
  assert.equal(later.kind === 'retry' && later.afterMs, 3_000);
  status = 401;
  const refused = await connections.reconcile('shop', 'post', call);
  assert.equal(refused.kind === 'retry' && refused.error?.class, 'auth');
  status = 410;
  assert.match(messageOf(await connections.reconcile('shop', 'post', call)), /410 fits neither/);
});

test('an answer in which the thing could not have stood never means failed', async (t) => {
  const bodies = ['<h1>maintenance</h1>', '{}', '{"items":null}', '""', ''];
  let body = '';
  const provider = await startProvider(
    t,
    (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(body),
  );
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, reconcile: byList } });
  for (body of bodies) messageOf(await connections.reconcile('shop', 'post', recorded));
});

test('a call without what the rule needs is never guessed about', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, { items: [] }));
  const rules = [
    { for: { path: '/a' }, get: '/x/{json.id}', failed: { status: 200 } },
    { for: { path: '/b' }, get: '/x', failed: { hasNot: { 'body.items[*].id': '{json.id}' } } },
    { for: { path: '/c' }, get: '/x', applied: { status: 200 }, failed: { status: 200 } },
  ];
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, reconcile: rules } });
  const reconcile = (path: string) => connections.reconcile('shop', 'post', { ...recorded, args: { path, json: {} } });
  assert.match(messageOf(await reconcile('/a')), /nothing to put in "\/x\/\{json.id\}"/);
  assert.match(messageOf(await reconcile('/b')), /nothing to put in/);
  assert.match(messageOf(await reconcile('/c')), /fits both/);
  assert.match(messageOf(await reconcile('/d')), /no reconcile rule/);
});

test('a rule holds for the methods and paths it names', (t) => {
  const rule = { for: { methods: ['post'], path: '/shops/*/bookings' }, get: '/x' };
  const connections = open(t, { shop: { type: 'http', baseUrl: 'http://127.0.0.1:1', reconcile: [rule] } });
  const can = (method: string, path: string) => connections.describeCall('shop', method, { path }).canReconcile;
  assert.equal(can('post', '/shops/7/bookings?x=1'), true);
  assert.equal(can('put', '/shops/7/bookings'), false);
  assert.equal(can('post', '/shops/7/8/bookings'), false);
});

test('a lookup that cannot be made is asked again', async (t) => {
  const provider = await startProvider(t, (_response, _seen, request) => request.socket.destroy());
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, reconcile: byList } });
  const reconciled = await connections.reconcile('shop', 'post', recorded);
  assert.equal(reconciled.kind === 'retry' && reconciled.error?.class, 'transient');
});

test('http has no result to assume', async (t) => {
  const connections = open(t, { shop: { type: 'http', baseUrl: 'http://127.0.0.1:1' } });
  assert.equal(await connections.assumedResult('shop', 'post', recorded), undefined);
});
