import assert from 'node:assert/strict';
import type { WorkflowId } from '#base';
import { SCHEDULING_LEASE_MS, TRIGGERS, type Trigger } from '#model';
import { beginSession, deploy, ORDERS, PERSON, placed, SECONDS } from '../support/fixture.ts';
import {
  failedAfter,
  followUp,
  freshRun,
  HOUR,
  inFlight,
  nextRun,
  nothingFollows,
  prepared,
  preparing,
  published,
  restart,
  stop,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// From the request to the claim, and after a death: who may move an execution, and what is coalesced.

function messagesOf(world: World, execution: string): string[] {
  return world.rows.messages
    .values()
    .filter((message) => message.executionId === execution)
    .map((message) => message.type);
}

forEachStore('requested to completed, each step with its messages', async (world) => {
  const { manager } = world;
  const workflow = await published(world);
  const { execution, folded } = await manager.requestExecution(workflow, 'event');
  assert.equal(folded, false);
  world.is('executions', execution, { status: 'requested', trigger: 'event', epoch: 0, owner: null });
  assert.deepEqual(messagesOf(world, execution), ['enforcement.created', 'execution.requested']);
  world.is('workflows', workflow, { dueAt: world.clock.now() });

  const begun = await manager.beginScheduling(execution);
  assert.ok('until' in begun);
  const { until } = begun;
  assert.equal(until, world.clock.now() + SCHEDULING_LEASE_MS);
  world.is('executions', execution, { status: 'scheduling', schedulingUntil: until });
  world.is('workflows', workflow, { dueAt: null });

  assert.deepEqual(await manager.handOff(execution), { epoch: 1 });
  world.is('executions', execution, { status: 'scheduled', epoch: 1, schedulingUntil: null });

  const claimed = await manager.claimExecution(execution, 1, world.self);
  assert.ok('fence' in claimed);
  assert.deepEqual(claimed.fence, { execution, epoch: 1, owner: world.self });
  world.is('executions', execution, { status: 'running', owner: world.self, startedAt: world.clock.now() });
  world.is('sessions', claimed.session, { executionId: execution, trigger: 'event', result: '' });

  assert.deepEqual(await manager.finishSession(claimed.fence), { ended: 'completed' });
  world.is('executions', execution, { status: 'completed', endedAt: world.clock.now() });
  assert.deepEqual(messagesOf(world, execution), [
    'enforcement.created',
    'execution.requested',
    'execution.scheduled',
    'execution.status_changed',
    'execution.status_changed',
    'execution.completed',
  ]);
});

forEachStore('folding keeps the strongest trigger, and every enforcement', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  for (const [trigger, kept] of [
    ['wake', 'event'],
    ['schedule', 'schedule'],
    ['event', 'schedule'],
    ['webhook', 'webhook'],
    ['retry', 'webhook'],
    ['manual', 'manual'],
    ['manual', 'manual'],
  ] as const) {
    const reply = await world.manager.requestExecution(workflow, trigger, PERSON);
    assert.deepEqual(reply, { execution, folded: true });
    world.is('executions', execution, { trigger: kept });
  }
  assert.equal(world.rows.enforcements.values().length, 8);
  assert.equal(messagesOf(world, execution).filter((type) => type === 'execution.requested').length, 1);
  assert.deepEqual(TRIGGERS.at(-1), 'manual');
});

forEachStore('manual is refused only while scheduling, scheduled or running', async (world) => {
  const { manager } = world;
  const workflow = await published(world);
  const manual = () => manager.requestExecution(workflow, 'manual', PERSON);
  const { execution } = await manual();
  assert.deepEqual(await manual(), { execution, folded: true });
  await manager.beginScheduling(execution);
  await world.refuses('busy', manual, /is scheduling/);
  const { epoch } = await manager.handOff(execution);
  await world.refuses('busy', manual, /is scheduled/);
  const claimed = await manager.claimExecution(execution, epoch, world.self);
  await world.refuses('busy', manual, /is running/);
  assert.ok('fence' in claimed);
  await manager.finishSession(claimed.fence);
  assert.equal((await manual()).folded, false);
});

