// What starts a workflow: the clock, a delivery, an event, a wake time, a person; and what makes it wait.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { orders, POLL } from './scripts.ts';
import { Stage } from './stage.ts';

const HOUR = 3_600_000;

function polls(stage: Stage): number {
  return stage.reader.table('handler_runs').filter((run) => run.handlerName === 'poll').length;
}

test('a schedule ticks; ticks missed while busy or down become one', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/orders', []);
  await stage.deploy(orders({ more: POLL }));
  await stage.quiet();
  await stage.pass(HOUR);
  await stage.quiet();
  assert.equal(polls(stage), 2, 'one tick, one run');
  await stage.pass(5 * HOUR);
  await stage.quiet();
  assert.equal(polls(stage), 3, 'five ticks late, one run');
  await stage.stop();
  stage.clock.aheadMs += 24 * HOUR;
  await stage.start();
  await stage.quiet();
  assert.equal(polls(stage), 4, 'a day of downtime, one run');
  stage.outside.behaveOnReads('hold');
  const arrived = stage.outside.arrival('read');
  await stage.pass(HOUR);
  await arrived;
  await stage.pass(3 * HOUR);
  assert.equal(polls(stage), 5, 'ticks while it runs start nothing');
  stage.outside.release();
  await stage.quiet();
  assert.equal(polls(stage), 5, 'and its own commit sets the next tick');
  assert.deepEqual(new Set(stage.sessions()), new Set(['schedule completed']));
});

test('a cron line is read in its time zone', async (t) => {
  const stage = await Stage.open(t);
  await stage.deploy(`
export default defineWorkflow({ name: 'mornings', uses: {}, topics: { in: {} } })
  .producer('poll', { publishes: ['in'], schedule: { cron: '30 8 * * *', timeZone: 'Asia/Kathmandu' }, async handler() {} })
  .each('read', 'in', { title: () => 'x', async mutate() {} });
`);
  const at = stage.reader.table('handler_states')[0]?.nextAt ?? 0;
  assert.match(new Date(at).toISOString(), /T02:45:00\.000Z$/);
  assert.equal(stage.runs().length, 0, 'not before its time');
  await stage.pass(at - stage.clock.now());
  await stage.quiet();
  assert.equal(polls(stage), 1);
});

test('a person runs everything now: producers without a schedule, consumers that rest, handlers that back off', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'by-hand', uses: { shop: 'http' }, topics: { in: {}, other: {} } })
  .producer('once', { publishes: ['in'], async handler(ctx) { ctx.publish('in', { messageId: 'm', payload: 1 }); } })
  .consumer('rests', { subscribe: ['other'], async prepare(ctx) { ctx.log('looked'); return ctx.idle(); } })
  .consumer('fails', { subscribe: ['in'], async prepare(ctx) {
    await ctx.shop.get({ path: '/x' });
    const [e] = await ctx.peek('in');
    return e ? ctx.take(e, { data: {} }) : ctx.idle();
  } });
`);
  await stage.publish(workflow, 'other', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['rests committed committed'], 'nothing starts the producer by itself');
  stage.outside.behaveOnReads({ answer: 503, headers: { 'retry-after': '3600' } });
  await stage.person.trigger(workflow);
  await stage.untilRun('paused:transient');
  await stage.person.trigger(workflow);
  await stage.quiet();
  assert.deepEqual(stage.sessions(), ['event completed', 'manual failed', 'manual completed']);
  assert.equal(stage.reader.table('run_logs').length, 3, 'the resting consumer looked each time');
  assert.deepEqual(stage.events('in'), ['m consumed']);
});

test('a consumer that asked for it is woken at its time, and not before half a minute', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'wakes', uses: {}, topics: { in: {}, soon: {} } })
  .consumer('later', { subscribe: ['in'], async prepare(ctx) {
    const [e] = await ctx.peek('in');
    if (!e || Date.now() < e.createdAt + ${HOUR}) return ctx.idle({ wakeAt: new Date(Date.now() + ${HOUR}) });
    return ctx.take(e, { data: {} });
  } })
  .consumer('soon', { subscribe: ['soon'], async prepare() { return { reservations: [], data: {}, wakeAt: new Date(Date.now() + 1).toISOString() }; } });
`);
  await stage.publish(workflow, 'in', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.events('in'), ['1 pending']);
  await stage.pass(HOUR + 1_000);
  await stage.quiet();
  assert.deepEqual(stage.events('in'), ['1 consumed']);
  assert.deepEqual(stage.sessions(), ['event completed', 'wake completed']);
  await stage.publish(workflow, 'soon', { id: '2' });
  await stage.quiet();
  const kept = stage.reader.table('handler_states').find((state) => state.handlerName === 'soon');
  assert.ok((kept?.wakeAt ?? 0) - stage.clock.now() > 25_000, 'polling by waking is not offered');
});

test('a delivery is durable, deduped by its sender id, and handled once, in order, with its body', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'hooked', uses: {}, topics: { in: topic<{ id: string }>() } })
  .webhook('hook', { publishes: ['in'], verify: 'standard', state: { seen: 0 }, async handler(ctx, delivery, state) {
    const inputId = ctx.registerInput({ source: 'hook', type: 'delivery', id: delivery.id, title: 'Delivery ' + delivery.id });
    ctx.publish('in', { messageId: delivery.id, inputId, payload: delivery.body });
    return { seen: state.seen + 1 };
  } })
  .each('read', 'in', { title: (data) => data.id, async mutate() {} });
