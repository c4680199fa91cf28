// The consumer's life as the source tells it: what is pinned, what is replayed, what a commit does. Through the real sandbox.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orders } from './scripts.ts';
import { BOOKED, Stage } from './stage.ts';

test('events are reserved by prepare, stay so while the call is out, and are consumed by the commit', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'hold' });
  const { workflow } = await stage.deploy(orders());
  const arrived = stage.outside.arrival();
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await arrived;
  assert.deepEqual(stage.events(), ['1 reserved', '2 pending']);
  assert.equal(stage.event('1').reservedByRunId, stage.lastRun().id);
  assert.deepEqual(stage.runs(), ['book mutating active']);
  assert.equal(stage.mutation().status, 'in_flight');
  stage.outside.release();
  await stage.quiet();
  assert.deepEqual(stage.events('placed'), ['1 consumed', '2 consumed']);
});

test('people see the call as the host saw it, whatever the script says that it does', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders().replace("title: 'Book ' + e.payload.id", "title: 'Nothing much'"));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.equal(stage.mutation().uiTitle, 'Nothing much');
  assert.match(stage.mutation().preview, /POST .*\/bookings/);
  assert.match(stage.mutation().preview, /"id": ?"1"/);
});

test('a run may reserve events of several topics, and they are consumed together', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'pairs', uses: {}, topics: { left: {}, right: {} } })
  .consumer('pair', { subscribe: ['left', 'right'], async prepare(ctx) {
    const [l] = await ctx.peek('left', { limit: 1 });
    const [r] = await ctx.peek('right', { limit: 1 });
    return l && r ? ctx.take([l, r], { data: {} }) : ctx.idle();
  } });
`);
  await stage.publish(workflow, 'left', { id: 'l1' });
  await stage.quiet();
  assert.deepEqual(stage.events(), ['l1 pending'], 'the other half is not there yet');
  await stage.publish(workflow, 'right', { id: 'r1' });
  await stage.quiet();
  assert.deepEqual(stage.events(), ['l1 consumed', 'r1 consumed']);
});

test('prepare is launched again freely: it reads anew, and only the result of the run that goes on is kept', async (t) => {
  const stage = await Stage.open(t);
  const read = "const { body } = await ctx.shop.get<{ cents: number }>({ path: '/price' });";
  const { workflow } = await stage.deploy(
    orders({ prepare: read, mutate: BOOK_PRICE }).replace(
      '{ id: e.payload.id,',
      '{ id: e.payload.id, cents: body.cents,',
    ),
  );
  stage.outside.pages.set('/price', { cents: 5 });
  stage.outside.behaveOnReads({ answer: 503 });
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:transient');
  assert.equal(stage.lastRun().prepareResult, null);
  assert.deepEqual(stage.events(), ['1 pending']);
  stage.outside.pages.set('/price', { cents: 7 });
  await stage.pass(5_000);
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book preparing paused:transient', 'book committed committed']);
  assert.deepEqual(stage.outside.effects[0]?.body, { id: '1', cents: 7 });
});

const BOOK_PRICE =
  "return ctx.shop.post<{ ref: string }>({ path: '/bookings', json: { id: data.id, cents: data.cents } });";

test('mutate is not run again for a call that may have gone out, not even when its code changes', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:reconciliation');
  await stage.deploy(
    orders({ mutate: "return ctx.shop.post<{ ref: string }>({ path: '/again', json: { id: data.id } });" }),
  );
  await stage.person.resolve(stage.mutation().id, 'happened', BOOKED);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  assert.deepEqual(stage.events('placed'), ['1 consumed']);
});

test('a mutation is the last thing mutate does: nothing after it runs, and a second one is never sent', async (t) => {
  const stage = await Stage.open(t);
  const hidden = `await hide(ctx.shop, 'post', { path: '/bookings', json: { id: data.id } });
    await hide(ctx.shop, 'post', { path: '/second', json: { id: data.id } });
    throw new Error('never reached');`;
  const { workflow } = await stage.deploy(
    orders({ mutate: hidden, top: 'const hide = (o: any, name: string, ...args: any[]) => o[name](...args);' }),
  );
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  assert.deepEqual(stage.runs(), ['book committed committed']);
  const open = orders({ mutate: "await ctx.shop.post({ path: '/a' }); await ctx.shop.post({ path: '/b' });" });
  await assert.rejects(stage.deploy(open), { name: 'ScriptInvalidError' });
});

test('what mutate returns besides its call is thrown away', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(
    orders({
      mutate: "return { body: { ref: 'made up' } } as any;",
      next: "ctx.log('next got ' + JSON.stringify(r));",
    }),
  );
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(
    stage.reader.table('run_logs').map((log) => log.message),
    ['next got {"status":"none"}'],
  );
  assert.equal(stage.reader.table('mutations').length, 0);
});

test('next is launched again with the same arguments, and what it publishes is there once', async (t) => {
  const stage = await Stage.open(t);
  const say = 'ctx.log(JSON.stringify([data, r]));';
  const { workflow } = await stage.deploy(orders({ next: `${say} throw new Error('a bug');` }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  assert.deepEqual(stage.events('booked'), []);
  await stage.deploy(orders({ next: say }));
  await stage.quiet();
  const [first, second, ...more] = stage.reader.table('run_logs').map((log) => log.message);
  assert.equal(first, second);
  assert.deepEqual(more, []);
  assert.deepEqual(stage.events('booked'), ['1 pending']);
  assert.deepEqual(stage.state('book'), { count: 1 });
});

test('publishing the same message again changes a pending event and leaves a consumed one alone', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(`
export default defineWorkflow({ name: 'twice', uses: {}, topics: { in: topic<{ id: string }>(), out: {} } })
  .consumer('copy', { subscribe: ['in'], publishes: ['out'],
    async prepare(ctx) { const [e] = await ctx.peek('in', { limit: 1 }); return e ? ctx.take(e, { data: e.payload }) : ctx.idle(); },
    async next(ctx, { data }) { ctx.publish('out', { messageId: 'same', payload: { from: data.id } }); },
  });
