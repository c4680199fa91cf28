// The fourteen scenarios of spec/000 through a real script, a real server, and a person who types commands. Killed processes
// (7, 11) are in crash.test.ts too.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openEngine } from '#execution';
import { orders, POLL, SPIN, TELL } from './scripts.ts';
import { Stage } from './stage.ts';

const BUG = "throw new Error('a bug');";

test('1: a logic error in prepare releases the events, and the repaired version processes them', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(orders({ prepare: BUG }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  assert.deepEqual(stage.runs(), ['book preparing failed:logic']);
  assert.deepEqual(stage.events(), ['1 pending']);
  assert.deepEqual(stage.sessions(), ['event failed']);
  assert.equal(stage.workflow().status, 'active');
  assert.equal(stage.workflow().pendingRetryRunId, null);
  await stage.until('there is a case for it', () => stage.reader.table('maintenance_tasks').length === 1);
  assert.match(await stage.keyboard.ok('status'), /orders: needs a repair: book failed: .*a bug/);
  await stage.deploy(orders());
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  assert.deepEqual(stage.runs(), ['book preparing failed:logic', 'book committed committed']);
  assert.equal(stage.lastRun().retryOf, null, 'a fresh run');
});

test('2: a logic error in next keeps the events for the retry, which runs only next', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(orders({ next: BUG }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  const failed = stage.lastRun();
  assert.deepEqual(stage.runs(), ['book emitting failed:logic']);
  assert.deepEqual(stage.events(), ['1 reserved']);
  assert.equal(stage.workflow().pendingRetryRunId, failed.id);
  assert.equal(stage.workflow().maintenance, true);
  await stage.deploy(orders());
  await stage.quiet();
  assert.equal(stage.lastRun().retryOf, failed.id);
  assert.deepEqual(stage.events(), ['1 consumed', '1 pending']);
  assert.equal(stage.workflow().pendingRetryRunId, null);
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('3: a transient error in prepare releases the events, backs off, and a fresh session follows', async (t) => {
  const stage = await Stage.atKeyboard(t);
  stage.outside.behaveOnReads({ answer: 503 });
  const { workflow } = await stage.deploy(orders({ prepare: "await ctx.shop.get({ path: '/price' });" }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:transient');
  assert.deepEqual(stage.runs(), ['book preparing paused:transient']);
  assert.deepEqual(stage.events(), ['1 pending']);
  assert.equal(stage.workflow().status, 'active');
  assert.ok((stage.workflow().dueAt ?? 0) > stage.lastRun().startTimestamp + 500, 'not at once');
  await stage.pass(5_000);
  await stage.quiet();
  assert.deepEqual(stage.sessions(), ['event failed', 'event completed']);
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('4: when the sandbox dies in next, the run backs off and its retry runs next again', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(orders({ next: SPIN }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.until('next has begun', () => stage.runs().at(-1) === 'book emitting active');
  while (stage.lastRun().status === 'active') {
    killSandboxOf(stage);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(stage.runs(), ['book emitting paused:transient']);
  assert.equal(stage.workflow().pendingRetryRunId, stage.lastRun().id);
  assert.deepEqual(stage.events(), ['1 reserved']);
  assert.equal(stage.workflow().status, 'active');
  await stage.pass(5_000);
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book emitting paused:transient', 'book committed committed']);
  assert.deepEqual(stage.events(), ['1 consumed', '1 pending']);
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

function killSandboxOf(stage: Stage): void {
  for (const pid of stage.app.sandbox.pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH', 'it may be dead already');
    }
  }
}

test('5 and 10: a mutation is applied, next runs, and one commit ends it; the session goes on to the next event', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(orders({ more: TELL }));
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2', '/told 1', '/told 2']);
  assert.deepEqual(
    stage.reader.table('mutations').map((row) => `${row.status} by ${row.resolvedBy}`),
    Array(4).fill('applied by provider'),
  );
  assert.deepEqual(
    stage.reader.table('handler_runs').map((run) => `${run.status} ${run.mutationOutcome}`),
    Array(4).fill('committed success'),
  );
  assert.deepEqual(stage.sessions(), ['event completed']);
});

test('6: a definite refusal fails the mutation, releases the events and stops the run by its class', async (t) => {
  const stage = await Stage.atKeyboard(t);
  stage.outside.behave({ answer: 422, body: { error: 'no such product' } });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  assert.equal(stage.mutation().status, 'failed');
  assert.match(stage.mutation().error ?? '', /422.*no such product/);
  assert.equal(stage.lastRun().mutationOutcome, 'failure');
  assert.deepEqual(stage.events(), ['1 pending']);
  assert.equal(stage.workflow().pendingRetryRunId, null);
  assert.equal(stage.workflow().maintenance, true);
  await stage.person.retry(workflow);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  const [refused, applied] = stage.reader.table('mutations');
  assert.notEqual(refused?.idempotencyKey, applied?.idempotencyKey, 'a new request to the provider');
});

test('7: of a call that timed out nobody knows; "it did not happen" releases the events for a fresh run', async (t) => {
  const stage = await Stage.atKeyboard(t, { timeoutMs: 1_500 });
  stage.outside.behave({ after: 'hang' });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:reconciliation');
  assert.deepEqual(stage.events(), ['1 reserved']);
  assert.equal(stage.workflow().status, 'paused');
  assert.equal(stage.workflow().pendingRetryRunId, stage.lastRun().id);
  await stage.person.resolve(stage.mutation().id, 'did_not_happen');
  await stage.quiet();
  const [asserted] = stage.reader.table('mutations');
  assert.equal(asserted?.resolvedBy, 'user_assert_failed');
  assert.equal(asserted?.resolvedByName, 'ada');
  assert.deepEqual(stage.runs(), ['book mutating paused:reconciliation', 'book committed committed']);
  // The person was wrong, and the provider can tell: both calls carry the same key.
  assert.equal(new Set(stage.outside.effects.map((effect) => effect.key)).size, 1);
  await stage.person.resume(workflow);
  assert.equal(stage.workflow().status, 'active', 'the hold was lifted by the answer; resume changes nothing');
});

test('8: skipping ends a consumer without next at once', async (t) => {
  const stage = await Stage.atKeyboard(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders({ next: null }));
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.untilRun('paused:reconciliation');
  await stage.person.resolve(stage.mutation().id, 'skip');
  await stage.quiet();
  const [skipped] = stage.reader.table('handler_runs');
  assert.equal(skipped?.mutationOutcome, 'skipped');
  assert.deepEqual(stage.runs(), ['book committed committed', 'book committed committed']);
  assert.deepEqual(stage.events(), ['1 skipped', '2 consumed']);
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

test('9: empty reservations go from prepared to emitting, and the commit consumes nothing', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(
    orders({ prepare: 'return { reservations: [], data: { id: e.payload.id, count: 1 } };' }),
  );
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book committed committed']);
  assert.deepEqual(stage.events(), ['1 pending']);
  assert.deepEqual(stage.sessions(), ['event completed']);
});

test('11: what a stop wrote is whole: a restart right after it finds nothing to recover', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(orders({ next: BUG }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  await stage.restart();
  const { runs, sessions, orphanedEvents, violations } = stage.app.engine.recovered;
  assert.deepEqual(
    { runs, sessions, orphanedEvents, violations },
    { runs: 0, sessions: 0, orphanedEvents: [], violations: [] },
  );
  await stage.deploy(orders());
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('12: a producer that fails ends its session and touches no event', async (t) => {
  const stage = await Stage.atKeyboard(t);
  stage.outside.pages.set('/orders', { not: 'a list' });
  const { workflow } = await stage.deploy(orders({ more: POLL }));
  await stage.untilRun('failed:logic');
  await stage.publish(workflow, 'placed', { id: '1' });
  assert.deepEqual(stage.runs(), ['poll executing failed:logic']);
  assert.deepEqual(stage.events(), ['1 pending']);
  assert.deepEqual(stage.sessions(), ['schedule failed']);
  stage.outside.pages.set('/orders', [{ id: '2' }]);
  await stage.person.retry(workflow);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

test('13: refused credentials before the mutation release the events, and wait for the connection', async (t) => {
  const stage = await Stage.atKeyboard(t, { auth: { bearer: { secret: 'token' } } });
  stage.outside.bearer = 'another token';
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:approval');
  assert.deepEqual(stage.events(), ['1 pending']);
  assert.deepEqual([stage.workflow().status, stage.workflow().holds], ['error', ['connection']]);
  stage.outside.bearer = 'token';
  await stage.person.cure('shop');
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('13: refused credentials after the mutation keep the events, and next runs when the connection is cured', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(orders());
  await stage.person.pause(workflow);
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.stop();
  await stopAfterMutation(join(stage.folder, 'data'));
  await stage.start();
  assert.deepEqual(stage.runs(), ['book emitting paused:approval']);
  assert.deepEqual(stage.events(), ['1 reserved']);
  assert.deepEqual(stage.workflow().holds, ['connection']);
  await stage.person.cure('shop');
  await stage.quiet();
  assert.deepEqual(stage.events(), ['1 consumed', '1 pending']);
  assert.equal(stage.event('1').topic, 'placed');
});

/** `next` makes no calls, so only the manager can bring a run there. */
async function stopAfterMutation(dataDir: string): Promise<void> {
  const engine = await openEngine({ dataDir });
  const [workflow] = await engine.reader.table('workflows');
  assert.ok(workflow);
  await engine.manager.resumeWorkflow(workflow.id, 'ada');
  await engine.manager.together((model) => {
    const due = model.scheduleDue(workflow.id);
    assert.ok('execution' in due);
    model.beginScheduling(due.execution);
    const claimed = model.claimExecution(due.execution, model.handOff(due.execution).epoch, engine.self);
    assert.ok('fence' in claimed);
    const { fence } = claimed;
    const next = model.advanceSession(fence);
    assert.ok('run' in next);
    model.updateConsumerPhase(fence, next.run, 'prepared', {
      reservations: [{ topic: 'placed', ids: ['1'] }],
      prepareResult: '{"reservations":[{"topic":"placed","ids":["1"]}],"data":{"id":"1","count":1}}',
    });
    model.updateConsumerPhase(fence, next.run, 'mutating');
    const call = { connection: 'shop', method: 'post', params: '{}', preview: 'POST', title: null, timeoutMs: 1 };
    const started = model.startMutation(fence, next.run, {
      ...call,
      canReconcile: false,
      visibilityMs: 0,
      needsApproval: false,
    });
    assert.ok('idempotencyKey' in started);
    const answer = { resolvedBy: 'provider' } as const;
    model.updateMutationResult(started.mutation, 'success', { fence, answer, result: '{"body":{"ref":"b1"}}' });
    model.updateConsumerPhase(fence, next.run, 'emitting');
    const cause = { kind: 'auth', connection: 'shop', version: 0 } as const;
    model.updateHandlerRunStatus(fence, next.run, 'paused:approval', { error: 'refused', cause });
  });
  await engine.close();
}

test('14: of two consumers in a session the first commits and the second fails; only the second is retried', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const broken = TELL.replace('async mutate', `async next() { ${BUG} }, async mutate`);
  const inOrder = broken.replace(/(async next\(\) \{.*?\}, )(async mutate.*?\},\n)/s, '$2    $1');
  const { workflow } = await stage.deploy(orders({ more: inOrder }));
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  assert.deepEqual(stage.runs(), ['book committed committed', 'tell emitting failed:logic']);
  assert.deepEqual(stage.events(), ['1 consumed', '1 reserved']);
  assert.deepEqual(stage.sessions(), ['event failed']);
  await stage.deploy(orders({ more: TELL }));
  await stage.quiet();
  assert.deepEqual(stage.runs().at(-1), 'tell committed committed');
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/told 1']);
});