`);
  await stage.manager.pauseWorkflow(workflow, 'ada');
  assert.equal(await deliver(stage, 'd1', { id: 'a' }), 202);
  assert.equal(await deliver(stage, 'd2', { id: 'b' }), 202);
  assert.equal(await deliver(stage, 'd1', { id: 'changed' }), 200);
  assert.equal(await deliver(stage, 'd3', { id: 'c' }, 'another secret'), 401);
  await stage.restart();
  await stage.manager.resumeWorkflow(workflow, 'ada');
  await stage.quiet();
  assert.equal(await deliver(stage, 'd2', { id: 'b' }), 200, 'also when it is done');
  await stage.quiet();
  assert.deepEqual(stage.events(), ['d1 consumed', 'd2 consumed']);
  assert.equal(stage.event('d1').payload, '{"id":"a"}');
  assert.deepEqual(stage.state('hook'), { seen: 2 });
  assert.deepEqual(
    stage.reader.table('inputs').map((input) => input.title),
    ['Delivery d1', 'Delivery d2'],
  );
  assert.equal(stage.sessions()[0], 'webhook completed');
});

test('a delivery the script stumbles over is named in status, and can be left out', async (t) => {
  const stage = await Stage.atKeyboard(t);
  await stage.deploy(`
export default defineWorkflow({ name: 'hooked', uses: {}, topics: { in: topic<{ id: string }>() } })
  .webhook('hook', { publishes: ['in'], verify: 'standard', async handler(ctx, delivery) {
    ctx.publish('in', { messageId: delivery.id, payload: { id: delivery.body.order.id } });
  } })
  .each('read', 'in', { title: (data) => data.id, async mutate() {} });
`);
  assert.equal(await deliver(stage, 'd1', { nonsense: true }), 202);
  assert.equal(await deliver(stage, 'd2', { order: { id: 'b' } }), 202);
  await stage.quiet();
  assert.deepEqual(stage.events(), [], 'the second waits behind the first');
  const status = await stage.keyboard.ok('status');
  assert.match(status, /2 deliveries wait behind it/);
  const [, id = ''] = /pawl skip (dlv_\w+)/.exec(status) ?? [];
  const [failed] = stage.reader.table('handler_runs');
  const wrong = await stage.keyboard.type('skip', id, 'evt_1');
  assert.deepEqual([wrong.code, wrong.err.includes('a delivery is skipped by itself')], [2, true], wrong.err);
  assert.match(await stage.keyboard.ok('skip', id), /^the delivery is skipped\n {2}delivery: dlv_/);
  await stage.quiet();
  assert.deepEqual(stage.events(), ['d2 consumed']);
  assert.equal(await deliver(stage, 'd1', { order: { id: 'a' } }), 200, 'it stays known');
  assert.equal((await stage.keyboard.type('skip', id)).code, 5);
  const shown = await stage.keyboard.ok('show', id);
  assert.match(shown, /\n {2}status: skipped\n {2}sentence: skipped by \S+, because hook failed on it: .+\n/);
  assert.match(shown, /\n {2}skippedBy: \S+\n {2}skippedAt: \d{4}-.+\n/);
  const story = await stage.keyboard.ok('explain', failed?.id ?? '');
  assert.match(story, /delivery d1 came in as dlv_\w+: \{"nonsense":true\}/);
  assert.match(story, /skipped it/);
});

/** As a sender that follows Standard Webhooks. Gives the status of the answer. */
async function deliver(stage: Stage, id: string, payload: unknown, secret = 'token'): Promise<number> {
  const body = JSON.stringify(payload);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  const answer = await fetch(`${stage.url}/hooks/hooked/hook`, {
    method: 'POST',
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
  });
  return answer.status;
}

test('a transient failure waits a second, then two, then four, as long as the provider asks, and a day at most', async (t) => {
  const stage = await Stage.open(t);
  const unavailable = { answer: 503 } as const;
  stage.outside.behaveOnReads(unavailable, unavailable, unavailable, {
    answer: 429,
    headers: { 'retry-after': '600' },
  });
  const { workflow } = await stage.deploy(orders({ prepare: "await ctx.shop.get({ path: '/price' });" }));
  await stage.publish(workflow, 'placed', { id: '1' });
  for (const [failures, seconds] of [1, 2, 4, 600].entries()) {
    await stage.until(
      `failure ${failures + 1}`,
      () => stage.reader.table('handler_runs').filter((run) => run.endTimestamp).length === failures + 1,
    );
    const waitMs = (stage.workflow().dueAt ?? 0) - (stage.lastRun().endTimestamp ?? 0);
    assert.ok(waitMs >= seconds * 750 && waitMs <= seconds * 1_000, `${seconds} s with jitter, not ${waitMs} ms`);
    if (failures < 3) await stage.pass(waitMs);
  }
  stage.outside.behaveOnReads(unavailable);
  await stage.pass(24 * HOUR);
  await stage.until('a person must look', () => stage.workflow().holds.includes('error'));
  assert.match(stage.workflow().errorReason ?? '', /has not worked for a day/);
  await stage.person.resume(workflow);
  await stage.pass(HOUR);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});
