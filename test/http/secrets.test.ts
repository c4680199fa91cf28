import assert from 'node:assert/strict';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Api, type Json } from './api.ts';
import { GIVEN } from './scripts.ts';

const VALUE = 'sk_live_4242424242424242';

async function opened(t: Parameters<typeof Api.open>[0]): Promise<Api> {
  const api = await Api.open(t, { auth: { bearer: { secret: 'shop-token' } } });
  api.stage.secret = undefined;
  api.stage.outside.bearer = VALUE;
  return api;
}

const set = (api: Api, name: string, value: string) => api.ask('PUT', `/api/secrets/${name}`, { value });

test('a call waits for its secret, and goes on when it is set', async (t) => {
  const api = await opened(t);
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.until('the connection is refused', () => api.stage.workflow().holds.includes('connection'));
  const [need] = await api.needs();
  assert.match(need.sentence, /the secret "shop-token" is not set: pawl secret set shop-token/);
  assert.equal(api.stage.outside.effects.length, 0);

  const { version, connections, freed } = await api.ok(set(api, 'shop-token', VALUE));
  assert.deepEqual([version, connections, freed], [1, ['shop'], [api.stage.workflow().id]]);
  await api.stage.until('it went on', () => api.stage.outside.effects.length === 2);
  assert.deepEqual(await api.needs(), []);

  const { items } = await api.ok(api.get('/api/secrets'));
  assert.deepEqual(
    items.map(({ changedAt: _, ...row }: Json) => row),
    [{ name: 'shop-token', version: 1, changedBy: 'ada', connections: ['shop'], trouble: null }],
  );
  const said = (await api.ok(api.get('/api/audit?act=set%20secret'))).items.map((entry: Json) => entry.sentence);
  assert.deepEqual(said, ['ada set a secret (version 1)']);

  await api.ok(api.post('/api/secrets/shop-token/remove'));
  await api.refused(api.post('/api/secrets/shop-token/remove'), 404, 'not-found');
  assert.deepEqual((await api.ok(api.get('/api/secrets'))).items, []);
});

test('secrets are paged and searched; what does not fit is refused without being told again', async (t) => {
  const api = await opened(t);
  for (const name of ['mail', 'shop-a', 'shop-b', 'shop-c']) await api.ok(set(api, name, VALUE));
  const first = await api.ok(api.get('/api/secrets?limit=3'));
  assert.deepEqual(
    first.items.map(({ name }: Json) => name),
    ['mail', 'shop-a', 'shop-b'],
  );
  const rest = await api.ok(api.get(`/api/secrets?limit=3&after=${first.next}`));
  assert.deepEqual([rest.items.map(({ name }: Json) => name), rest.next], [['shop-c'], null]);
  assert.equal((await api.ok(api.get('/api/secrets?q=SHOP'))).items.length, 3);
  const bad = [
    set(api, 'shop%20a', VALUE),
    set(api, 'shop', 'abc'),
    api.ask('PUT', '/api/secrets/shop', { value: 4242424242424242 }),
    api.ask('PUT', '/api/secrets/shop', { value: VALUE, more: VALUE }),
    api.ask('PUT', '/api/secrets/shop', `{"value": ${VALUE}}`),
    api.ask('PUT', '/api/secrets/shop', `{"value": "${VALUE}`),
  ];
  for (const asked of bad) {
    const answer = await api.refused(asked, 400, 'invalid');
    assert.doesNotMatch(JSON.stringify(answer), /4242/);
  }
});

test('only whoever may do everything sets, removes or changes keys; nobody reads', async (t) => {
  const api = await opened(t);
  await api.ok(set(api, 'shop-token', VALUE));
  for (const scope of ['read', 'operate', 'edit']) {
    const { secret } = await api.ok(api.post('/api/tokens', { name: scope, scopes: [scope] }));
    const headers = { authorization: `Bearer ${secret}` };
    const asked = [
      api.ask('PUT', '/api/secrets/shop-token', { value: VALUE }, headers),
      api.ask('POST', '/api/secrets/shop-token/remove', {}, headers),
      api.ask('POST', '/api/rotate-key', {}, headers),
    ];
    for (const each of asked) await api.refused(each, 403, 'scope');
    const listed = await api.ok(api.ask('GET', '/api/secrets', undefined, headers));
    assert.doesNotMatch(JSON.stringify(listed), /4242|pawl1/);
  }
});

test('another master key, and none at all', async (t) => {
  const api = await opened(t);
  await api.ok(set(api, 'shop-token', VALUE));
  const file = join(api.stage.data, 'master.key');
  const before = readFileSync(file, 'utf8');
  const { resealed, place } = await api.ok(api.post('/api/rotate-key'));
  assert.deepEqual([resealed, place], [1, file]);
  assert.notEqual(readFileSync(file, 'utf8'), before);
  assert.equal(await api.stage.app.vault.reveal('shop-token'), VALUE);

  renameSync(file, `${file}.away`);
  const [{ trouble }] = (await api.ok(api.get('/api/secrets'))).items;
  assert.match(trouble, /the master key is missing/);
  const refused = await api.refused(set(api, 'mail', VALUE), 503, 'key-missing');
  assert.match(refused.next[0].label, /put the key into/);
  const { warnings } = await api.ok(api.get('/api/doctor'));
  assert.match(warnings[0].says, /shop-token.*master key is missing/);

  // A call that needs it waits like any other without credentials.
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.until('the connection is refused', () => api.stage.workflow().holds.includes('connection'));
  assert.match((await api.needs())[0].sentence, /the master key is missing/);
  renameSync(`${file}.away`, file);
  await api.ok(api.post('/api/connections/shop/cure'));
  await api.stage.until('it went on', () => api.stage.outside.effects.length === 2);
});
