import assert from 'node:assert/strict';
import type { MutationId, RunId } from '#base';
import { applyAndEmit, beginSession, CALL, PERSON, placed } from '../support/fixture.ts';
import {
  emitting,
  emittingEmpty,
  freshRun,
  inFlight,
  mutating,
  nextRun,
  prepared,
  preparing,
  published,
  restart,
  type Stage,
  sayNotDone,
  send,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// The walk-through of source 000, scenario by scenario, as ruled: a stop always ends the session (no `final` flag), a failed call is
// one commit, the engine lifts the hold it put, and a skip asks whether there is a `next`.

/** Everything a stopped run leaves behind that does not depend on the boundary. */
function assertStopped(world: World, stage: Pick<Stage, 'fence' | 'run'>): void {
  const { scriptRunId, error } = world.row('runs', stage.run);
  const at = world.clock.now();
  world.is('runs', stage.run, { endTimestamp: at });
  world.is('sessions', scriptRunId, { result: 'failed', error, endTimestamp: at });
  world.is('executions', stage.fence.execution, { status: 'failed', endedAt: at });
}

forEachStore('1. Consumer fails in preparing phase (logic error)', async (world) => {
  const { manager } = world;
  const stage = await preparing(world);
  const { workflow, run } = stage;

  assert.deepEqual(await stop(world, stage, 'failed:logic', { error: 'no such field' }), {
    run,
    status: 'failed:logic',
  });
  world.is('runs', run, { status: 'failed:logic', phase: 'preparing', error: 'no such field', mutationOutcome: '' });
  assertStopped(world, stage);
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('workflows', workflow, {
    status: 'active',
    holds: [],
    maintenance: true,
    maintenanceRunId: run,
    pendingRetryRunId: null,
    dueAt: null,
  });

  const { task } = await manager.createMaintenanceTask(workflow);
  world.is('tasks', task, { kind: 'repair', status: 'open', runId: run, detail: 'no such field' });
  assert.deepEqual(await manager.createMaintenanceTask(workflow), { task, kind: 'repair', created: false });

  await manager.exitMaintenanceMode(workflow, PERSON, true);
  world.is('tasks', task, { status: 'closed', closedBy: PERSON });
  world.is('workflows', workflow, { maintenance: false, maintenanceRunId: null, pendingRetryRunId: null });
  const fresh = await nextRun(world, workflow);
  world.is('runs', fresh.run, { phase: 'preparing', retryOf: null, handlerName: 'book' });
  await send(world, fresh);
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: fresh.run });
});

forEachStore('2. Consumer fails in emitting phase (logic error)', async (world) => {
  const { manager } = world;
  const stage = await emitting(world);
  const { workflow, run } = stage;

  await stop(world, stage, 'failed:logic');
  world.is('runs', run, { status: 'failed:logic', phase: 'emitting', mutationOutcome: 'success' });
  assertStopped(world, stage);
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: run });
  world.is('mutations', stage.mutation, { status: 'applied' });
  world.is('workflows', workflow, { status: 'active', holds: [], maintenance: true, pendingRetryRunId: run });
  await manager.createMaintenanceTask(workflow);

  await manager.exitMaintenanceMode(workflow, PERSON, true);
  world.is('workflows', workflow, { maintenance: false, pendingRetryRunId: run, dueAt: world.clock.now() });

  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, {
    phase: 'emitting',
    status: 'active',
    retryOf: run,
    rootRunId: run,
    attempt: 1,
    prepareResult: '{"data":1}',
    mutationOutcome: 'success',
  });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: retry.run });
  world.is('workflows', workflow, { pendingRetryRunId: null });

  await manager.commitConsumer(retry.fence, retry.run);
  world.is('runs', retry.run, { phase: 'committed', status: 'committed' });
  world.is('runs', run, { phase: 'emitting', status: 'failed:logic' });
  world.is('events', world.event('1'), { status: 'consumed', reservedByRunId: retry.run });
});

