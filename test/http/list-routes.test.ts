import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { ROUTES, type Route } from '#http';
import { Api, type Json } from './api.ts';
import { POLLED } from './scripts.ts';

// Every list, found by the shape of its answer: a list that is added is walked by being there.

const LISTS = ROUTES.filter(isList);

function isList({ method, answer }: Route): boolean {
  return method === 'GET' && answer instanceof z.ZodObject && 'items' in answer.shape && 'next' in answer.shape;
}

/** The best of what fits; a line a rule: no lists to page through. */
const NOT_PAGED = ['/api/search', '/api/doctor'];
const PAGING = ['after', 'limit', 'q', 'order'];

test('every list is paged, searched and filtered', () => {
  assert.ok(LISTS.length > 20);
  for (const { path, query } of LISTS) {
    if (NOT_PAGED.includes(path)) continue;
    const takes = Object.keys(query.shape);
    for (const name of ['after', 'limit', 'q']) assert.ok(takes.includes(name), `${path} takes ${name}`);
    assert.ok(
      takes.some((name) => !PAGING.includes(name)),
      `${path} is filtered by something`,
    );
  }
});

/** Two workflows with a history, three versions, things that wait, and people who came in. */
async function lived(t: Parameters<typeof Api.open>[0]): Promise<Api> {
  const api = await Api.open(t);
  const { outside } = api.stage;
  outside.pages.set(
    '/orders',
    ['o1', 'o2', 'o3'].map((id) => ({ id })),
  );
  await api.deploy(POLLED);
  await api.deploy(POLLED.replace("name: 'orders'", "name: 'returns'"));
  await api.stage.quiet();
  for (const word of ['Booking ', 'Booked ']) await api.deploy(POLLED.replace("'Book '", `'${word}'`));
  for (const name of ['shop-token', 'mail-token', 'bank-token']) {
    await api.ok(api.ask('PUT', `/api/secrets/${name}`, { value: 'a value that is long enough' }));
  }
  for (const name of ['ci', 'ada', 'ben']) await api.ok(api.post('/api/tokens', { name, scopes: ['read'] }));
  await api.stage.quiet();
  for (const name of ['orders', 'returns']) await api.publish(name, 'poison1', 'poison2');
  await api.stage.until('both need a repair', () =>
    api.stage.reader.table('workflows').every((row) => row.maintenance),
  );
  return api;
}

async function walked(api: Api, path: string, limit: number): Promise<Json[]> {
  const found: Json[] = [];
  let after: string | null = '';
  for (let pages = 0; after !== null; pages++) {
    assert.ok(pages < 200, `${path} has no end`);
    const cursor: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`;
    const page: Json = await api.ok(api.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`));
    assert.ok(page.items.length <= limit, `${path} keeps to its limit`);
    found.push(...page.items);
    after = page.next;
  }
  return found;
}

test('page by page every list tells the same as at once, each thing once; what fits nothing finds nothing', async (t) => {
  const api = await lived(t);
  const seen: string[] = [];
  for (const { path } of LISTS) {
    if (NOT_PAGED.includes(path)) continue;
    const at = path.replace('{workflow}', 'orders');
    await t.test(at, async () => {
      // Times go on while one reads.
      const still = (items: Json[]): string[] => items.map(({ ageMs: _, ...item }) => JSON.stringify(item));
      const whole = await walked(api, at, 1_000);
      assert.deepEqual(still(await walked(api, at, 1)), still(whole));
      assert.deepEqual(await walked(api, `${at}?q=nothing%20has%20this%20in%20it`, 1_000), []);
      if (whole.length > 1) seen.push(path);
    });
  }
  for (const path of ['/api/needs', '/api/tokens', '/api/secrets', '/api/grants', '/api/backlog', '/api/audit'])
    assert.ok(seen.includes(path), `there are several of ${path}`);
});

