import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monotonicIds } from '#base';
import { type } from '../cli/typed-terminal.ts';
import { Api } from './api.ts';
import { GIVEN } from './scripts.ts';

const DAY = 86_400_000;

test('where nothing is said of retention everything is kept, and nothing can be asked for', async (t) => {
  const api = await Api.open(t);
  assert.deepEqual(await api.ok(api.get('/api/retention')), {
    schema: 1,
    keepDays: null,
    isRunning: false,
    last: null,
  });
  for (const path of ['/api/retention/preview', '/api/retention/run']) {
    const { status, body } = await api.post(path);
    assert.deepEqual([status, body.code], [409, 'wrong-state']);
  }
  const old = monotonicIds({ now: () => 1 }).next('event');
  assert.equal((await api.get(`/api/events/${old}`)).body.why, 'no row has this id');
  const env = { PAWL_URL: api.url, PAWL_TOKEN: api.token, USER: 'ada' };
  assert.match((await type(['retention'], { env })).out, /everything is kept/);
  assert.equal((await type(['retention', '--dry-run'], { env })).code, 5);
});

test('what is old is counted first, then removed, and told', async (t) => {
  const api = await Api.open(t, {}, { config: { retention: { keepDays: 30 } } });
  await api.deploy(GIVEN);
  const { id } = api.stage.workflow();
  await api.stage.publish(id, 'placed', { id: 'o1' }, { id: 'o2' });
  await api.stage.quiet();
  const [o1] = api.stage.reader.table('events');
  assert.ok(o1);
  const env = { PAWL_URL: api.url, PAWL_TOKEN: api.token, USER: 'ada' };
  const young = await api.ok(api.post('/api/retention/preview'));
  assert.equal(young.removable.runs, 0);
  assert.match((await type(['retention', '--dry-run'], { env })).out, /would be removed: nothing/);
  api.stage.clock.aheadMs += 31 * DAY;
  const before = api.stage.reader.table('handler_runs').length;
  const old = await api.ok(api.post('/api/retention/preview'));
  assert.ok(old.removable.runs > 0 && old.isWhole);
  assert.match(
    (await type(['retention', '--dry-run'], { env })).out,
    /would be removed: \d+ runs, \d+ events, \d+ outputs/,
  );
  assert.equal(api.stage.reader.table('handler_runs').length, before, 'nothing was removed yet');
  assert.match((await type(['retention', '--now'], { env })).out, /is being removed/);
  // Whoever asks while it is under way gets the same one.
  await api.stage.app.retention?.run();
  assert.ok(api.stage.reader.table('handler_runs').length < before);
  const told = await api.ok(api.get('/api/retention'));
  assert.equal(told.keepDays, 30);
  assert.match((await type(['retention'], { env })).out, /kept for 30 days\n.*removed/);
  const acts = await api.ok(api.get('/api/audit'));
  assert.match(acts.items[0].sentence, /ada asked to remove old history/);
  api.stage.check();
  // What went is found no more, and nothing breaks over it.
  const gone = await api.get(`/api/events/${o1.id}`);
  assert.equal(gone.status, 404);
  assert.match(gone.body.why, /; it may have been removed: history is kept for 30 days$/);
  for (const command of ['show', 'explain', 'skip']) {
    const typed = await type([command, o1.id], { env });
    assert.equal(typed.code, 4, command);
    assert.match(typed.err, /why: .*; it may have been removed: history is kept for 30 days\n/, command);
  }
  // What was made since cannot have gone, and whatever is no id was never there.
  const fresh = monotonicIds(api.stage.clock).next('event');
  for (const id of [fresh, 'orders', 'nonsense-1', `wf_${o1.id.slice(4)}x`])
    assert.doesNotMatch((await type(['show', id], { env })).err, /removed/, id);
  assert.equal((await api.get('/api/doctor')).body.ok, true);
  const status = await api.ok(api.get('/api/status'));
  assert.equal(status.items.length, 1);
});