forEachStore('3. Transient error in preparing phase', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:transient');
  world.is('runs', stage.run, { status: 'paused:transient', phase: 'preparing' });
  assertStopped(world, stage);
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('workflows', stage.workflow, { status: 'active', maintenance: false, pendingRetryRunId: null });

  const { backoffUntil } = world.row('handlerStates', `${stage.workflow} book`);
  world.is('workflows', stage.workflow, { dueAt: backoffUntil });
  world.clock.advance(1_000);
  const fresh = await nextRun(world, stage.workflow);
  await send(world, fresh);
  assert.deepEqual(world.events, { 1: 'reserved' });
});

forEachStore('4. Transient error in emitting phase', async (world) => {
  const stage = await emitting(world);
  await stop(world, stage, 'paused:transient');
  world.is('runs', stage.run, { status: 'paused:transient', phase: 'emitting' });
  assertStopped(world, stage);
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: stage.run });
  world.is('workflows', stage.workflow, { status: 'active', maintenance: false, pendingRetryRunId: stage.run });

  world.clock.advance(1_000);
  const retry = await nextRun(world, stage.workflow);
  world.is('runs', retry.run, { retryOf: stage.run, phase: 'emitting' });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: retry.run });
});

forEachStore('5. Mutation applied successfully', async (world) => {
  const { manager } = world;
  const { fence, run, mutation } = await inFlight(world);
  const reply = await manager.updateMutationResult(mutation, 'success', {
    fence,
    answer: { resolvedBy: 'provider' },
    result: '{"ref":"b1"}',
  });
  assert.deepEqual(reply, { run, status: 'active', phase: 'mutated' });
  world.is('mutations', mutation, { status: 'applied', result: '{"ref":"b1"}', resolvedBy: 'provider' });
  world.is('runs', run, { mutationOutcome: 'success', phase: 'mutated', status: 'active' });

  await manager.updateConsumerPhase(fence, run, 'emitting');
  await manager.commitConsumer(fence, run);
  world.is('runs', run, { phase: 'committed', status: 'committed' });
  assert.deepEqual(world.events, { 1: 'consumed' });
});

forEachStore('6. Mutation fails immediately', async (world) => {
  const { manager } = world;
  const stage = await inFlight(world);
  const { workflow, fence, run, mutation } = stage;
  // One commit, not two: the answer and the stop land together.
  const reply = await manager.updateMutationResult(mutation, 'failure', {
    fence,
    answer: { resolvedBy: 'provider' },
    error: 'no such product',
    errorClass: 'logic',
  });
  assert.deepEqual(reply, { run, status: 'failed:logic', phase: 'mutating' });
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'provider', error: 'no such product' });
  world.is('runs', run, { status: 'failed:logic', phase: 'mutating', mutationOutcome: 'failure' });
  assertStopped(world, stage);
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('workflows', workflow, { status: 'active', maintenance: true, pendingRetryRunId: null });

  await manager.exitMaintenanceMode(workflow, PERSON, true);
  const fresh = await nextRun(world, workflow);
  world.is('runs', fresh.run, { phase: 'preparing', retryOf: null });
  await send(world, fresh);
  assert.deepEqual(world.events, { 1: 'reserved' });
});

