import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, open, plenty, startProvider } from './outside-world.ts';

test('no more calls run at once than the connection allows, first come first served', async (t) => {
  const waiting: (() => void)[] = [];
  let arrived = Promise.withResolvers<void>();
  const provider = await startProvider(t, (response) => {
    waiting.push(() => json(response, 200, {}));
    arrived.resolve();
  });
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, concurrency: 1 } });
  const calls = ['/1', '/2', '/3'].map((path) => connections.mutate('shop', 'post', { path }, plenty()));
  for (let i = 0; i < 3; i++) {
    await arrived.promise;
    arrived = Promise.withResolvers();
    assert.equal(provider.seen.length, i + 1);
    waiting.shift()?.();
  }
  await Promise.all(calls);
  assert.deepEqual(
    provider.seen.map(({ url }) => url),
    ['/1', '/2', '/3'],
  );
});

test('a call that waits for its turn past its deadline is not done, and gives its place up', async (t) => {
  const provider = await startProvider(t, (response) => json(response, 200, {}));
  const connections = open(t, { shop: { type: 'http', baseUrl: provider.url, concurrency: 1 } });
  const slot = await connections.admit('shop');
  const late = await connections.mutate('shop', 'post', { path: '/' }, plenty({ deadline: Date.now() + 50 }));
  assert.equal(late.kind === 'not_done' && late.error.class, 'transient');
  const stop = new AbortController();
  const stopped = connections.read('shop', 'get', { path: '/' }, { signal: stop.signal });
  stop.abort();
  assert.equal((await stopped).kind, 'not_done');
  assert.equal(provider.seen.length, 0);
  const admitted = await connections.mutate('shop', 'post', { path: '/' }, plenty({ slot }));
  assert.equal(admitted.kind, 'applied');
  assert.equal((await connections.read('shop', 'get', { path: '/' })).kind, 'answered', 'the slot came back');
});