test('lists are filtered by what their things are', async (t) => {
  const api = await lived(t);
  const names = async (path: string): Promise<string[]> =>
    (await walked(api, path, 1_000)).map((item) => item.name ?? item.handler ?? item.version);
  assert.deepEqual(await names('/api/status?kind=repair'), ['orders', 'returns']);
  assert.deepEqual(await names('/api/status?kind=idle'), []);
  assert.deepEqual(await names('/api/status?workflow=orders&q=needs%20a%20repair'), ['orders']);
  assert.deepEqual(await names('/api/needs?kind=repair&workflow=returns'), ['returns']);
  assert.deepEqual(await names('/api/needs?kind=approval'), []);
  assert.deepEqual(await names('/api/backlog?workflow=orders'), ['orders']);
  assert.deepEqual(
    (await walked(api, '/api/workflows/orders/versions', 1)).map(({ version }) => version),
    ['1.2', '1.1', '1.0'],
  );
  assert.equal((await names('/api/workflows/orders/versions?author=nobody')).length, 0);
  assert.equal((await names('/api/workflows/orders/versions?order=oldest&q=1.1')).length, 1);
  assert.deepEqual(await names('/api/workflows/orders/state?handler=poll'), ['poll']);
  assert.deepEqual(await names('/api/connections?status=refused'), []);
  assert.deepEqual(await names('/api/connections?type=http&q=shop'), ['shop']);
  assert.deepEqual(await names('/api/secrets?connection=nobody'), []);
  assert.deepEqual(await names('/api/tokens?kind=token&state=good'), ['ben', 'ada', 'ci']);
  assert.deepEqual(await names('/api/tokens?state=revoked'), []);
  const grants = await walked(api, '/api/grants?connection=shop&method=post', 1_000);
  assert.deepEqual(
    grants.map(({ name, sentence }) => [name, sentence]),
    [
      ['orders', 'may change things at shop (post): /bookings'],
      ['returns', 'may change things at shop (post): /bookings'],
    ],
  );
  assert.deepEqual((await names('/api/grants?workflow=orders&kind=read')).length, 1);
  assert.ok((await walked(api, '/api/workflows/orders/logs?to=1', 1_000)).length === 0);
  await api.refused(api.get('/api/needs?after=somewhere'), 400, 'invalid');
});

test('an input is listed with the versions that worked on it, and found by each of them', async (t) => {
  const api = await Api.open(t);
  const { outside } = api.stage;
  outside.pages.set('/orders', [{ id: 'o1' }]);
  await api.deploy(POLLED);
  await api.stage.quiet();
  outside.pages.set('/orders', [{ id: 'o1' }, { id: 'o2' }]);
  await api.deploy(POLLED.replace("'Book '", "'Booking '"));
  await api.stage.quiet();
  const listed = async (query: string): Promise<unknown[]> =>
    (await walked(api, `/api/workflows/orders/inputs?${query}`, 1_000)).map(({ title, versions }) => [title, versions]);
  assert.deepEqual(await listed('version=1.0'), [['Order o1', ['1.0']]]);
  assert.deepEqual(await listed('version=1.1'), [['Order o2', ['1.1']]]);
  assert.deepEqual(await listed('version=9.9'), []);
  const [input] = await walked(api, '/api/inputs?q=o2', 1_000);
  assert.deepEqual((await api.ok(api.get(`/api/inputs/${input.id}`))).row.versions, ['1.1']);
  // Done again under the version of now, it is of both.
  const { events } = await api.ok(api.get(`/api/inputs/${(await walked(api, '/api/inputs?q=o1', 1)).at(0)?.id}`));
  await api.ok(api.post('/api/events/redo', { events: [events[0].id] }));
  await api.stage.quiet();
  assert.deepEqual(await listed('version=1.1&order=oldest'), [
    ['Order o1', ['1.0', '1.1']],
    ['Order o2', ['1.1']],
  ]);
});
