// Cancel and pause in each phase, and a process that is asked to end: nothing is left active, nothing is done twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orders, SPIN } from './scripts.ts';
import { BOOKED, Stage } from './stage.ts';

const READ = "await ctx.shop.get({ path: '/price' });";

test('cancelled in prepare, a run ends at once and has reserved nothing, and nothing follows until the next trigger', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behaveOnReads('hold');
  const { workflow } = await stage.deploy(orders({ prepare: READ }));
  const arrived = stage.outside.arrival('read');
  await stage.publish(workflow, 'placed', { id: '1' });
  await arrived;
  await stage.person.cancel(workflow);
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book preparing cancelled'], 'the read it waited for is still held');
  assert.equal(stage.lastRun().error, 'cancelled by ada');
  stage.outside.release();
  assert.deepEqual(stage.events(), ['1 pending']);
  assert.deepEqual(stage.outside.done, []);
  assert.equal(stage.reader.table('executions')[0]?.status, 'cancelled');
  await stage.publish(workflow, 'placed', { id: '2' });
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

test('cancelled while its call is out, a run awaits and records the answer, and its next waits for a trigger', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'hold' });
  const { workflow } = await stage.deploy(orders());
  const arrived = stage.outside.arrival();
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await arrived;
  await stage.person.cancel(workflow);
  stage.outside.release();
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book emitting cancelled']);
  assert.equal(stage.mutation().status, 'applied');
  assert.deepEqual(stage.events(), ['1 reserved', '2 pending']);
  assert.equal(stage.workflow().pendingRetryRunId, stage.lastRun().id);
  await stage.person.trigger(workflow);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
  assert.deepEqual(stage.events('placed'), ['1 consumed', '2 consumed']);
});

test('cancelled while its call is out and the answer never comes, a run asks', async (t) => {
  const stage = await Stage.open(t, { timeoutMs: 1_500 });
  stage.outside.behave({ after: 'hang' });
  const { workflow } = await stage.deploy(orders());
  const arrived = stage.outside.arrival();
  await stage.publish(workflow, 'placed', { id: '1' });
  await arrived;
  await stage.person.cancel(workflow);
  await stage.untilRun('paused:reconciliation');
  await stage.person.resolve(stage.mutation().id, 'happened', BOOKED);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  assert.deepEqual(stage.events('placed'), ['1 consumed']);
});

test('cancelled in next, a session ends there or with its commit, and the other events wait', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders({ next: SPIN }));
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.until('next has begun', () => stage.runs().at(-1) === 'book emitting active');
  await stage.person.cancel(workflow);
  await stage.quiet();
  assert.equal(stage.reader.table('executions')[0]?.status, 'cancelled');
  assert.equal(stage.runs().length, 1);
  assert.equal(stage.event('2').status, 'pending');
  await stage.person.trigger(workflow);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

for (const [phase, parts, stopped, events] of [
  ['prepare', { prepare: 'for (;;);' }, 'book preparing cancelled', ['1 pending']],
  [
    'mutate',
    { mutate: 'for (;;); return ctx.shop.post({ path: "/bookings", json: data });' },
    'book preparing cancelled',
    ['1 pending'],
  ],
  ['next', { next: 'for (;;);' }, 'book emitting cancelled', ['1 reserved']],
] as const) {
  test(`a script that computes in ${phase} is cancelled at once, long before its own limit`, async (t) => {
    const stage = await Stage.open(t);
    const { workflow } = await stage.deploy(orders(parts));
    await stage.publish(workflow, 'placed', { id: '1' });
    const active = phase === 'next' ? 'book emitting active' : 'book preparing active';
    await stage.until(`${phase} has begun`, () => stage.runs().at(-1) === active);
    const askedAt = Date.now();
    await stage.person.cancel(workflow);
    await stage.quiet();
    assert.ok((stage.lastRun().endTimestamp ?? 0) - askedAt < 500);
    assert.deepEqual(stage.runs(), [stopped]);
    assert.deepEqual(stage.events('placed'), events);
    assert.equal(stage.workflow().maintenance, false, 'it is not the script that failed');
    await stage.deploy(orders());
    await stage.person.trigger(workflow);
    await stage.quiet();
    assert.deepEqual(stage.outside.done, ['/bookings 1']);
    assert.deepEqual(stage.events('placed'), ['1 consumed']);
  });
}

