import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Api, type Json } from './api.ts';
import { GIVEN } from './scripts.ts';

test('what a person does to a workflow', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const act = (verb: string, body: object = {}) => api.post(`/api/workflows/orders/${verb}`, body);

  await t.test('pause keeps everything as it is, and resume lets it go on', async () => {
    const paused = await api.ok(act('pause'));
    assert.equal(paused.status, 'paused');
    await api.publish('orders', 'o1');
    const status = await api.status();
    assert.match(status.sentence, /^paused by ada at \d\d:\d\d \(since \d+ s, 1 event waits behind it\)$/);
    assert.deepEqual(status.next[0].argv, ['pawl', 'resume', 'orders']);
    assert.deepEqual(await api.needs(), [], 'a pause waits for nobody');
    const { why, next } = await api.refused(act('trigger'), 409, 'held');
    assert.match(why, /^paused by ada at /);
    assert.deepEqual(next[0].argv, ['pawl', 'resume', 'orders']);
    assert.equal((await api.ok(act('resume'))).status, 'active');
    await api.stage.quiet();
    assert.deepEqual(api.stage.events('placed'), ['o1 consumed']);
  });

  await t.test('trigger runs it now, and says as which execution', async () => {
    const answer = await api.ok(act('trigger'));
    assert.match(answer.execution, /^exe_/);
    await api.stage.quiet();
    const { items } = await api.ok(api.get('/api/workflows/orders/sessions?limit=1'));
    assert.deepEqual([items[0].trigger, items[0].result], ['manual', 'completed']);
  });

  await t.test('cancel stops the session at a safe point: the call under way is awaited and recorded', async () => {
    await api.refused(act('cancel'), 409, 'wrong-state');
    api.stage.outside.behave({ after: 'hang' });
    const arrival = api.stage.outside.arrival();
    await api.publish('orders', 'o2');
    await arrival;
    assert.match(
      (await api.status()).sentence,
      /^running book, waiting for one POST to shop to be answered \(for \d+ s\)/,
    );
    const cancelled = await api.ok(act('cancel'));
    assert.match(cancelled.execution, /^exe_/);
    await api.stage.until('it stopped', () => api.stage.workflow().holds.includes('unknown'));
    await api.ok(api.post(`/api/outputs/${api.stage.mutation().id}/resolve`, { how: 'happened' }));
    await api.stage.quiet();
  });

  await t.test('retry is for repairs only', async () => {
    await api.refused(act('retry'), 409, 'wrong-state');
    await api.refused(act('approve'), 409, 'wrong-state');
  });

  await t.test('the state of a handler can be seen and set', async () => {
    await api.ok(api.ask('PUT', '/api/workflows/orders/state/book', { state: { cursor: 7 } }));
    const { items } = await api.ok(api.get('/api/workflows/orders/state'));
    assert.deepEqual(items.find(({ handler }: Json) => handler === 'book').state, { cursor: 7 });
    await api.refused(api.ask('PUT', '/api/workflows/orders/state/nobody', { state: 1 }), 404, 'not-found');
    await api.refused(api.ask('PUT', '/api/workflows/orders/state/book', {}), 400, 'invalid');
  });

  await t.test('publish takes only what the workflow declares', async () => {
    await api.refused(act('publish', { events: [{ topic: 'nothing', payload: 1 }] }), 400, 'not-subscribed');
    await api.refused(act('publish', { events: [] }), 400, 'invalid');
    await api.refused(act('publish', {}), 400, 'invalid');
    await api.refused(act('publish', { events: [{ payload: 1 }] }), 400, 'invalid');
  });

  await t.test('an archived workflow is put away for good', async () => {
    assert.equal((await api.ok(act('archive'))).status, 'archived');
    assert.equal((await api.status()).sentence, 'archived');
    const events = [{ topic: 'placed', payload: { id: 'late' } }];
    for (const verb of ['trigger', 'pause', 'resume', 'retry', 'publish']) {
      const { next } = await api.refused(act(verb, verb === 'publish' ? { events } : {}), 409, 'wrong-state');
      const typed = next.map(({ argv }: Json) => argv?.join(' '));
      assert.ok(!typed.some((line: string | undefined) => line?.startsWith('pawl deploy')), `${verb}: ${typed}`);
      assert.match(next[0].label, /another name/, verb);
    }
  });

  await t.test('every verb needs a workflow that is there', async () => {
    for (const verb of ['trigger', 'pause', 'resume', 'archive', 'retry', 'cancel', 'approve', 'rollback']) {
      await api.refused(api.post(`/api/workflows/nobody/${verb}`), 404, 'not-found');
    }
    await api.refused(api.post('/api/workflows/nobody/publish', { events: [{ topic: 'placed' }] }), 404, 'not-found');
  });
});

