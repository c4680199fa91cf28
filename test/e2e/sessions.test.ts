// The list at the end of spec/002, as DESIGN §4 rules it: a stop always ends its session, a session is never resumed, and a
// failure holds the workflow only where a hold is its cure.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orders, POLL, TELL } from './scripts.ts';
import { Stage } from './stage.ts';

const COSTS = { costPerCall: 2 };

test('a session runs what is due in order: producers, then consumers, oldest event first', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/orders', [{ id: '1' }, { id: '2' }]);
  await stage.deploy(orders({ more: POLL + TELL }));
  await stage.quiet();
  const runs = stage.reader.table('handler_runs');
  assert.deepEqual(
    runs.map((run) => run.handlerName),
    ['poll', 'book', 'book', 'tell', 'tell'],
  );
  assert.deepEqual(new Set(runs.map((run) => run.scriptRunId)).size, 1);
  assert.deepEqual(stage.sessions(), ['schedule completed']);
  assert.equal(stage.reader.table('script_runs')[0]?.handlerRunCount, 5);
});

test('a handler that fails ends its session as failed', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/orders', [{ id: '1' }, { id: '2' }]);
  await stage.deploy(orders({ more: POLL, prepare: "throw new Error('a bug');" }));
  await stage.untilRun('failed:logic');
  assert.deepEqual(stage.runs(), ['poll committed committed', 'book preparing failed:logic']);
  const [session] = stage.reader.table('script_runs');
  assert.equal(session?.result, 'failed');
  assert.match(session?.error ?? '', /a bug/);
  assert.equal(stage.workflow().status, 'active', 'a repair is no hold');
});

test('a handler that stops for a person ends its session as failed, and a new one follows the answer', async (t) => {
  const stage = await Stage.open(t, { approval: { post: 'always' } });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.untilRun('paused:approval');
  assert.deepEqual(stage.sessions(), ['event failed']);
  assert.deepEqual(stage.outside.done, []);
  await stage.person.approve(stage.mutation().id);
  await stage.until('the second call asks too', () => stage.reader.table('mutations').length === 2);
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  assert.deepEqual(stage.sessions(), ['event failed', 'retry failed']);
});

test('a session completes when nothing is left to do', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.sessions(), ['event completed']);
  const [session] = stage.reader.table('script_runs');
  assert.ok(session?.endTimestamp);
  assert.equal(stage.workflow().dueAt, null, 'nothing is due');
});

test('a budget of 100 runs ends a session, and with work left the next one follows at once', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders({ mutate: null, next: null }));
  const ids = Array.from({ length: 105 }, (_, n) => ({ id: `o${n}` }));
  await stage.publish(workflow, 'placed', ...ids);
  await stage.quiet();
  assert.deepEqual(
    stage.reader.table('script_runs').map((session) => `${session.handlerRunCount} ${session.result}`),
    ['100 completed', '5 completed'],
  );
});

test('a restart resumes no session: the interrupted one is over, and a new one does the rest', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'hold' });
  const { workflow } = await stage.deploy(orders());
  const arrived = stage.outside.arrival();
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await arrived;
  const stopped = stage.stop();
  stage.outside.release();
  await stopped;
  await stage.start();
  await stage.quiet();
  assert.deepEqual(stage.sessions(), ['event completed', 'event completed']);
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

test('a workflow runs one handler at a time, and a manual trigger meanwhile is refused', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'hold' });
  const { workflow } = await stage.deploy(orders());
  const arrived = stage.outside.arrival();
  await stage.publish(workflow, 'placed', { id: '1' });
  await arrived;
  await assert.rejects(stage.person.trigger(workflow), { code: 'busy' });
  await stage.publish(workflow, 'placed', { id: '2' });
  assert.equal(stage.reader.table('handler_runs').filter((run) => run.status === 'active').length, 1);
  stage.outside.release();
  await stage.quiet();
  const [first, second] = stage.reader.table('handler_runs');
  assert.ok((first?.endTimestamp ?? 0) <= (second?.startTimestamp ?? 0));
});

test('two workflows run at the same time', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'hold' });
  const one = await stage.deploy(orders({ name: 'one' }));
  const two = await stage.deploy(orders({ name: 'two' }));
  const arrived = stage.outside.arrival();
  await stage.publish(one.workflow, 'placed', { id: '1' });
  await arrived;
  await stage.publish(two.workflow, 'placed', { id: '2' });
  await stage.until('the other commits', () => stage.runs(two.workflow).includes('book committed committed'));
  assert.deepEqual(stage.runs(one.workflow), ['book mutating active']);
  stage.outside.release();
  await stage.quiet();
});

test('what the calls of its runs cost is summed in the session', async (t) => {
  const stage = await Stage.open(t, COSTS);
  stage.outside.pages.set('/orders', [{ id: '1' }]);
  stage.outside.pages.set('/price', {});
  await stage.deploy(orders({ more: POLL, prepare: "await ctx.shop.get({ path: '/price' });" }));
  await stage.quiet();
  assert.deepEqual(
    stage.reader.table('handler_runs').map((run) => `${run.handlerName} ${run.cost}`),
    ['poll 2', 'book 4'],
  );
  assert.equal(stage.reader.table('script_runs')[0]?.cost, 6);
});

test('what a failed run cost is counted too', async (t) => {
  const stage = await Stage.open(t, COSTS);
  stage.outside.pages.set('/price', {});
  stage.outside.behave({ answer: 429 }, { after: 'drop' });
  const { workflow } = await stage.deploy(orders({ prepare: "await ctx.shop.get({ path: '/price' });" }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:transient');
  assert.equal(stage.lastRun().cost, 2, 'the call was refused');
  await stage.pass(5_000);
  await stage.untilRun('paused:reconciliation');
  assert.equal(stage.lastRun().cost, 4, 'the call may have been done');
  assert.deepEqual(
    stage.reader.table('script_runs').map((session) => session.cost),
    [2, 4],
  );
});

test('messages are read away when there is nothing else to do', { timeout: 60_000 }, async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.equal(stage.reader.table('executions').length, 1);
  while (stage.reader.table('messages').length > 0) await new Promise(setImmediate);
});