test('a producer cancelled while it reads ends at once: nothing of it is committed, and no consumer starts', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/orders', [{ id: '1' }]);
  stage.outside.behaveOnReads('hold');
  const arrived = stage.outside.arrival('read');
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'polls', uses: { shop: 'http' }, topics: { in: {} } })
  .producer('poll', { publishes: ['in'], schedule: { interval: '1h' }, async handler(ctx) {
    for (let page = 0; page < 2; page++) await ctx.shop.get({ path: '/orders' });
    ctx.publish('in', { messageId: '1', payload: 1 });
  } })
  .each('read', 'in', { title: () => 'x', async mutate() {} });
`);
  await arrived;
  await stage.person.cancel(workflow);
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['poll executing cancelled']);
  assert.deepEqual(stage.events(), []);
  assert.equal(stage.reader.table('executions')[0]?.status, 'cancelled');
  stage.outside.release();
  await stage.person.trigger(workflow);
  await stage.quiet();
  assert.deepEqual(stage.events(), ['1 consumed']);
});

test('a paused workflow starts nothing and sends nothing; what had passed its mutation goes on to its commit', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behaveOnReads('hold');
  const { workflow } = await stage.deploy(orders({ prepare: READ }));
  const reads = stage.outside.arrival('read');
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await reads;
  await stage.person.pause(workflow);
  stage.outside.release();
  await stage.quiet();
  assert.deepEqual(stage.outside.done, [], 'paused before its call');
  assert.deepEqual(stage.events(), ['1 pending', '2 pending']);
  stage.outside.behave({ after: 'hold' });
  const calls = stage.outside.arrival();
  await stage.person.resume(workflow);
  await calls;
  await stage.person.pause(workflow);
  stage.outside.release();
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1'], 'paused during its call');
  assert.deepEqual(stage.events('placed'), ['1 consumed', '2 pending']);
  await assert.rejects(stage.person.trigger(workflow), { code: 'held' });
  await stage.person.resume(workflow);
  await stage.quiet();
  assert.deepEqual(stage.events('placed'), ['1 consumed', '2 consumed']);
});

test('while paused an answer is recorded and the retry waits', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:reconciliation');
  await stage.person.pause(workflow);
  await stage.person.resolve(stage.mutation().id, 'happened', BOOKED);
  await stage.quiet();
  assert.deepEqual(stage.workflow().holds, ['user']);
  assert.deepEqual(stage.events(), ['1 reserved']);
  await stage.person.resume(workflow);
  await stage.quiet();
  assert.deepEqual(stage.events('placed'), ['1 consumed']);
});

for (const [phase, parts] of [
  ['prepare', { prepare: READ }],
  ['mutate', {}],
  ['next', { next: SPIN }],
] as const) {
  test(`asked to end in ${phase}, the process lets the run reach its commit and leaves nothing active`, async (t) => {
    const stage = await Stage.open(t);
    if (phase === 'prepare') stage.outside.behaveOnReads('hold');
    if (phase === 'mutate') stage.outside.behave({ after: 'hold' });
    const { workflow } = await stage.deploy(orders(parts));
    const begun =
      phase === 'next'
        ? stage.until('next has begun', () => stage.runs().at(-1) === 'book emitting active')
        : stage.outside.arrival(phase === 'prepare' ? 'read' : 'call');
    await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
    await begun;
    const stopped = stage.stop();
    stage.outside.release();
    await stopped;
    assert.deepEqual(stage.outside.done, ['/bookings 1'], 'no other run began');
    await stage.start();
    assert.equal(stage.app.engine.recovered.runs + stage.app.engine.recovered.sessions, 0);
    await stage.quiet();
    assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
  });
}