forEachStore('manual on a workflow that waits says what it waits for', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'failed:logic');
  const manual = () => world.manager.requestExecution(stage.workflow, 'manual', PERSON);
  await world.refuses('held', manual, /needs a repair/);
  await world.manager.exitMaintenanceMode(stage.workflow, PERSON, false);
  await world.manager.pauseWorkflow(stage.workflow, PERSON);
  await world.refuses('held', manual, /user/);
});

forEachStore('manual makes every scheduled producer due, and nobody waits out a backoff', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:transient', { retryAfterMs: HOUR });
  await nothingDue(world, stage.workflow);
  await world.manager.requestExecution(stage.workflow, 'manual', PERSON);
  world.is('handlerStates', `${stage.workflow} poll`, { nextAt: world.clock.now() });
  world.is('handlerStates', `${stage.workflow} book`, { backoffUntil: null });
  assert.equal(world.rows.handlerStates.get(`${stage.workflow} hook`), undefined);
});

async function nothingDue(world: World, workflow: WorkflowId): Promise<void> {
  const due = await world.manager.scheduleDue(workflow);
  assert.ok('idle' in due && due.idle !== null && due.idle > world.clock.now());
}

forEachStore('a request beside a running execution waits for its end and is taken up then', async (world) => {
  const { workflow, fence, run } = await preparing(world);
  const { execution } = await world.manager.requestExecution(workflow, 'schedule');
  world.is('workflows', workflow, { dueAt: null });
  await world.refuses('held', () => world.manager.beginScheduling(execution), /another execution/);
  assert.deepEqual(await world.manager.scheduleDue(workflow), { idle: null });
  await stop(world, { workflow, fence, run }, 'crashed');
  world.is('workflows', workflow, { dueAt: world.clock.now() });
  assert.deepEqual(await world.manager.scheduleDue(workflow), { execution });
});

forEachStore('a request on a held workflow waits until the hold is lifted', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.pauseWorkflow(workflow, PERSON);
  world.is('workflows', workflow, { dueAt: null });
  await world.refuses('held', () => world.manager.beginScheduling(execution), /user/);
  await world.manager.resumeWorkflow(workflow, PERSON);
  assert.deepEqual(await world.manager.scheduleDue(workflow), { execution });
});

forEachStore('a request on a workflow in maintenance waits for the repair', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'failed:logic');
  const { execution } = await world.manager.requestExecution(stage.workflow, 'event');
  await world.refuses('held', () => world.manager.beginScheduling(execution), /needs a repair/);
});

forEachStore('a scheduling lease that ran out gives the request back', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  const begun = await world.manager.beginScheduling(execution);
  assert.ok('until' in begun);
  const { until } = begun;
  const early = await world.refuses('too-early', () => world.manager.sweepScheduling(execution));
  assert.equal(early.notBefore, until);
  world.clock.advance(SCHEDULING_LEASE_MS);
  assert.deepEqual(await world.manager.sweepScheduling(execution), { requested: true });
  world.is('executions', execution, { status: 'requested', schedulingUntil: null });
  world.is('workflows', workflow, { dueAt: world.clock.now() });
  await world.refuses('wrong-state', () => world.manager.handOff(execution));
});

forEachStore('schedule ticks missed while busy or down become one run', async (world) => {
  const { manager } = world;
  const workflow = await published(world, { events: [] });
  const first = await freshRun(world, workflow, 'poll');
  const tick = world.clock.now() + 60 * SECONDS;
  await manager.commitProducer(first.fence, first.run, { nextAt: tick });
  await manager.finishSession(first.fence);
  world.is('workflows', workflow, { dueAt: tick });
  assert.deepEqual(await manager.scheduleDue(workflow), { idle: tick });

  world.clock.advance(HOUR);
  const fence = await followUp(world, workflow);
  world.is('executions', fence.execution, { trigger: 'schedule' });
  const poll = await manager.advanceSession(fence);
  assert.ok('run' in poll);
  world.is('runs', poll.run, { handlerName: 'poll' });
  await manager.commitProducer(fence, poll.run, { nextAt: world.clock.now() + 60 * SECONDS });
  assert.deepEqual(await manager.advanceSession(fence), { ended: 'completed' });
});

