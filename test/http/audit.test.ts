import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type } from '../cli/typed-terminal.ts';
import { Api, type Json } from './api.ts';
import { GIVEN } from './scripts.ts';

async function acted(api: Api): Promise<void> {
  await api.deploy(GIVEN);
  await api.ok(api.post('/api/workflows/orders/pause'));
  await api.ok(api.ask('POST', '/api/workflows/orders/resume', {}, { 'x-pawl-by': 'grace' }));
  await api.ok(api.post('/api/backup', { file: join(api.stage.folder, 'copy.db') }));
}

const sentences = ({ items }: Json): string[] => items.map((item: Json) => item.sentence);

test('what people did is listed, filtered and searched', async (t) => {
  const api = await Api.open(t);
  await acted(api);
  const all = await api.ok(api.get('/api/audit'));
  assert.deepEqual(sentences(all), [
    'ada wrote a backup',
    'grace let it go on',
    'ada paused it',
    'ada activated a version (1.0)',
    'ada allowed it (shop.put on /told)',
    'ada allowed it (shop.post on /bookings)',
    'ada added a version (1.0)',
    'ada created the workflow',
  ]);
  assert.deepEqual(sentences(await api.ok(api.get('/api/audit?actor=grace'))), ['grace let it go on']);
  assert.deepEqual(sentences(await api.ok(api.get('/api/audit?act=pause'))), ['ada paused it']);
  assert.equal((await api.ok(api.get('/api/audit?q=COPY.db'))).items.length, 1);
  const { id } = api.stage.workflow();
  assert.equal((await api.ok(api.get(`/api/audit?subject=${id}&order=oldest`))).items.length, 5);
  assert.equal((await api.ok(api.get(`/api/audit?from=${api.stage.clock.now() + 1_000}`))).items.length, 0);
  assert.equal((await api.ok(api.get(`/api/audit?to=${api.stage.clock.now() + 1_000}`))).items.length, 8);
  const page = await api.ok(api.get('/api/audit?limit=4'));
  assert.deepEqual(sentences(await api.ok(api.get(`/api/audit?after=${page.next}`))), sentences(all).slice(4));
  await api.refused(api.get('/api/audit?after=x'), 400, 'invalid');
});

test('a log that was touched is found out: changed, cut out of, cut off', async (t) => {
  const api = await Api.open(t);
  await acted(api);
  const verify = async (query = ''): Promise<Json> => api.ok(api.get(`/api/audit/verify${query}`));
  const { ok, entries, head, broken } = await verify();
  assert.deepEqual([ok, entries, broken, head.seq], [true, 8, null, 8]);
  const noted = `?seq=${head.seq}&hash=${head.hash}`;
  assert.equal((await verify(noted)).ok, true);
  assert.equal((await verify(`?seq=3&hash=${head.hash}`)).ok, false, 'another entry than the one that was noted');
  await api.refused(api.get('/api/audit/verify?seq=1&hash=x'), 400, 'invalid');

  const db = new DatabaseSync(join(api.stage.folder, 'data', 'pawl.db'));
  t.after(() => db.close());
  assert.throws(() => db.exec(`UPDATE audit_log SET actor = 'mallory'`), /never change/);
  assert.throws(() => db.exec('DELETE FROM audit_log'), /never deleted/);
  // Whoever owns the file can take the guards away; not the arithmetic.
  db.exec('DROP TRIGGER audit_log_fixed; DROP TRIGGER audit_log_kept');
  const restore = db.prepare('SELECT * FROM audit_log WHERE seq = 5').get();
  db.exec(`UPDATE audit_log SET actor = 'mallory' WHERE seq = 5`);
  assert.deepEqual((await verify()).broken, { seq: 5, why: 'it was changed after it was written' });
  db.prepare('UPDATE audit_log SET actor = ? WHERE seq = 5').run(String(restore?.actor));
  assert.equal((await verify()).ok, true);
  db.exec('DELETE FROM audit_log WHERE seq = 3');
  assert.deepEqual((await verify()).broken, { seq: 4, why: 'entries 3 to 3 are missing' });
  db.exec('DELETE FROM audit_log WHERE seq > 2');
  assert.equal((await verify()).ok, true, 'what is left is a chain');
  assert.match((await verify(noted)).broken.why, /the log ends before entry 8, which was noted/);
});

test('the log at the keyboard, with an engine and without', async (t) => {
  const api = await Api.open(t);
  await acted(api);
  const env = { PAWL_DATA: join(api.stage.folder, 'data'), USER: 'ada' };
  assert.match((await type(['audit', '--actor', 'grace'], { env })).out, /grace let it go on/);
  const verified = await type(['audit', 'verify'], { env });
  const [, noted = ''] = /^8 entries hold\n {2}note its end: (\S+)\n$/.exec(verified.out) ?? [];
  assert.ok(noted, verified.out);
  assert.equal((await type(['audit', 'verify', '--noted', noted], { env })).code, 0);
  assert.equal((await type(['audit', 'verify', '--noted', `9:${noted.slice(2)}`], { env })).code, 1);
  assert.equal((await type(['audit', 'verify', '--noted', 'nonsense'], { env })).code, 2);
  // A folder as it lies, when nobody runs it.
  const nowhere = { ...env, PAWL_URL: 'http://127.0.0.1:9' };
  const alone = await type(['audit', 'verify'], { env: nowhere });
  assert.deepEqual([alone.code, alone.out], [verified.code, verified.out]);
});
