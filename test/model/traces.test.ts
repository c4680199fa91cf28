import assert from 'node:assert/strict';
import { CALL_GRACE_MS } from '#model';
import { beginSession, CALL, PERSON, placed, reserve, SECONDS } from '../support/fixture.ts';
import {
  applied,
  awaitingApproval,
  emptyToEmitting,
  inFlight,
  nextRun,
  nothingFollows,
  preparing,
  restart,
  type Stage,
  sayDone,
  sayNotDone,
  send,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// Traces that broke earlier drafts of the rules. Each is a story that ended badly once.

forEachStore('late landing', async (world) => {
  // The worker saw a timeout: it stops, but nobody can tell whether the request is still on its way.
  const first = await inFlight(world);
  const sentAt = world.clock.now();
  world.clock.advance(CALL.timeoutMs);
  await stop(world, first, 'paused:transient', { error: 'timeout' });
  // Somebody looks, truly sees nothing, and says so: too early, the effect might still land.
  const early = await world.refuses('too-early', () => sayNotDone(world, first.mutation));
  assert.equal(early.notBefore, sentAt + CALL.timeoutMs + CALL_GRACE_MS + (CALL.visibilityMs ?? 0));
  assert.deepEqual(world.events, { 1: 'reserved' });
  world.clock.advance(early.notBefore - world.clock.now());
  await sayNotDone(world, first.mutation);
  // What is sent then carries the same key: should the first land even later, the provider sees one request.
  const second = await send(world, await nextRun(world, first.workflow));
  const { idempotencyKey } = world.row('mutations', first.mutation);
  world.is('mutations', second.mutation, { idempotencyKey });
});

forEachStore('frozen sender', async (world) => {
  const { manager } = world;
  const stage = await inFlight(world, { canReconcile: true, timeoutMs: 60 * SECONDS });
  const { fence, run, mutation, workflow } = stage;
  const sentAt = world.clock.now();
  // The process freezes before its first byte; its lease runs out; another recovers, without proof that it is dead.
  world.clock.advance(45 * SECONDS);
  await manager.reapExecution(fence.execution, fence.epoch, { provenDead: false });
  world.is('mutations', mutation, { status: 'needs_reconcile', callEndedAt: null });
  // The look-up sees nothing, yet: the frozen one may wake and send until its deadline.
  world.clock.advance(30 * SECONDS);
  const answer = { resolvedBy: 'reconcile' } as const;
  const failed = () => manager.updateMutationResult(mutation, 'failure', { answer });
  const early = await world.refuses('too-early', failed, /may still go out/);
  assert.equal(early.notBefore, sentAt + 60 * SECONDS + CALL_GRACE_MS + 30 * SECONDS);
  // It wakes, sends, and finds that nothing of it counts any more; what it knows becomes evidence.
  const provider = { resolvedBy: 'provider' } as const;
  await world.refuses('fenced', () => manager.updateMutationResult(mutation, 'success', { fence, answer: provider }));
  await world.refuses('fenced', () => manager.updateConsumerPhase(fence, run, 'emitting'));
  await manager.recordEvidence(mutation, { says: 'applied', detail: '{"ref":"b1"}', source: 'a fenced worker' });
  world.is('workflows', workflow, { holds: ['unknown'] });
  await manager.updateMutationResult(mutation, 'success', { answer });
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { phase: 'emitting', mutationOutcome: 'success' });
});

forEachStore('set aside, then answered', async (world) => {
  const { workflow, run, mutation } = await unknown(world);
  await world.manager.setAside(mutation, PERSON);
  await sayDone(world, mutation);
  world.is('mutations', mutation, { status: 'applied', setAsideAt: world.clock.now() });
  // `next` must still run, although the pointer never came back.
  world.is('workflows', workflow, { pendingRetryRunId: null, dueAt: world.clock.now() });
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { retryOf: run, phase: 'emitting' });
  world.is('mutations', mutation, { setAsideAt: null });
  await world.manager.commitConsumer(retry.fence, retry.run);
  assert.deepEqual(world.events, { 1: 'consumed' });
});

async function asideThenFailed(world: World) {
  const aside = await unknown(world);
  const { workflow } = aside;
  await world.manager.setAside(aside.mutation, PERSON);
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  const second = await send(world, await nextRun(world, workflow), {}, { events: ['2'] });
  await applied(world, second);
  return { aside, second, workflow };
}

