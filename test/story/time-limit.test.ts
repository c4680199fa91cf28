import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { monotonicIds } from '#base';
import { type } from '../cli/typed-terminal.ts';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { applyAndEmit, beginSession, prepareAndCall } from '../support/fixture.ts';

const SECONDS = 1_000;
const LIMIT_MS = 8 * SECONDS;

/** An engine that stands for one of many, with a session of a workflow whose time is limited. */
async function underWay(t: TestContext) {
  const config = { fleet: { timeoutMs: { orders: LIMIT_MS } } };
  const api = await Api.open(t, {}, { config, isShared: true });
  const { manager, clock } = api.stage;
  const { workflow } = await api.deploy(GIVEN);
  await api.stage.quiet();
  const worker = monotonicIds(clock).next('worker');
  await manager.registerWorker(worker, { name: 'big', pool: 'default', leaseMs: 45 * SECONDS, concurrency: 8 });
  const fence = await beginSession(manager, workflow, worker);
  const pass = (seconds: number): void => {
    clock.aheadMs += seconds * SECONDS;
  };
  return { api, manager, workflow, fence, pass };
}

test('a session past its limit says so while its run goes on, and that it ends with it', async (t) => {
  const { api, manager, fence, pass } = await underWay(t);
  await api.publish('orders', 'o1');
  await manager.startRun(fence, 'book');
  pass(3);
  assert.doesNotMatch((await api.status()).sentence, /limit/);
  pass(7);
  const late = await api.status();
  assert.equal(late.kind, 'running');
  assert.match(
    late.sentence,
    /^running book, choosing its events \(for 1\d s\); 1 event to go; past its limit of 8 s, ends with this run$/,
  );
  await api.ok(api.post('/api/workflows/orders/cancel'));
  assert.doesNotMatch((await api.status()).sentence, /limit/, 'it ends as cancelled');
});

test('one that is between two runs ends now, and one whose worker is dead is told of by that alone', async (t) => {
  const { api, pass } = await underWay(t);
  pass(10);
  assert.match(
    (await api.status()).sentence,
    /^running, choosing what to do next .*; past its limit of 8 s, ends now$/,
  );
  pass(50);
  const { sentence } = await api.status();
  assert.match(sentence, /its worker big is silent/);
  assert.doesNotMatch(sentence, /limit/);
});

test('a session that its time limit ended is listed, shown and told as that, though all its runs committed', async (t) => {
  const { api, manager, workflow, fence, pass } = await underWay(t);
  await api.publish('orders', 'o1', 'o2');
  const { run } = await manager.startRun(fence, 'book');
  const called = await prepareAndCall(manager, fence, run, [{ topic: 'placed', ids: ['o1'] }]);
  await applyAndEmit(manager, fence, run, called.mutation ?? assert.fail('no call'));
  await manager.commitConsumer(fence, run);
  const listed = async () => (await api.ok(api.get('/api/workflows/orders/sessions'))).items[0];
  assert.deepEqual([(await listed()).result, (await listed()).end], ['', null]);
  pass(10);
  assert.deepEqual(await manager.advanceSession(fence, { timeoutMs: LIMIT_MS }), { ended: 'timeout' });

  const session = await listed();
  assert.deepEqual([session.executionId, session.result, session.end], [fence.execution, 'completed', 'timeout']);
  const { row } = await api.ok(api.get(`/api/sessions/${session.id}`));
  assert.equal(row.end, 'timeout');

  const env = { PAWL_URL: api.url, PAWL_TOKEN: api.token, USER: 'ada' };
  assert.match((await type(['sessions', 'orders'], { env })).out, / completed \(timeout\) .* 1 .*ses_/);
  assert.match((await type(['show', session.id], { env })).out, /^ {2}end: timeout$/m);
  const { out } = await type(['explain', workflow], { env });
  assert.match(out, /a session began by an event and committed 1 run in 1\d s, until its time limit was over \(ses_/);
});

test('a session whose run was stopped for its time is told as that too', async (t) => {
  const { api, manager, workflow, fence, pass } = await underWay(t);
  await api.publish('orders', 'o1');
  await manager.startRun(fence, 'book');
  pass(10);
  await manager.reapExecution(fence.execution, fence.epoch, { provenDead: false, timeoutMs: LIMIT_MS });
  const env = { PAWL_URL: api.url, PAWL_TOKEN: api.token, USER: 'ada' };
  const { out } = await type(['sessions', 'orders'], { env });
  assert.match(out, / failed \(timeout\) .* the session took too long .*ses_/);
  const told = (await type(['explain', workflow], { env })).out;
  assert.match(
    told,
    /a session began by an event and stopped after 0 runs and 1\d s: the session took too long \(ses_/,
  );
});
