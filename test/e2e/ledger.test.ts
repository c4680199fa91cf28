// A call from intent to settled: looked up with patience, approved once, refused for want of a permission, pinned to its version.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BY } from './person.ts';
import { orders } from './scripts.ts';
import { Stage } from './stage.ts';

const LOOK_UP = { reconcile: { get: '/found/{json.id}', applied: { has: { 'body.id': '{json.id}' } } } };

test('an unknown outcome is looked up at once, then ever more rarely, then a person is asked; looking again may find it', async (t) => {
  const stage = await Stage.open(t, LOOK_UP);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders({ next: null }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.until('it was looked up once', () => stage.reader.table('mutations')[0]?.reconcileCount === 1);
  const waits: number[] = [];
  while (stage.mutation().status === 'needs_reconcile') {
    const { reconcileAt, reconcileCount } = stage.mutation();
    assert.ok(reconcileAt);
    waits.push(reconcileAt - stage.clock.now());
    await stage.pass(reconcileAt - stage.clock.now());
    await stage.until('it was looked up', () => {
      const { status, reconcileCount: count } = stage.mutation();
      return count > reconcileCount || status !== 'needs_reconcile';
    });
  }
  assert.equal(stage.mutation().status, 'indeterminate');
  assert.deepEqual(
    waits,
    waits.toSorted((a, b) => a - b),
  );
  assert.ok(waits.length >= 8 && (waits.at(-1) ?? 0) > 30 * 60_000, `${waits}`);
  assert.equal(stage.outside.reads.length, waits.length + 1);
  assert.deepEqual(stage.workflow().holds, ['unknown']);
  stage.outside.pages.set('/found/1', { id: '1' });
  await stage.person.resolve(stage.mutation().id, 'check_again');
  await stage.quiet();
  assert.equal(stage.mutation().resolvedBy, 'reconcile');
  assert.deepEqual(stage.events(), ['1 consumed']);
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('a person who answers while the engine looks is not contradicted, nor is the look an error', async (t) => {
  const stage = await Stage.open(t, LOOK_UP);
  stage.outside.behave({ after: 'drop' });
  stage.outside.behaveOnReads('hold');
  const looked = stage.outside.arrival('read');
  const { workflow } = await stage.deploy(orders({ next: null }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await looked;
  await stage.person.resolve(stage.mutation().id, 'skip');
  stage.outside.release();
  await stage.restart();
  await stage.quiet();
  assert.deepEqual(stage.events(), ['1 skipped']);
});

test('a method that asks the first time asks once', async (t) => {
  const stage = await Stage.open(t, { approval: { post: 'first' } });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.untilRun('paused:approval');
  await stage.person.approve(stage.mutation().id);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

test('an approved call survives a restart before it is sent', async (t) => {
  const stage = await Stage.open(t, { approval: { post: 'always' } });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:approval');
  await stage.person.pause(workflow);
  await stage.person.approve(stage.mutation().id);
  await stage.restart();
  assert.deepEqual(stage.outside.done, []);
  await stage.person.resume(workflow);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  assert.deepEqual(stage.events('booked'), ['1 pending']);
});

test('what a provider forbids waits for a permission, its events free', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ answer: 403 });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:approval');
  assert.deepEqual(stage.workflow().holds, ['approval']);
  assert.deepEqual(stage.events(), ['1 pending']);
  await stage.manager.approveGrant(workflow, 'ada');
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('a permission that is taken back while a call waits for its turn is not used', async (t) => {
  const stage = await Stage.open(t, { concurrency: 1 });
  const { workflow: first } = await stage.deploy(orders({ name: 'first' }));
  const { workflow: second } = await stage.deploy(orders({ name: 'second' }));
  stage.outside.behave({ after: 'hold' });
  const arrived = stage.outside.arrival();
  await stage.publish(first, 'placed', { id: '1' });
  await arrived;
  const admit = t.mock.method(stage.app.connections, 'admit');
  await stage.publish(second, 'placed', { id: '2' });
  while (admit.mock.callCount() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await stage.manager.takeGrant(second, 'shop', 'post', BY);
  await new Promise((resolve) => setTimeout(resolve, 50));
  stage.outside.release();
  await stage.untilRun('paused:approval', second);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('a run keeps its version to its end, and the next session takes the new one', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'hold' });
  const { workflow } = await stage.deploy(orders({ next: "ctx.log('old ' + data.id);" }));
  const arrived = stage.outside.arrival();
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await arrived;
  const { version } = await stage.deploy(orders({ next: "ctx.log('new ' + data.id);" }));
  assert.equal(version, '1.1');
  stage.outside.release();
  await stage.quiet();
  assert.deepEqual(
    stage.reader.table('run_logs').map((log) => log.message),
    ['old 1', 'new 2'],
  );
});

test('what next publishes is caused by all inputs of what it took', async (t) => {
  const stage = await Stage.open(t);
  await stage.deploy(`
export default defineWorkflow({ name: 'sums', uses: {}, topics: { in: {}, sum: {} } })
  .producer('poll', { publishes: ['in'], schedule: { interval: '1h' }, async handler(ctx) {
    for (const id of ['a', 'b']) {
      const inputId = ctx.registerInput({ source: 'test', type: 'number', id, title: 'Number ' + id });
      ctx.publish('in', { messageId: id, inputId, payload: id });
    }
  } })
  .consumer('sum', { subscribe: ['in'], publishes: ['sum'],
    async prepare(ctx) { const all = await ctx.peek('in'); return all.length > 0 ? ctx.take(all, { data: {} }) : ctx.idle(); },
    async next(ctx) { ctx.publish('sum', { messageId: 'sum', payload: 1 }); },
  });
`);
  await stage.quiet();
  const causes = stage.reader.fetch('inputsOf', stage.event('sum').id).map(({ inputId }) => inputId);
  assert.deepEqual(
    causes.toSorted(),
    stage.reader
      .table('inputs')
      .map((input) => input.id)
      .toSorted(),
  );
  assert.equal(causes.length, 2);
});

test('lines are appended to a file, each once', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(
    orders({ next: null, mutate: "return ctx.book.append({ path: 'ledger.txt', text: data.id + '\\n' });" }),
  );
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.quiet();
  assert.equal(readFileSync(join(stage.folder, 'out', 'ledger.txt'), 'utf8'), '1\n2\n');
});
