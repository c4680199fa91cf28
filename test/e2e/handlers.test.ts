// The list at the end of spec/003, as DESIGN §4 rules it: runs begin at preparing or executing, failed and suspended are
// statuses, an empty reservation still runs next, and a recovered run goes on as a new one of its chain.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orders, POLL, TELL } from './scripts.ts';
import { BOOKED, Stage } from './stage.ts';

const LOOK_UP = {
  reconcile: {
    get: '/done',
    applied: { has: { 'body.effects[*].body.id': '{json.id}' } },
    failed: { hasNot: { 'body.effects[*].body.id': '{json.id}' } },
  },
};

/** The phases every run was seen in by a commit, in order. */
function watchPhases(stage: Stage): Map<string, string[]> {
  const seen = new Map<string, string[]>();
  stage.app.engine.listen(() => {
    for (const run of stage.reader.table('handler_runs')) {
      const phases = seen.get(run.handlerName) ?? [];
      if (phases.at(-1) !== run.phase) phases.push(run.phase);
      seen.set(run.handlerName, phases);
    }
  });
  return seen;
}

test('a producer goes from executing to committed', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/orders', [{ id: '1' }]);
  const seen = watchPhases(stage);
  await stage.deploy(orders({ more: POLL }));
  await stage.quiet();
  assert.deepEqual(seen.get('poll'), ['executing', 'committed']);
  assert.deepEqual(stage.state('poll'), { polls: 1 });
  const kept = stage.reader.table('handler_states').find((state) => state.handlerName === 'poll');
  assert.ok((kept?.nextAt ?? 0) > Date.now() + 3_500_000, 'its next tick is set by its commit');
});

test('a producer that fails stays at executing, and its workflow needs a repair', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/orders', { not: 'a list' });
  await stage.deploy(orders({ more: POLL }));
  await stage.untilRun('failed:logic');
  assert.deepEqual(stage.runs(), ['poll executing failed:logic']);
  assert.equal(stage.workflow().maintenance, true);
  assert.match(stage.lastRun().error ?? '', /workflow\.ts:\d+/);
});

test('a consumer goes through all phases, and what its call came to is durable before a next that takes its time', async (t) => {
  const stage = await Stage.open(t);
  const seen = watchPhases(stage);
  const { workflow } = await stage.deploy(orders({ next: 'for (let i = 0; i < 5_000_000; i++);' }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(seen.get('book'), ['preparing', 'mutating', 'emitting', 'committed']);
  assert.equal(stage.lastRun().mutationOutcome, 'success');
  assert.equal(stage.mutation().status, 'applied');
  assert.equal(stage.mutation().idempotencyKey, stage.outside.effects[0]?.key);
});

test('what a call came to and what a quick next made of it are one commit', async (t) => {
  const stage = await Stage.open(t);
  const emitting = new Set<string>();
  stage.app.engine.listen(() => {
    for (const run of stage.reader.table('handler_runs')) if (run.phase === 'emitting') emitting.add(run.id);
  });
  const { workflow } = await stage.deploy(orders());
  for (let i = 0; i < 20; i++) await stage.publish(workflow, 'placed', { id: String(i) });
  await stage.quiet();
  assert.equal(stage.outside.done.length, 20);
  assert.deepEqual(new Set(stage.runs()), new Set(['book committed committed']));
  assert.ok(emitting.size < 15, `${emitting.size} of 20 took a commit more`);
});

test('what the model refuses of next does not keep what its call came to from being durable', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders({ next: "return { long: 'x'.repeat(100_000) };" }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  assert.deepEqual(stage.runs(), ['book emitting failed:logic']);
  assert.equal(stage.mutation().status, 'applied');
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('a consumer that fails in prepare stays at preparing, and keeps nothing', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders({ prepare: "throw new Error('a bug');" }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  assert.deepEqual(stage.runs(), ['book preparing failed:logic']);
  assert.deepEqual(stage.events(), ['1 pending']);
  assert.deepEqual(stage.lastRun().suspects, [stage.event('1').id]);
});

test('empty reservations skip mutate, run next with none, and commit', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(
    orders({
      prepare: 'return { reservations: [], data: { id: e.payload.id, count: 9 } };',
      next: 'ctx.log(r.status);',
    }),
  );
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book committed committed']);
  assert.deepEqual(stage.outside.done, []);
  assert.deepEqual(
    stage.reader.table('run_logs').map((log) => log.message),
    ['none'],
  );
  assert.deepEqual(stage.state('book'), { count: 9 });
  assert.deepEqual(stage.events(), ['1 pending'], 'and the consumer rests');
});

test('a call that was in flight when its run stopped makes it paused:reconciliation', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:reconciliation');
  assert.deepEqual(stage.runs(), ['book mutating paused:reconciliation']);
  assert.deepEqual(stage.workflow().holds, ['unknown']);
  assert.equal(stage.workflow().pendingRetryRunId, stage.lastRun().id);
});

test('a stopped run whose call turns out to be applied goes on at emitting', async (t) => {
  const stage = await Stage.open(t, LOOK_UP);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(
    orders({ next: "ctx.publish('booked', { messageId: 'x', payload: { ref: r.status } }); return { count: 5 };" }),
  );
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book mutating paused:reconciliation', 'book committed committed']);
  assert.equal(stage.mutation().resolvedBy, 'reconcile');
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  assert.equal(stage.event('x').payload, '{"ref":"applied"}');
});

test('a stopped run whose call turns out not to have happened is over, and a new one makes the call with the same key', async (t) => {
  const stage = await Stage.open(t, LOOK_UP);
  stage.outside.behave({ answer: 500 });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book mutating paused:reconciliation', 'book committed committed']);
  const [first, second] = stage.reader.table('mutations');
  assert.deepEqual([first?.status, second?.status], ['failed', 'applied']);
  assert.equal(first?.idempotencyKey, second?.idempotencyKey);
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('a run that a restart interrupted goes on from what the database has of it', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders({ more: TELL }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:reconciliation');
  await stage.person.resolve(stage.mutation().id, 'happened', BOOKED);
  await stage.restart();
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/told 1']);
  assert.deepEqual(stage.runs().at(-1), 'tell committed committed');
});
