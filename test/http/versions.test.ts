import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from './api.ts';
import { GIVEN } from './scripts.ts';

const changed = (title: string) => GIVEN.replace("title: 'Book '", `title: '${title} '`);

test('a script becomes a version, takes over, and can be undone', async (t) => {
  const api = await Api.open(t);
  const first = await api.deploy(GIVEN);
  assert.deepEqual(
    [first.version, first.isNew, first.activated, first.status, first.undo, first.inFlight],
    ['1.0', true, true, 'active', ['pawl', 'pause', 'orders'], []],
  );
  assert.deepEqual(first.findings, []);

  const again = await api.deploy(GIVEN, { base: '1.0' });
  assert.deepEqual([again.version, again.isNew, again.activated, again.script], ['1.0', false, true, first.script]);

  const second = await api.deploy(changed('Reserve'), { base: '1.0' });
  assert.deepEqual([second.version, second.undo], ['1.1', ['pawl', 'rollback', 'orders', '1.0']]);
  const repeated = await api.deploy(changed('Reserve'), { base: '1.0' });
  assert.deepEqual([repeated.version, repeated.isNew], ['1.1', false], 'the same deployment twice is one');

  const waiting = await api.deploy(changed('Buy'), { activate: false, major: true });
  assert.deepEqual([waiting.version, waiting.activated, waiting.undo], ['2.0', false, null]);

  const { items } = await api.ok(api.get('/api/workflows/orders/versions'));
  assert.deepEqual(
    items.map(({ version, active, createdBy }: never) => [version, active, createdBy]),
    [
      ['2.0', false, 'ada'],
      ['1.1', true, 'ada'],
      ['1.0', false, 'ada'],
    ],
  );
  const page = await api.ok(api.get('/api/workflows/orders/versions?limit=2'));
  const rest = await api.ok(api.get(`/api/workflows/orders/versions?limit=2&after=${page.next}`));
  assert.deepEqual([page.items.length, rest.items.length, rest.next], [2, 1, null]);

  const status = await api.status();
  assert.ok(
    status.next.some(({ argv }: { argv?: string[] }) => argv?.join(' ') === 'pawl rollback orders'),
    'a version that is new may be the wrong one',
  );
  const back = await api.ok(api.post('/api/workflows/orders/rollback'));
  assert.deepEqual([back.version, back.undo], ['1.0', ['pawl', 'rollback', 'orders', '1.1']]);
  await api.refused(api.post('/api/workflows/orders/rollback'), 404, 'not-found');
  const forth = await api.ok(api.post('/api/workflows/orders/rollback', { version: '2.0' }));
  assert.equal(forth.version, '2.0');
  await api.refused(api.post('/api/workflows/orders/rollback', { version: '9.9' }), 404, 'not-found');
  await api.refused(api.post('/api/workflows/orders/rollback', { version: 9 }), 400, 'invalid');
});

test('nobody is led back to a version that was gone back from', async (t) => {
  const api = await Api.open(t);
  const back = async () => (await api.ok(api.post('/api/workflows/orders/rollback'))).version;
  for (const title of ['First', 'Bad']) await api.deploy(changed(title));
  assert.equal(await back(), '1.0');
  await api.deploy(changed('Third'));
  const { next } = await api.status();
  const step = next.find(({ argv }: { argv?: string[] }) => argv?.join(' ') === 'pawl rollback orders');
  assert.equal(step?.label, 'go back to version 1.0');
  assert.equal(await back(), '1.0');
  await api.refused(api.post('/api/workflows/orders/rollback'), 404, 'not-found');
});

test('what cannot be deployed is refused, and nothing is kept of it', async (t) => {
  const api = await Api.open(t);
  const good = await api.bundled(GIVEN);
  const deploy = (body: object) => api.post('/api/deploy', { ...good, ...body });
  await api.refused(deploy({ name: 'other' }), 400, 'invalid');
  await api.refused(deploy({ code: undefined }), 400, 'invalid');
  await api.refused(deploy({ contentHash: 'x' }), 400, 'invalid');
  await api.refused(deploy({ base: '1.0' }), 404, 'not-found');
  const throwing = await api.refused(deploy({ code: `throw new Error('no');` }), 422, 'script-invalid');
  assert.match(throwing.findings[0].message, /fails while it is loaded/);
  const empty = await api.refused(deploy({ code: 'globalThis.__pawl_workflow = 7;' }), 422, 'script-invalid');
  assert.equal(empty.findings[0].severity, 'error');
  await api.refused(deploy({ sourceMap: 'none' }), 422, 'script-invalid');
  const nameless = good.code.replace('name: "orders"', 'name: "or ders"');
  assert.notEqual(nameless, good.code);
  await api.refused(deploy({ code: nameless, name: 'or ders' }), 422, 'script-invalid');
  const elsewhere = await api.bundled(GIVEN.replaceAll('shop', 'store'));
  const unknown = await api.refused(api.post('/api/deploy', elsewhere), 409, 'unknown-connection');
  assert.match(unknown.detail, /uses connection store of type http/);
  assert.match(unknown.why, /its connections are shop \(http\)/);
  const { items } = await api.ok(api.get('/api/workflows'));
  assert.deepEqual(items, []);
});

test('a version whose author started from another one than the active is refused', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.deploy(changed('Reserve'));
  const late = { ...(await api.bundled(changed('Buy'))), base: '1.0' };
  const error = await api.refused(api.post('/api/deploy', late), 409, 'wrong-state');
  assert.match(error.detail, /has changed since version 1\.0/);
  const { items } = await api.ok(api.get('/api/workflows/orders/versions'));
  assert.equal(items.length, 2, 'nothing was added');
  await api.ok(api.post('/api/deploy', { ...late, base: '1.1' }));
});

test('a version that drops a topic with pending events says so, and takes over when told to skip them', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.ok(api.post('/api/workflows/orders/pause'));
  await api.publish('orders', '1');
  const dropped = GIVEN.replaceAll('placed', 'ordered');
  await api.refused(api.post('/api/deploy', await api.bundled(dropped)), 409, 'wrong-state');
  const deployed = await api.deploy(dropped, { skipPending: true });
  assert.equal(deployed.activated, true);
  assert.deepEqual(api.stage.events(), ['1 skipped']);
});