forEachStore('what is due names its own trigger', async (world) => {
  const triggers: Trigger[] = [];
  const failed = await failedAfter(world, 'crashed');
  const retry = await nextRun(world, failed.workflow);
  triggers.push(world.row('executions', retry.fence.execution).trigger);
  await world.manager.commitConsumer(retry.fence, retry.run);
  await world.manager.finishSession(retry.fence);
  await world.manager.publishEvents(failed.workflow, [placed('2')], PERSON);
  const event = await followUp(world, failed.workflow);
  triggers.push(world.row('executions', event.execution).trigger);
  assert.deepEqual(triggers, ['retry', 'event']);
});

forEachStore('an execution is claimed once, at its own epoch, by a living worker', async (world) => {
  const { manager } = world;
  const workflow = await published(world);
  const { execution } = await manager.requestExecution(workflow, 'event');
  await manager.beginScheduling(execution);
  const { epoch } = await manager.handOff(execution);
  await world.refuses('fenced', () => manager.claimExecution(execution, epoch + 1, world.self));
  const dead = world.ids.next('worker');
  await manager.registerWorker(dead, { name: 'dead', pool: 'default', leaseMs: 1 });
  await manager.endWorker(dead);
  await world.refuses('wrong-state', () => manager.claimExecution(execution, epoch, dead));
  await manager.claimExecution(execution, epoch, world.self);
  await world.refuses('wrong-state', () => manager.claimExecution(execution, epoch, world.self));
});

forEachStore('workers: each start is a new incarnation, and an ended one never comes back', async (world) => {
  const { manager, self } = world;
  await world.refuses('wrong-state', () => manager.registerWorker(self, { name: 'x', pool: 'p', leaseMs: 1 }));
  world.clock.advance(5 * SECONDS);
  const leaseUntil = world.clock.now() + 45 * SECONDS;
  assert.deepEqual(await manager.renewWorker(self, 45 * SECONDS), { leaseUntil, status: 'open' });
  world.is('workers', self, { leaseUntil: world.clock.now() + 45 * SECONDS, endedAt: null });
  await manager.endWorker(self);
  world.is('workers', self, { endedAt: world.clock.now() });
  await world.refuses('wrong-state', () => manager.renewWorker(self, 1));
  await world.refuses('wrong-state', () => manager.endWorker(self));
});

forEachStore('the reaper: a worker that said goodbye may be recovered at once', async (world) => {
  const { fence, run } = await prepared(world);
  await world.manager.endWorker(world.self);
  const reaped = await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: false });
  assert.deepEqual(reaped, { ended: 'abandoned', run: { run, status: 'crashed' } });
  await world.refuses('wrong-state', () =>
    world.manager.reapExecution(fence.execution, fence.epoch + 1, { provenDead: true }),
  );
});

forEachStore('the reaper comes with the epoch it saw', async (world) => {
  const { fence } = await prepared(world);
  await world.refuses('fenced', () =>
    world.manager.reapExecution(fence.execution, fence.epoch + 1, { provenDead: true }),
  );
});

forEachStore('the reaper ends a session that took too long, though its owner lives', async (world) => {
  const { workflow, fence, run, mutation } = await inFlight(world);
  const reaped = await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: false, timeoutMs: 1 });
  assert.deepEqual(reaped, { ended: 'timeout', run: { run, status: 'paused:reconciliation' } });
  world.is('executions', fence.execution, { status: 'timeout', epoch: fence.epoch + 1 });
  // Its owner may still be sending: only the deadline says when the call is over.
  world.is('mutations', mutation, { callEndedAt: null });
  world.is('workflows', workflow, { holds: ['unknown'] });
});

forEachStore('a worker may end its own session as timed out', async (world) => {
  const stage = await prepared(world);
  await stop(world, stage, 'crashed', { timeout: true });
  world.is('executions', stage.fence.execution, { status: 'timeout' });
});

forEachStore('the reaper completes a session without a run under way', async (world) => {
  const workflow = await published(world);
  const fence = await beginSession(world.manager, workflow, world.self);
  const reaped = await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
  assert.deepEqual(reaped, { ended: 'abandoned', run: null });
  world.is('sessions', world.sessionOf(fence), { result: 'completed', handlerRunCount: 0 });
  world.is('workflows', workflow, { dueAt: world.clock.now() });
});