forEachStore('set aside, then a new run fails after its mutation', async (world) => {
  const { aside, second, workflow } = await asideThenFailed(world);
  await stop(world, second, 'crashed');
  await sayDone(world, aside.mutation);
  world.is('workflows', workflow, { pendingRetryRunId: second.run });
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { retryOf: second.run });
  await world.manager.commitConsumer(retry.fence, retry.run);
  const last = await world.manager.advanceSession(retry.fence);
  assert.ok('run' in last);
  world.is('runs', last.run, { retryOf: aside.run });
  await world.manager.commitConsumer(retry.fence, last.run);
  assert.deepEqual(world.events, { 1: 'consumed', 2: 'consumed' });
});

forEachStore('set aside, then a new run fails after its mutation, and the first one fails again', async (world) => {
  const { manager } = world;
  const { aside, second, workflow } = await asideThenFailed(world);
  await sayDone(world, aside.mutation);
  await stop(world, second, 'paused:transient', { retryAfterMs: 60 * SECONDS });
  const fence = await beginSession(manager, workflow, world.self);
  const { run } = await manager.createRetryRun(fence, aside.run);
  world.is('workflows', workflow, { pendingRetryRunId: second.run });
  world.is('mutations', aside.mutation, { setAsideAt: null });
  world.clock.advance(1);
  await stop(world, { workflow, fence, run }, 'crashed');
  world.is('workflows', workflow, { pendingRetryRunId: second.run });
  world.is('mutations', aside.mutation, { setAsideAt: world.clock.now() });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: run });
});

forEachStore('approved, crash before sending', async (world) => {
  const { workflow, run, mutation } = await awaitingApproval(world);
  await world.manager.approveCall(mutation, PERSON);
  const { execution } = await world.manager.requestExecution(workflow, 'retry');
  await world.manager.beginScheduling(execution);
  const { epoch } = await world.manager.handOff(execution);
  await world.manager.claimExecution(execution, epoch, world.self);
  await restart(world);
  world.is('mutations', mutation, { status: 'pending', approvedBy: PERSON });
  world.is('workflows', workflow, { holds: [], pendingRetryRunId: run });
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { phase: 'mutating', retryOf: run });
  world.is('mutations', mutation, { status: 'in_flight' });
});

forEachStore('evidence holds, then startMutation', async (world) => {
  const { manager } = world;
  const first = await unknown(world);
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, first.mutation);
  const { fence, run } = await nextRun(world, first.workflow);
  await manager.updateConsumerPhase(fence, run, 'prepared', { reservations: reserve('1') });
  await manager.updateConsumerPhase(fence, run, 'mutating');
  await manager.recordEvidence(first.mutation, { says: 'applied', detail: '{}', source: 'a late response' });
  const reply = await manager.startMutation(fence, run, CALL);
  assert.ok('reason' in reply && reply.status === 'cancelled');
  world.is('workflows', first.workflow, { holds: ['error'] });
  assert.deepEqual(world.events, { 1: 'pending' });
  assert.equal(world.rows.mutations.values().length, 1);
});

async function commitEmpty(world: World, stage: Stage): Promise<void> {
  await emptyToEmitting(world, stage);
  await world.manager.commitConsumer(stage.fence, stage.run);
  await world.manager.finishSession(stage.fence);
}

forEachStore('unpark or release after an empty run', async (world) => {
  const stage = await preparing(world, { events: ['1', '2'] });
  await world.manager.parkEvents([world.event('2')], PERSON);
  await commitEmpty(world, stage);
  await nothingFollows(world, stage.workflow);
  await world.manager.unparkEvents([world.event('2')], PERSON);
  const woken = await nextRun(world, stage.workflow);
  await world.manager.updateConsumerPhase(woken.fence, woken.run, 'prepared', { reservations: reserve('2') });
  await stop(world, woken, 'crashed');
  const again = await nextRun(world, stage.workflow);
  world.is('runs', again.run, { handlerName: 'book' });
});

forEachStore('crash after an empty prepared', async (world) => {
  const stage = await preparing(world);
  await world.manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', { reservations: [] });
  await restart(world);
  const again = await nextRun(world, stage.workflow);
  world.is('runs', again.run, { handlerName: 'book' });
});

forEachStore('unpark while an empty run commits', async (world) => {
  const stage = await preparing(world, { events: ['1', '2'] });
  await world.manager.parkEvents([world.event('2')], PERSON);
  const fresh = await emptyThenUnpark(world, stage);
  world.is('runs', fresh.run, { handlerName: 'book' });
});