`);
  await stage.publish(workflow, 'in', { id: '1' }, { id: '2' });
  await stage.quiet();
  assert.deepEqual(stage.events('out'), ['same pending']);
  assert.equal(stage.event('same').payload, '{"from":"2"}', 'the last one wins');
  await stage.publish(workflow, 'in', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.events('in'), ['1 consumed', '2 consumed']);
});

test('next runs after a skip, is told so, and its commit marks the events skipped', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders({ next: "ctx.log('next got ' + r.status);" }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:reconciliation');
  await stage.person.resolve(stage.mutation().id, 'skip');
  await stage.quiet();
  assert.deepEqual(stage.events(), ['1 skipped']);
  assert.deepEqual(
    stage.reader.table('run_logs').map((log) => log.message),
    ['next got skipped'],
  );
  assert.equal(stage.workflow().status, 'active');
});

test('a pause keeps the phase, the reservations and the ledger as they are, and goes on from there', async (t) => {
  const stage = await Stage.open(t, { visibilityMs: 0 });
  stage.outside.behave({ after: 'hang' });
  stage.shop = { timeoutMs: 1_500 };
  await stage.restart();
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.untilRun('paused:reconciliation');
  const stopped = stage.lastRun();
  assert.equal(stopped.phase, 'mutating');
  await stage.restart();
  assert.deepEqual(stage.runs(), ['book mutating paused:reconciliation']);
  assert.deepEqual(stage.events(), ['1 reserved', '2 pending']);
  assert.equal(stage.mutation().status, 'indeterminate');
  await stage.person.resolve(stage.mutation().id, 'happened', BOOKED);
  await stage.quiet();
  assert.deepEqual(stage.runs().slice(0, 2), ['book mutating paused:reconciliation', 'book committed committed']);
  assert.equal(stage.reader.table('handler_runs')[1]?.retryOf, stopped.id);
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

test('state is saved with the commit or not at all, and is kept when next returns none', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(
    orders({ next: "if (data.id === '2') return; if (data.id === '3') return { count: 'x'.repeat(70_000) };" }),
  );
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.quiet();
  assert.deepEqual(stage.state('book'), { count: 1 });
  await stage.publish(workflow, 'placed', { id: '3' });
  await stage.untilRun('failed:logic');
  assert.match(stage.lastRun().error ?? '', /state/);
  assert.deepEqual(stage.state('book'), { count: 1 });
  assert.deepEqual(stage.events('placed'), ['1 consumed', '2 consumed', '3 reserved']);
});

test('what a producer publishes before it throws is not published, and its state is not saved', async (t) => {
  const stage = await Stage.open(t);
  await stage.deploy(`
export default defineWorkflow({ name: 'throws', uses: {}, topics: { in: {} } })
  .producer('poll', { publishes: ['in'], schedule: { interval: '1h' }, state: { n: 0 }, async handler(ctx) { ctx.publish('in', { messageId: '1', payload: 1 }); throw new Error('late'); } })
  .consumer('work', { subscribe: ['in'], async prepare(ctx) { return ctx.idle(); } });
`);
  await stage.until('it stops', () => stage.workflow().maintenance);
  assert.deepEqual(stage.events(), []);
  assert.equal(stage.state('poll'), undefined);
});