forEachStore('handed off, and nobody came: the work is untouched and due again', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.beginScheduling(execution);
  await world.manager.handOff(execution);
  assert.deepEqual(await world.manager.recoverUnfinishedSessions(world.self), { recovered: 1, left: 0 });
  world.is('executions', execution, { status: 'abandoned' });
  world.is('workflows', workflow, { quiet: false, dueAt: world.clock.now() });
});

forEachStore('a crash during recovery is recovered: two recoveries at once do it once', async (world) => {
  const { run } = await prepared(world);
  const self = world.ids.next('worker');
  await world.manager.registerWorker(self, { name: 'two', pool: 'default', leaseMs: 45_000 });
  const reports = await Promise.all([world.manager.recoverCrashedRuns(self), world.manager.recoverCrashedRuns(self)]);
  assert.deepEqual(reports, [
    { recovered: 1, left: 0 },
    { recovered: 0, left: 1 },
  ]);
  world.is('runs', run, { status: 'crashed' });
});

forEachStore('recovery makes the task that a crash kept from being made, once', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'failed:logic');
  await restart(world);
  assert.equal(await world.manager.recoverMaintenanceMode(), 1);
  assert.equal(await world.manager.recoverMaintenanceMode(), 0);
  assert.equal(world.rows.tasks.values().length, 1);
});

forEachStore('two workflows run beside each other', async (world) => {
  const one = await preparing(world);
  const two = await deploy(world.manager, 'other');
  await freshRun(world, two, 'poll');
  const active = world.rows.runs.values().filter((run) => run.status === 'active');
  assert.deepEqual(active.map((run) => run.workflowId).sort(), [one.workflow, two].sort());
});

forEachStore('a workflow without a version does not run', async (world) => {
  const { workflow } = await world.manager.createWorkflow('empty', PERSON);
  await world.refuses('wrong-state', () => world.manager.requestExecution(workflow, 'event'), /is draft/);
  await nothingFollows(world, workflow);
});

forEachStore('handed off to nobody in particular: there is no lease to wait for', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.beginScheduling(execution);
  const { epoch } = await world.manager.handOff(execution);
  const reaped = await world.manager.reapExecution(execution, epoch, { provenDead: false });
  assert.deepEqual(reaped, { ended: 'abandoned', run: null });
  world.is('workflows', workflow, { dueAt: world.clock.now() });
});

for (const [swept, waiting, kept] of [
  ['webhook', 'event', 'webhook'],
  ['event', 'webhook', 'webhook'],
] as const) {
  forEachStore(`a swept ${swept} request is folded into the ${waiting} that came meanwhile`, async (world) => {
    const workflow = await published(world);
    const first = await world.manager.requestExecution(workflow, swept);
    await world.manager.beginScheduling(first.execution);
    const second = await world.manager.requestExecution(workflow, waiting);
    assert.equal(second.folded, false);
    world.clock.advance(SCHEDULING_LEASE_MS);
    await world.manager.sweepScheduling(first.execution);
    world.is('executions', first.execution, { status: 'cancelled' });
    world.is('executions', second.execution, { status: 'requested', trigger: kept });
    assert.deepEqual(await world.manager.scheduleDue(workflow), { execution: second.execution });
  });
}

forEachStore('recovery makes every task that is missing, however many pages they fill', async (world) => {
  const { manager, self } = world;
  world.stopWatching();
  const count = 300;
  const version = { major: 1, minor: 0, contentHash: 'h', code: 'x', handlers: ORDERS, by: PERSON };
  await manager.together((model) => {
    for (let i = 0; i < count; i++) {
      const { workflow } = model.createWorkflow(`w${i}`, PERSON);
      model.activateScript(workflow, model.addScript(workflow, version).script, { by: PERSON });
      const { execution } = model.requestExecution(workflow, 'event');
      model.beginScheduling(execution);
      const claimed = model.claimExecution(execution, model.handOff(execution).epoch, self);
      assert.ok('fence' in claimed);
      const { run } = model.startRun(claimed.fence, 'poll');
      model.updateHandlerRunStatus(claimed.fence, run, 'failed:logic', { error: 'it broke' });
    }
  });
  assert.equal(await manager.recoverMaintenanceMode(), count);
  assert.equal(await manager.recoverMaintenanceMode(), 0);
});
