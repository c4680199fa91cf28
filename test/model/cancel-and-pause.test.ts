import assert from 'node:assert/strict';
import { CALL, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';
import {
  applied,
  awaitingApproval,
  type Called,
  emitting,
  followUp,
  HOUR,
  inFlight,
  mutating,
  nextRun,
  nothingFollows,
  prepared,
  preparing,
  published,
  type Stage,
  sayDone,
  stop,
  unknown,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// Cancel is a flag: what it finds decides what it does, and nothing follows until somebody or something asks. Pause is a hold.

function cancel(world: World, stage: Stage) {
  return world.manager.cancelExecution(stage.fence.execution, PERSON);
}

forEachStore('cancel before the handoff: the executor ends it, and no worker hears of it', async (world) => {
  const { manager } = world;
  const workflow = await published(world);
  for (const begin of [false, true]) {
    const { execution } = await manager.requestExecution(workflow, 'event');
    if (begin) await manager.beginScheduling(execution);
    assert.deepEqual(await manager.cancelExecution(execution, PERSON), { cancelled: true });
    world.is('executions', execution, {
      status: 'cancelled',
      cancelRequestedBy: PERSON,
      endedAt: world.clock.now(),
      schedulingUntil: null,
    });
    world.is('workflows', workflow, { quiet: true, dueAt: null });
    const types = world.rows.messages.values().filter((message) => message.executionId === execution);
    assert.deepEqual(
      types.map((message) => message.type),
      ['enforcement.created', 'execution.requested'],
    );
    await world.refuses('wrong-state', () => manager.cancelExecution(execution, PERSON), /it is over/);
  }
});

forEachStore('cancel after the handoff is only a flag, asked once', async (world) => {
  const stage = await preparing(world);
  assert.deepEqual(await cancel(world, stage), { cancelled: false });
  world.is('executions', stage.fence.execution, { status: 'running', cancelRequestedAt: world.clock.now() });
  world.is('runs', stage.run, { status: 'active' });
  await world.refuses('wrong-state', () => cancel(world, stage), /ada asked for it already/);
});

const BEFORE: Readonly<Record<string, (world: World) => Promise<Stage>>> = { preparing, prepared, mutating };

for (const [phase, reach] of Object.entries(BEFORE)) {
  forEachStore(`cancel before the call, at ${phase}: stop, release, and no follow-up`, async (world) => {
    const stage = await reach(world);
    await cancel(world, stage);
    await stop(world, stage, 'cancelled');
    world.is('runs', stage.run, { status: 'cancelled' });
    world.is('executions', stage.fence.execution, { status: 'cancelled' });
    assert.deepEqual(world.events, { 1: 'pending' });
    world.is('workflows', stage.workflow, { quiet: true, dueAt: null, pendingRetryRunId: null, holds: [] });
    await nothingFollows(world, stage.workflow);
  });
}

forEachStore('cancel before the call: startMutation refuses by stopping the run', async (world) => {
  const { workflow, fence, run } = await mutating(world);
  await cancel(world, { workflow, fence, run });
  const reply = await world.manager.startMutation(fence, run, CALL);
  assert.deepEqual(reply, { run, status: 'cancelled', reason: 'cancelled by ada' });
  assert.equal(world.rows.mutations.values().length, 0);
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('workflows', workflow, { quiet: true, dueAt: null });
});

forEachStore('cancel in flight: await the answer, record it, stop; the run is owed its next', async (world) => {
  const stage = await inFlight(world);
  await cancel(world, stage);
  await applied(world, stage);
  await stop(world, stage, 'cancelled');
  world.is('mutations', stage.mutation, { status: 'applied' });
  world.is('runs', stage.run, { status: 'cancelled', phase: 'emitting' });
  world.is('workflows', stage.workflow, { quiet: true, pendingRetryRunId: stage.run, dueAt: null });
  assert.deepEqual(world.events, { 1: 'reserved' });
});

forEachStore("cancel in flight: the error's class still decides status and maintenance", async (world) => {
  const stage = await inFlight(world);
  await cancel(world, stage);
  const answer = { resolvedBy: 'provider' } as const;
  const { fence, mutation } = stage;
  await world.manager.updateMutationResult(mutation, 'failure', { fence, answer, errorClass: 'logic' });
  world.is('runs', stage.run, { status: 'failed:logic' });
  world.is('workflows', stage.workflow, { maintenance: true, quiet: true });
  world.is('executions', fence.execution, { status: 'cancelled' });
  assert.deepEqual(world.events, { 1: 'pending' });
});

forEachStore('cancel in flight: an unknown outcome stays a question', async (world) => {
  const stage = await inFlight(world);
  await cancel(world, stage);
  await stop(world, stage, 'cancelled');
  world.is('runs', stage.run, { status: 'paused:reconciliation', errorType: 'cancelled' });
  world.is('workflows', stage.workflow, { holds: ['unknown'], quiet: true });
  world.is('executions', stage.fence.execution, { status: 'cancelled' });
});

forEachStore('cancel at emitting: stop, and the pointer', async (world) => {
  const stage = await emitting(world);
  await cancel(world, stage);
  await stop(world, stage, 'cancelled');
  world.is('workflows', stage.workflow, { quiet: true, pendingRetryRunId: stage.run, dueAt: null });
  await nothingFollows(world, stage.workflow);
});

forEachStore('cancel between two runs ends the session', async (world) => {
  const stage = await emitting(world);
  await world.manager.commitConsumer(stage.fence, stage.run);
  await cancel(world, stage);
  await world.refuses('held', () => world.manager.startRun(stage.fence, 'book'), /cancelled by ada/);
  assert.deepEqual(await world.manager.advanceSession(stage.fence), { ended: 'cancelled' });
  world.is('sessions', world.sessionOf(stage.fence), { result: 'completed' });
  world.is('workflows', stage.workflow, { quiet: true });
});

forEachStore('cancel between two runs: finishSession says so too', async (world) => {
  const stage = await emitting(world);
  await world.manager.commitConsumer(stage.fence, stage.run);
  await cancel(world, stage);
  assert.deepEqual(await world.manager.finishSession(stage.fence), { ended: 'cancelled' });
});

forEachStore('cancel, and the owner dies: the reaper writes cancelled', async (world) => {
  const stage = await emitting(world);
  await cancel(world, stage);
  const { execution, epoch } = stage.fence;
  const reaped = await world.manager.reapExecution(execution, epoch, { provenDead: true });
  assert.deepEqual(reaped, { ended: 'cancelled', run: { run: stage.run, status: 'crashed' } });
  world.is('workflows', stage.workflow, { quiet: true, pendingRetryRunId: stage.run });
});

/** Quiet, with event 1 pending and a schedule of `poll` in an hour. */
async function quiet(world: World): Promise<Stage> {
  const { manager } = world;
  const workflow = await published(world, { events: [] });
  const fence = await manager.requestExecution(workflow, 'manual', PERSON).then(() => followUp(world, workflow));
  const poll = await manager.advanceSession(fence);
  assert.ok('run' in poll);
  await manager.commitProducer(fence, poll.run, { nextAt: world.clock.now() + HOUR, publishes: [placed('1')] });
  const book = await manager.advanceSession(fence);
  assert.ok('run' in book);
  const stage = { workflow, fence, run: book.run };
  await cancel(world, stage);
  await stop(world, stage, 'cancelled');
  world.is('workflows', workflow, { quiet: true, dueAt: world.clock.now() + HOUR });
  return stage;
}

forEachStore('after a cancel the schedule starts it again', async (world) => {
  const { workflow } = await quiet(world);
  world.clock.advance(HOUR);
  await followUp(world, workflow);
  world.is('workflows', workflow, { quiet: false });
});

const TRIGGERS: Readonly<Record<string, (world: World, stage: Stage) => Promise<unknown>>> = {
  manual: (world, { workflow }) => world.manager.requestExecution(workflow, 'manual', PERSON),
  'an event': (world, { workflow }) => world.manager.publishEvents(workflow, [placed('2')], PERSON),
  'a webhook': (world, { workflow }) =>
    world.manager.acceptDelivery(workflow, { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' }),
  resume: (world, { workflow }) => world.manager.resumeWorkflow(workflow, PERSON),
};

for (const [name, trigger] of Object.entries(TRIGGERS)) {
  forEachStore(`after a cancel ${name} starts it again`, async (world) => {
    const stage = await quiet(world);
    assert.deepEqual(await world.manager.scheduleDue(stage.workflow), { idle: world.clock.now() + HOUR });
    await trigger(world, stage);
    world.is('workflows', stage.workflow, { quiet: false, dueAt: world.clock.now() });
    await followUp(world, stage.workflow);
  });
}

forEachStore("after a cancel a person's answer starts it again", async (world) => {
  const stage = await inFlight(world);
  await cancel(world, stage);
  await stop(world, stage, 'cancelled');
  await sayDone(world, stage.mutation);
  world.is('workflows', stage.workflow, { quiet: false, holds: [], dueAt: world.clock.now() });
});

forEachStore("after a cancel a look-up's answer is recorded, and the retry waits for a trigger", async (world) => {
  const stage = await inFlight(world, { canReconcile: true });
  await cancel(world, stage);
  await stop(world, stage, 'cancelled');
  await world.manager.updateMutationResult(stage.mutation, 'success', { answer: { resolvedBy: 'reconcile' } });
  world.is('workflows', stage.workflow, { quiet: true, holds: [], pendingRetryRunId: stage.run, dueAt: null });
});

forEachStore('pause: no further run starts, and startMutation refuses', async (world) => {
  const { workflow, fence, run } = await mutating(world);
  await world.manager.pauseWorkflow(workflow, PERSON);
  const reply = await world.manager.startMutation(fence, run, CALL);
  assert.deepEqual(reply, { run, status: 'cancelled', reason: 'the workflow is on hold: user' });
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('executions', fence.execution, { status: 'cancelled' });
  world.is('workflows', workflow, { quiet: false, dueAt: null });
  await world.manager.resumeWorkflow(workflow, PERSON);
  await nextRun(world, workflow);
});

forEachStore('pause: after the boundary the run goes on to commit', async (world) => {
  const stage: Called = await inFlight(world);
  await world.manager.pauseWorkflow(stage.workflow, PERSON);
  await applied(world, stage);
  await world.manager.commitConsumer(stage.fence, stage.run);
  assert.deepEqual(world.events, { 1: 'consumed' });
  world.is('workflows', stage.workflow, { holds: ['user'] });
});

forEachStore('pause: it touches no run, event or call', async (world) => {
  const stage = await preparing(world);
  await world.manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', { reservations: reserve('1') });
  const { workflows, audit_log: log, ...before } = world.dump();
  await world.manager.pauseWorkflow(stage.workflow, PERSON);
  const { workflows: held, audit_log: said, ...same } = world.dump();
  assert.deepEqual(same, before);
  assert.notDeepEqual([held, said], [workflows, log]);
});

forEachStore('pause: reconcile results are recorded, the retry waits', async (world) => {
  const { workflow, run, mutation } = await unknown(world, { canReconcile: true });
  await world.manager.pauseWorkflow(workflow, PERSON);
  await world.manager.updateMutationResult(mutation, 'success', { answer: { resolvedBy: 'reconcile' } });
  world.is('mutations', mutation, { status: 'applied' });
  world.is('workflows', workflow, { holds: ['user'], pendingRetryRunId: run, dueAt: null });
  await world.manager.resumeWorkflow(workflow, PERSON);
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { retryOf: run });
});

forEachStore('pause: an approved call waits too', async (world) => {
  const { workflow, mutation } = await awaitingApproval(world);
  await world.manager.pauseWorkflow(workflow, PERSON);
  await world.manager.approveCall(mutation, PERSON);
  world.is('workflows', workflow, { holds: ['user'], dueAt: null });
  await nothingFollows(world, workflow);
});

forEachStore('a cancel silences only what was cancelled: a request that waits beside it is taken up', async (world) => {
  const stage = await preparing(world);
  const { execution } = await world.manager.requestExecution(stage.workflow, 'schedule');
  await cancel(world, stage);
  await stop(world, stage, 'cancelled');
  world.is('workflows', stage.workflow, { quiet: false, dueAt: world.clock.now() });
  assert.deepEqual(await world.manager.scheduleDue(stage.workflow), { execution });
});

forEachStore('a second cancel leaves the quiet as it is', async (world) => {
  const { workflow } = await quiet(world);
  await world.manager.requestExecution(workflow, 'event').then(({ execution }) => {
    return world.manager.cancelExecution(execution, PERSON);
  });
  world.is('workflows', workflow, { quiet: true });
});

forEachStore('pause: a run that prepares and calls in one transaction is stopped whole', async (world) => {
  const { workflow, fence, run } = await preparing(world);
  await world.manager.pauseWorkflow(workflow, PERSON);
  const reply = await prepareAndCall(world.manager, fence, run, reserve('1'));
  assert.ok('reason' in reply && reply.status === 'cancelled');
  world.is('runs', run, { status: 'cancelled', phase: 'mutating' });
  world.is('events', world.event('1'), { status: 'pending', reservedByRunId: null });
  assert.equal(world.rows.mutations.values().length, 0);
});

forEachStore('pause: what comes in meanwhile is kept', async (world) => {
  const workflow = await published(world);
  await world.manager.pauseWorkflow(workflow, PERSON);
  await world.manager.acceptDelivery(workflow, { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '' });
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  world.is('workflows', workflow, { dueAt: null });
  await world.manager.resumeWorkflow(workflow, PERSON);
  const { run } = await nextRun(world, workflow);
  world.is('runs', run, { handlerName: 'hook' });
});