forEachStore('7. Indeterminate mutation (crash during in_flight)', async (world) => {
  const { manager } = world;
  const { workflow, fence, run, mutation } = await inFlight(world);
  await restart(world);
  world.is('runs', run, { status: 'paused:reconciliation', phase: 'mutating', errorType: 'crashed' });
  world.is('mutations', mutation, { status: 'indeterminate' });
  world.is('workflows', workflow, { status: 'paused', holds: ['unknown'], pendingRetryRunId: run, maintenance: false });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: run });
  world.is('sessions', world.sessionOf(fence), { result: 'failed' });
  world.is('executions', fence.execution, { status: 'abandoned' });

  world.clock.advance(WAIT_MS);
  await sayNotDone(world, mutation);
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'user_assert_failed', resolvedByName: PERSON });
  world.is('runs', run, { mutationOutcome: 'failure', status: 'paused:reconciliation' });
  assert.deepEqual(world.events, { 1: 'pending' });
  // The engine lifts the hold it put; the resume of the source changes nothing any more.
  world.is('workflows', workflow, { status: 'active', holds: [], pendingRetryRunId: null });
  const before = world.row('workflows', workflow);
  await manager.resumeWorkflow(workflow, PERSON);
  assert.deepEqual(world.row('workflows', workflow), before);

  const fresh = await nextRun(world, workflow);
  await send(world, fresh);
  assert.deepEqual(world.events, { 1: 'reserved' });
});

forEachStore('8. Indeterminate mutation → user clicks "skip", without next', async (world) => {
  const { manager } = world;
  const { workflow, fence, run, mutation } = await unknown(world, {}, { handler: 'ship', events: ['1', '2'] });
  assert.deepEqual(await manager.skipMutation(mutation, PERSON), { run, status: 'committed' });
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'user_skip', resolvedByName: PERSON });
  world.is('runs', run, { phase: 'committed', status: 'committed', mutationOutcome: 'skipped' });
  assert.deepEqual(world.events, { 1: 'skipped', 2: 'skipped' });
  world.is('workflows', workflow, { status: 'active', holds: [], pendingRetryRunId: null });
  world.is('sessions', world.sessionOf(fence), { handlerRunCount: 1, result: 'failed' });
  assert.equal((await manager.resumeWorkflow(workflow, PERSON)).status, 'active');
});

forEachStore('8. Indeterminate mutation → user clicks "skip", with next', async (world) => {
  const { manager } = world;
  const { workflow, run, mutation } = await unknown(world);
  assert.deepEqual(await manager.skipMutation(mutation, PERSON), { run, status: 'paused:reconciliation' });
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'user_skip' });
  world.is('runs', run, { phase: 'mutating', status: 'paused:reconciliation', mutationOutcome: 'skipped' });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: run });
  world.is('workflows', workflow, { status: 'active', holds: [], pendingRetryRunId: run });

  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { phase: 'emitting', retryOf: run, mutationOutcome: 'skipped' });
  await manager.commitConsumer(retry.fence, retry.run);
  world.is('events', world.event('1'), { status: 'skipped', reservedByRunId: retry.run });
});

forEachStore('9. Consumer prepare returns empty reservations', async (world) => {
  const { manager } = world;
  const { fence, run } = await preparing(world);
  await manager.updateConsumerPhase(fence, run, 'prepared', { reservations: [], prepareResult: '{"data":0}' });
  world.is('runs', run, { phase: 'prepared', prepareResult: '{"data":0}' });
  assert.deepEqual(world.events, { 1: 'pending' });
  await manager.updateConsumerPhase(fence, run, 'emitting');
  world.is('runs', run, { phase: 'emitting', mutationOutcome: '' });
  await manager.commitConsumer(fence, run);
  world.is('runs', run, { phase: 'committed', status: 'committed' });
  assert.deepEqual(world.events, { 1: 'pending' });
});