test('a version that drops what waits is refused, with a command that lacks only the file', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.ok(api.post('/api/workflows/orders/pause'));
  await api.publish('orders', 'o1');
  const without = GIVEN.replaceAll('placed', 'ordered');
  const { next } = await api.refused(api.post('/api/deploy', await api.bundled(without)), 409, 'wrong-state');
  assert.deepEqual(next.at(-1).argv, ['pawl', 'deploy', 'FILE', '--skip-pending']);
});

test('what a person does to events', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.ok(api.post('/api/workflows/orders/pause'));
  const [o1 = '', o2 = '', o3 = ''] = await api.publish('orders', 'o1', 'o2', 'o3');
  const act = (verb: string, ...events: string[]) => api.post(`/api/events/${verb}`, { events });
  assert.equal((await api.ok(act('skip', o1))).changed, 1);
  assert.equal((await api.ok(act('park', o2, o3))).changed, 2);
  assert.equal((await api.ok(act('unpark', o3))).changed, 1);
  assert.deepEqual(api.stage.events(), ['o1 skipped', 'o2 parked', 'o3 pending']);
  const redone = await api.ok(act('redo', o1));
  assert.equal(redone.events.length, 1);
  await api.ok(api.post('/api/workflows/orders/resume'));
  await api.stage.quiet();
  const placed = api.stage.reader.table('events').filter(({ topic }) => topic === 'placed');
  assert.deepEqual(
    placed.map(({ status }) => status),
    ['skipped', 'parked', 'consumed', 'consumed'],
  );
  const { story } = await api.ok(api.get(`/api/explain/${o1}`));
  assert.ok(story.some((line: string) => line.endsWith('ada skipped it')));
  assert.equal(story.at(-1), `It was made again as ${redone.events[0]}, which is done.`);

  for (const verb of ['skip', 'park', 'unpark', 'redo']) {
    await api.refused(act(verb), 400, 'invalid');
    await api.refused(act(verb, 'nonsense'), 400, 'malformed-id');
    await api.refused(act(verb, 'evt_404'), 404, 'not-found');
    await api.refused(api.post(`/api/events/${verb}`, {}), 400, 'invalid');
  }
  await api.refused(act('skip', o3), 409, 'wrong-state');
  await api.refused(act('redo', o2), 409, 'wrong-state');
});

test('every act is kept with the name of whoever asked', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const pause = (headers: Record<string, string>) => api.ask('POST', '/api/workflows/orders/pause', {}, headers);
  await pause({ 'x-pawl-by': 'grace' });
  await pause({ 'x-pawl-by': encodeURIComponent('Łukasz') });
  await pause({ 'x-pawl-by': ' ' });
  const actors = api.stage.reader.table('audit_log').filter(({ act }) => act === 'pause');
  assert.deepEqual(
    actors.map(({ actor }) => actor),
    ['grace', 'Łukasz', 'operator'],
  );
});

test('the data as a whole: a copy of it, and whether everything in it holds', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.quiet();
  const file = join(api.stage.folder, 'copies', 'monday.db');
  assert.deepEqual(await api.ok(api.post('/api/backup', { file })), { schema: 1, file, workflows: 1 });
  assert.ok(existsSync(file));
  await api.refused(api.post('/api/backup', { file }), 409, 'backup-exists');
  await api.refused(api.post('/api/backup', { file: 'monday.db' }), 400, 'invalid');
  await api.refused(api.post('/api/backup', {}), 400, 'invalid');
  const doctor = await api.ok(api.get('/api/doctor'));
  assert.ok(doctor.items.length > 10);
  assert.ok(doctor.items.every(({ name, says, offenders }: Json) => name && says && offenders.length === 0));
  assert.deepEqual([doctor.ok, doctor.held, doctor.counts.workflows, doctor.counts.mutations], [true, [], 1, 2]);
});
