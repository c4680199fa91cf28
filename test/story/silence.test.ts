import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { monotonicIds } from '#base';
import { EXECUTORS } from '#execution';
import { Api, type Json } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { applyAndEmit, beginSession, prepareAndCall } from '../support/fixture.ts';

const SECONDS = 1_000;
const LEASE_MS = 45 * SECONDS;
const commands = ({ next }: Json): string[] => next.flatMap(({ argv }: { argv?: string[] }) => argv?.join(' ') ?? []);

/** An engine that stands for one of many, with a session of a worker that has just been heard of. */
async function underWay(t: TestContext) {
  const api = await Api.open(t, {}, { isShared: true });
  const { manager, clock } = api.stage;
  const { workflow } = await api.deploy(GIVEN);
  await api.stage.quiet();
  const ids = monotonicIds(clock);
  const register = async (name: string, pool = 'default') => {
    const worker = ids.next('worker');
    await manager.registerWorker(worker, { name, pool, leaseMs: LEASE_MS, concurrency: 8 });
    return worker;
  };
  const fence = await beginSession(manager, workflow, await register('big'));
  await api.publish('orders', 'o1');
  const pass = (seconds: number): void => {
    clock.aheadMs += seconds * SECONDS;
  };
  return { api, manager, workflow, register, pass, fence };
}

test('a session whose worker has missed three signs of life says so, and what happens when its lease is over', async (t) => {
  const { api, manager, fence, pass } = await underWay(t);
  await manager.startRun(fence, 'book');
  pass(10);
  const heard = await api.status();
  assert.doesNotMatch(heard.sentence, /silent/);
  pass(10);
  const { kind, sentence, ...status } = await api.status();
  assert.equal(kind, 'running');
  assert.match(
    sentence,
    /^running book, choosing its events \(for 2\d s\); 1 event to go; its worker big has been silent for 2\d s: if it stays so, another ends this session when its lease is over, in 2\d s, and it begins anew, because nothing was sent$/,
  );
  assert.equal(commands(status)[0], 'pawl workers');
});

test('when the lease is over another worker ends it, and without one that is said with the command that starts one', async (t) => {
  const { api, fence, manager, register, pass } = await underWay(t);
  const { run } = await manager.startRun(fence, 'book');
  const called = await prepareAndCall(manager, fence, run, [{ topic: 'placed', ids: ['o1'] }]);
  pass(50);
  await register('desk', EXECUTORS);
  const alone = await api.status();
  assert.equal(alone.kind, 'worker');
  assert.match(
    alone.sentence,
    /its worker big is silent, its lease is over for \d s, and no worker is alive to end this session: when one is, its call counts as unknown, and is looked up or asked about$/,
  );
  assert.equal(alone.next[1]?.label, 'start one: pawl worker --pool default');

  await register('other');
  const seen = await api.status();
  assert.match(
    seen.sentence,
    /its worker big is silent, its lease is over for \d s: another ends this session, and its call counts as unknown, and/,
  );
  await applyAndEmit(manager, fence, run, called.mutation ?? assert.fail('no call'));
  assert.match(
    (await api.status()).sentence,
    /: another ends this session, and it goes on after its call, which is not/,
  );
});

test('also a workflow that is paused or cancelled says that its worker is silent', async (t) => {
  const { api, pass } = await underWay(t);
  await api.ok(api.post('/api/workflows/orders/pause'));
  pass(50);
  const paused = await api.status();
  assert.match(paused.sentence, /^paused by ada at \d\d:\d\d; also running, choosing .*; its worker big is silent/);
  assert.deepEqual(paused.kinds, ['paused', 'worker']);
  await api.ok(api.post('/api/workflows/orders/cancel'));
  const cancelled = await api.status();
  assert.match(
    cancelled.sentence,
    /also being cancelled \(asked by ada\): .*; its worker big is silent.*: when one is, it/,
  );
  assert.match(cancelled.sentence, /it is cancelled/);
});