forEachStore('10. Successful full consumer cycle', async (world) => {
  const { manager } = world;
  const { workflow, fence, run } = await preparing(world, { events: ['1', '2'] });
  const reservations = [{ topic: 'order.placed', ids: ['1'] }];
  await manager.updateConsumerPhase(fence, run, 'prepared', { reservations, prepareResult: '{"data":1}' });
  world.is('runs', run, { phase: 'prepared', prepareResult: '{"data":1}' });
  assert.deepEqual(world.events, { 1: 'reserved', 2: 'pending' });
  await manager.updateConsumerPhase(fence, run, 'mutating');
  const { mutation } = (await manager.startMutation(fence, run, CALL)) as { mutation: MutationId };
  world.is('mutations', mutation, { status: 'in_flight', handlerRunId: run, params: CALL.params });
  await manager.updateMutationResult(mutation, 'success', { fence, answer: { resolvedBy: 'provider' } });
  world.is('runs', run, { phase: 'mutated', mutationOutcome: 'success' });
  await manager.updateConsumerPhase(fence, run, 'emitting');
  const publishes = [{ topic: 'order.booked', payload: '{"ref":"b1"}' }];
  await manager.commitConsumer(fence, run, { state: '{"count":1}', publishes, cost: 3 });
  world.is('runs', run, { phase: 'committed', status: 'committed', outputState: '{"count":1}', cost: 3 });
  world.is('handlerStates', `${workflow} book`, { state: '{"count":1}' });
  assert.deepEqual(world.events, { 1: 'consumed', 2: 'pending', [`${run}:0`]: 'pending' });

  const session = world.sessionOf(fence);
  world.is('sessions', session, { result: '', handlerRunCount: 1, endTimestamp: null });
  const second = await manager.advanceSession(fence);
  assert.ok('run' in second);
  world.is('runs', second.run, { handlerName: 'book', scriptRunId: session });
  await manager.together((model) => {
    model.updateConsumerPhase(fence, second.run, 'prepared');
    model.updateConsumerPhase(fence, second.run, 'emitting');
    model.commitConsumer(fence, second.run, { cost: 1 });
  });
  assert.deepEqual(await manager.finishSession(fence), { ended: 'completed' });
  world.is('sessions', session, { result: 'completed', handlerRunCount: 2, cost: 4, endTimestamp: world.clock.now() });
  world.is('executions', fence.execution, { status: 'completed' });
});

forEachStore('11. Crash at any point: state A, before the mutation', async (world) => {
  const { workflow, run, fence } = await prepared(world);
  await restart(world);
  world.is('runs', run, { status: 'crashed', phase: 'prepared' });
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('workflows', workflow, { status: 'active', pendingRetryRunId: null });
  world.is('sessions', world.sessionOf(fence), { result: 'failed' });
});

forEachStore('11. Crash at any point: state A, after the mutation', async (world) => {
  const { workflow, run } = await emitting(world);
  await restart(world);
  world.is('runs', run, { status: 'crashed', phase: 'emitting' });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: run });
  world.is('workflows', workflow, { status: 'active', pendingRetryRunId: run, dueAt: world.clock.now() });
});

forEachStore('11. Crash at any point: state A, with the call in flight', async (world) => {
  const { workflow, run, mutation } = await inFlight(world, { canReconcile: true });
  await restart(world);
  world.is('runs', run, { status: 'paused:reconciliation', phase: 'mutating' });
  world.is('mutations', mutation, { status: 'needs_reconcile', reconcileAt: world.clock.now() });
  world.is('workflows', workflow, { status: 'paused', holds: ['unknown'], pendingRetryRunId: run });
  assert.deepEqual(world.events, { 1: 'reserved' });
});

forEachStore('11. Crash at any point: state B, a stop that is committed needs no recovery', async (world) => {
  const stage = await emitting(world);
  await stop(world, stage, 'failed:internal');
  const { workers: _, ...before } = world.dump();
  await restart(world);
  const { workers: __, ...same } = world.dump();
  assert.deepEqual(same, before);
});

forEachStore('11. Crash at any point: state C, an open session whose runs all committed', async (world) => {
  const { fence, run } = await emittingEmpty(world);
  await world.manager.commitConsumer(fence, run, { cost: 2 });
  await restart(world);
  world.is('sessions', world.sessionOf(fence), { result: 'completed', cost: 2, handlerRunCount: 1 });
  world.is('executions', fence.execution, { status: 'abandoned' });
  assert.deepEqual(await world.manager.recoverUnfinishedSessions(world.self), { recovered: 0, left: 0 });
});