async function emptyThenUnpark(world: World, stage: Stage): Promise<Stage> {
  await emptyToEmitting(world, stage);
  // Both wait for the same commit of the store, in the order that would lose the wake-up.
  await Promise.all([
    world.manager.unparkEvents([world.event('2')], PERSON),
    world.manager.commitConsumer(stage.fence, stage.run),
  ]);
  await world.manager.finishSession(stage.fence);
  return nextRun(world, stage.workflow);
}

forEachStore('person skips an event between peek and reserve', async (world) => {
  const { manager } = world;
  const stage = await preparing(world, { events: ['1', '2'] });
  const handedOut = ['1', '2'].map((messageId) => {
    const { id, pendingSeq } = world.row('events', world.event(messageId));
    return { event: id, pendingSeq };
  });
  await manager.skipEvents([world.event('1')], PERSON);
  const reply = await manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', {
    reservations: reserve('1', '2'),
    handedOut,
    orStop: true,
  });
  assert.deepEqual(reply, { run: stage.run, status: 'cancelled' });
  world.is('workflows', stage.workflow, { maintenance: false, quiet: false, dueAt: world.clock.now() });
  assert.deepEqual(world.events, { 1: 'skipped', 2: 'pending' });
});

forEachStore('person changes an event between peek and reserve', async (world) => {
  const { manager } = world;
  const stage = await preparing(world);
  const { id, pendingSeq } = world.row('events', world.event('1'));
  await manager.publishEvents(stage.workflow, [placed('1', '{"v":2}')], PERSON);
  const options = { reservations: reserve('1'), handedOut: [{ event: id, pendingSeq }] };
  const reserveIt = () => manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', options);
  await world.refuses('event-unavailable', reserveIt, /was changed/);
  const reply = await manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', { ...options, orStop: true });
  assert.deepEqual(reply, { run: stage.run, status: 'cancelled' });
  world.is('workflows', stage.workflow, { maintenance: false, dueAt: world.clock.now() });
});

forEachStore('a reservation that could never hold is a mistake of the script', async (world) => {
  const stage = await preparing(world);
  const { id, pendingSeq } = world.row('events', world.event('1'));
  const reply = await world.manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', {
    reservations: reserve('1', 'nowhere'),
    handedOut: [{ event: id, pendingSeq }],
    orStop: true,
  });
  assert.deepEqual(reply, { run: stage.run, status: 'failed:logic' });
  world.is('runs', stage.run, { suspects: [id], phase: 'preparing' });
  world.is('workflows', stage.workflow, { maintenance: true });
});

forEachStore('cancel, then a transient failure', async (world) => {
  const stage = await preparing(world);
  await world.manager.cancelExecution(stage.fence.execution, PERSON);
  await stop(world, stage, 'paused:transient');
  world.is('runs', stage.run, { status: 'paused:transient' });
  world.is('executions', stage.fence.execution, { status: 'cancelled' });
  world.clock.advance(24 * 60 * 60 * SECONDS);
  await nothingFollows(world, stage.workflow);
});

forEachStore('skip, then archive', async (world) => {
  const { workflow, mutation } = await unknown(world);
  await world.manager.skipMutation(mutation, PERSON);
  await world.refuses('busy', () => world.manager.archiveWorkflow(workflow, PERSON), /its next step is owed/);
  const retry = await nextRun(world, workflow);
  await world.manager.commitConsumer(retry.fence, retry.run);
  await world.manager.finishSession(retry.fence);
  assert.deepEqual(await world.manager.archiveWorkflow(workflow, PERSON), { status: 'archived' });
});

forEachStore('reject', async (world) => {
  const { workflow, mutation } = await awaitingApproval(world);
  await world.manager.rejectCall(mutation, 'park', PERSON);
  // Released, the event would bring the same question back at once, for ever.
  assert.deepEqual(world.events, { 1: 'parked' });
  await nothingFollows(world, workflow);
  await world.manager.unparkEvents([world.event('1')], PERSON);
  const again = await send(world, await nextRun(world, workflow), { needsApproval: true });
  assert.notEqual(again.mutation, mutation);
  world.is('workflows', workflow, { holds: ['approval'] });
});

forEachStore('a reservation that could never hold, by a script that was handed nothing', async (world) => {
  const { workflow, fence, run } = await preparing(world);
  const options = { reservations: reserve('nowhere'), orStop: true };
  const reply = await world.manager.updateConsumerPhase(fence, run, 'prepared', options);
  assert.deepEqual(reply, { run, status: 'failed:logic' });
  world.is('runs', run, { suspects: [] });
  world.is('workflows', workflow, { maintenance: true });
});
