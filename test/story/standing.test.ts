import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api, type Json } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';

const commands = ({ next }: Json): string[] => next.flatMap(({ argv }: { argv?: string[] }) => argv?.join(' ') ?? []);

test('while an outcome is looked up the sentence says so, and nobody is needed yet', async (t) => {
  const api = await Api.open(t, { reconcile: { get: '/lookup?id={json.id}', applied: { status: 200 } } });
  api.stage.outside.behave({ after: 'drop' });
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.until(
    'a look found nothing',
    () => (api.stage.reader.table('mutations')[0]?.reconcileCount ?? 0) > 0,
  );
  const status = await api.status();
  assert.match(
    status.sentence,
    /^checking whether one POST to shop \(Book o1\) happened, 1 look so far, next look in \d+ s \(since/,
  );
  assert.deepEqual(await api.needs(), []);
  assert.ok(commands(status).includes(`pawl resolve ${api.stage.mutation().id} --happened`));
  api.stage.outside.pages.set('/lookup', { ref: 'b1' });
  await api.ok(api.post(`/api/outputs/${api.stage.mutation().id}/resolve`, { how: 'skip' }));
  await api.stage.quiet();
});

test('evidence against a person stops the repeat, names the event, and says how to go on', async (t) => {
  const api = await Api.open(t);
  api.stage.outside.behave({ after: 'drop' });
  await api.deploy(GIVEN);
  const [event] = await api.publish('orders', 'o1');
  await api.stage.until('the outcome is unknown', () => api.stage.workflow().holds.includes('unknown'));
  const { id } = api.stage.mutation();
  await api.ok(api.post('/api/workflows/orders/pause'));
  await api.ok(api.post(`/api/outputs/${id}/resolve`, { how: 'did_not_happen' }));
  await api.stage.manager.recordEvidence(id, { says: 'applied', detail: 'b1', source: 'a late answer' });
  const [need] = await api.needs();
  assert.deepEqual([need.kind, need.name], ['evidence', 'orders']);
  assert.match(
    need.sentence,
    /^stopped before something is sent twice: a late answer says that call mut_\w+ happened, but ada said it had not/,
  );
  assert.deepEqual(commands(need), [`pawl skip ${event}`, `pawl park ${event}`, 'pawl resume orders']);
  assert.match((await api.status()).sentence, /; also paused by ada at/);
  await api.ok(api.post('/api/events/skip', { events: [event] }));
  await api.ok(api.post('/api/workflows/orders/resume'));
  await api.stage.quiet();
  assert.equal(api.stage.outside.effects.length, 1, 'it was not sent twice');
  const { story } = await api.ok(api.get(`/api/explain/${id}`));
  assert.ok(
    story.some((line: string) => /a late answer says of mut_\w+ that it was done/.test(line)),
    story.join('\n'),
  );
});

test('a workflow that the engine stopped says why, and how to look and go on', async (t) => {
  const api = await Api.open(t);
  const { workflow } = await api.deploy(GIVEN);
  await api.deploy(GIVEN.replace("title: 'Book '", "title: 'Reserve '"));
  await api.stage.manager.holdWorkflow(workflow, 'evt_1 breaks a rule');
  const [need] = await api.needs();
  assert.deepEqual([need.kind, need.sentence], ['error', 'stopped: evt_1 breaks a rule']);
  assert.deepEqual(commands(need), ['pawl explain orders', 'pawl resume orders', 'pawl rollback orders']);
  const { story } = await api.ok(api.get('/api/explain/orders'));
  assert.ok(
    story.some((line: string) => line.endsWith('ada activated a version (1.1)')),
    story.join('\n'),
  );
  assert.match(story.at(-1), /^Now: stopped: evt_1 breaks a rule/);
});

test('events of a topic that nobody reads do not wait for anything', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN.replace('topics: {', 'topics: { heard: topic<{ id: string }>(),'));
  await api.ok(api.post('/api/workflows/orders/publish', { events: [{ topic: 'heard', payload: { id: '1' } }] }));
  await api.stage.quiet();
  const status = await api.status();
  assert.deepEqual([status.sentence, status.waiting.pending], ['idle, waiting for events', 0]);
});

test('a version that is not active yet, and a workflow without events, say what they wait for', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN, { activate: false });
  assert.deepEqual(
    [(await api.status()).status, (await api.status()).sentence],
    ['ready', 'has a version that is not active'],
  );
  await api.deploy(GIVEN);
  await api.stage.quiet();
  assert.equal((await api.status()).sentence, 'idle, waiting for events');
});