forEachStore('12. Producer fails', async (world) => {
  const workflow = await published(world);
  const fence = await beginSession(world.manager, workflow, world.self);
  const { run } = await world.manager.startRun(fence, 'poll');
  world.is('runs', run, { handlerType: 'producer', phase: 'executing' });
  await stop(world, { workflow, fence, run }, 'failed:logic');
  world.is('runs', run, { status: 'failed:logic', phase: 'executing' });
  assertStopped(world, { fence, run });
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('workflows', workflow, {
    status: 'active',
    maintenance: true,
    maintenanceRunId: run,
    pendingRetryRunId: null,
  });
});

forEachStore('13. Auth/permission error before the mutation', async (world) => {
  const { manager } = world;
  const stage = await mutating(world);
  const { workflow, run } = stage;
  await stop(world, stage, 'paused:approval', { cause: { kind: 'auth', connection: 'shop', version: 1 } });
  world.is('runs', run, { status: 'paused:approval', phase: 'mutating' });
  assertStopped(world, stage);
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('workflows', workflow, { status: 'error', holds: ['connection'], pendingRetryRunId: null });

  await manager.cureConnection('shop', PERSON);
  world.is('workflows', workflow, { status: 'active', holds: [] });
  const fresh = await nextRun(world, workflow);
  await send(world, fresh);
  assert.deepEqual(world.events, { 1: 'reserved' });
});

forEachStore('13. Auth/permission error after the mutation', async (world) => {
  const { manager } = world;
  const stage = await emitting(world);
  const { workflow, run } = stage;
  await stop(world, stage, 'paused:approval', { cause: { kind: 'permission' } });
  world.is('runs', run, { status: 'paused:approval', phase: 'emitting' });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: run });
  world.is('workflows', workflow, { status: 'error', holds: ['approval'], pendingRetryRunId: run });

  await manager.approveGrant(workflow, PERSON);
  world.is('workflows', workflow, { status: 'active', holds: [] });
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { retryOf: run, phase: 'emitting' });
});

forEachStore('14. Multiple consumers in session: first succeeds, second fails', async (world) => {
  const { manager } = world;
  const workflow = await published(world);
  await manager.publishEvents(workflow, [placed('p1', '{}', 'parcel')], PERSON);
  const a = await freshRun(world, workflow, 'book');
  const { mutation } = await send(world, a);
  await applyAndEmit(manager, a.fence, a.run, mutation);
  await manager.commitConsumer(a.fence, a.run);

  const { run } = (await manager.advanceSession(a.fence)) as { run: RunId };
  const b = { ...a, run };
  world.is('runs', run, { handlerName: 'ship', scriptRunId: world.sessionOf(a.fence) });
  const call = await send(world, b, {}, { handler: 'ship', events: ['p1'] });
  await applyAndEmit(manager, b.fence, b.run, call.mutation);
  await stop(world, b, 'failed:logic');
  world.is('runs', a.run, { status: 'committed' });
  world.is('runs', b.run, { status: 'failed:logic', phase: 'emitting' });
  world.is('sessions', world.sessionOf(a.fence), { result: 'failed', handlerRunCount: 1 });
  world.is('workflows', workflow, { pendingRetryRunId: b.run, maintenance: true });
  assert.deepEqual(world.events, { 1: 'consumed', p1: 'reserved' });

  await manager.exitMaintenanceMode(workflow, PERSON, true);
  const retry = await nextRun(world, workflow);
  world.is('events', world.event('p1'), { status: 'reserved', reservedByRunId: retry.run });
  world.is('workflows', workflow, { pendingRetryRunId: null });
  await manager.commitConsumer(retry.fence, retry.run);
  assert.deepEqual(world.events, { 1: 'consumed', p1: 'consumed' });
  assert.deepEqual(await manager.advanceSession(retry.fence), { ended: 'completed' });
});
