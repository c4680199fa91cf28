import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type } from '../cli/typed-terminal.ts';
import { Api } from './api.ts';
import { GIVEN } from './scripts.ts';

test('a workflow is exported and imported by typing, and stands there paused', async (t) => {
  const [from, to] = [await Api.open(t), await Api.open(t)];
  const envOf = (api: Api) => ({ PAWL_URL: api.url, PAWL_TOKEN: api.token, USER: 'ada' });
  await from.deploy(GIVEN);
  await from.stage.publish(from.stage.workflow().id, 'placed', { id: 'o1' });
  await from.stage.quiet();
  const file = join(from.stage.folder, 'orders.pawl');
  const exported = await type(['export', 'orders', '--out', file], { env: envOf(from) });
  const [, rows] = /^orders is in \S+ with (\d+ rows)\nit goes on here: pause it/.exec(exported.out) ?? [];
  assert.ok(rows, exported.out);
  assert.ok(existsSync(file));
  const again = await type(['export', 'orders', '--out', file], { env: envOf(from) });
  assert.deepEqual([again.code, /exists/.test(again.err)], [5, true]);
  const nameless = await type(['import', file, '--as', 'bad name!/x'], { env: envOf(to) });
  assert.deepEqual([nameless.code, /is no name for a workflow/.test(nameless.err)], [2, true], nameless.err);
  const imported = await type(['import', file, '--as', 'moved'], { env: envOf(to) });
  assert.ok(imported.out.startsWith(`moved is here with ${rows}, and paused\n`), imported.out);
  assert.equal(to.stage.workflow().name, 'moved');
  assert.equal(to.stage.workflow().status, 'paused');
  assert.match((await to.status('moved')).sentence, /^paused since ada brought it here at \d\d:\d\d/);
  assert.equal((await to.get('/api/doctor')).body.ok, true);
  const acts = await to.ok(to.get('/api/audit'));
  assert.match(acts.items[0].sentence, /ada brought it here from another engine \(exported 20/);
  const twice = await type(['import', file], { env: envOf(to) });
  assert.deepEqual([twice.code, /is here already, as moved/.test(twice.err)], [5, true]);
  const cut = join(from.stage.folder, 'cut.pawl');
  writeFileSync(cut, readFileSync(file, 'utf8').slice(0, -20));
  const damaged = await type(['import', cut, '--as', 'other'], { env: envOf(to) });
  assert.deepEqual([damaged.code, /is no whole export/.test(damaged.err)], [5, true], damaged.err);
  const nowhere = await type(['import', join(from.stage.folder, 'nowhere')], { env: envOf(to) });
  assert.equal(nowhere.code, 4);
});

test('files are named by their whole path', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  for (const [path, body] of [
    ['/api/workflows/orders/export', { file: 'orders.pawl' }],
    ['/api/import', { file: 'orders.pawl' }],
  ] as const) {
    const { status, body: told } = await api.post(path, body);
    assert.deepEqual([status, told.code], [400, 'invalid']);
  }
  assert.equal((await api.post('/api/workflows/nobody/export', { file: '/tmp/x' })).status, 404);
});
