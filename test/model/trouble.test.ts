import assert from 'node:assert/strict';
import type { WorkflowId } from '#base';
import { BACKOFF_MS_MAX, FAILED_REPAIRS_MAX, RETRY_AFTER_MS_MAX } from '#model';
import { deployVersion, ORDERS, PERSON, placed, SECONDS } from '../support/fixture.ts';
import {
  emitting,
  failedAfter,
  freshRun,
  HOUR,
  nextRun,
  nothingFollows,
  prepared,
  preparing,
  published,
  restart,
  type Stage,
  stop,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// When a handler cannot go on by itself: waiting and trying again, asking for a repair, or giving up and asking a person.

function kept(world: World, workflow: WorkflowId, handler = 'book') {
  return world.row('handlerStates', `${workflow} ${handler}`);
}

async function commitEmpty(world: World, { fence, run }: Stage): Promise<void> {
  await world.manager.together((model) => {
    model.updateConsumerPhase(fence, run, 'prepared');
    model.updateConsumerPhase(fence, run, 'emitting');
    model.commitConsumer(fence, run);
  });
}

forEachStore('transient: 1 s doubling to 15 min, with a little jitter downwards', async (world) => {
  const { workflow, ...first } = await preparing(world);
  let stage: Stage = { workflow, ...first };
  for (let count = 0; count < 13; count++) {
    await stop(world, stage, 'paused:transient');
    const doubled = Math.min(2 ** count * SECONDS, BACKOFF_MS_MAX);
    const { backoffUntil, transientCount } = kept(world, workflow);
    assert.ok(backoffUntil !== null);
    const delayMs = backoffUntil - world.clock.now();
    assert.ok(delayMs >= doubled * 0.75 && delayMs <= doubled, `${count}: ${delayMs} of ${doubled}`);
    assert.equal(transientCount, count + 1);
    world.is('workflows', workflow, { dueAt: backoffUntil, status: 'active' });
    world.clock.advance(delayMs);
    stage = await nextRun(world, workflow);
  }
});

forEachStore('transient: Retry-After is honoured, for a day at most', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:transient', { retryAfterMs: 10 * 60 * SECONDS });
  assert.equal(kept(world, stage.workflow).backoffUntil, world.clock.now() + 10 * 60 * SECONDS);
  world.clock.advance(10 * 60 * SECONDS);
  const again = await nextRun(world, stage.workflow);
  await stop(world, again, 'paused:transient', { retryAfterMs: 100 * HOUR });
  assert.equal(kept(world, stage.workflow).backoffUntil, world.clock.now() + RETRY_AFTER_MS_MAX);
});

forEachStore('transient: a Retry-After that is shorter than the backoff does not shorten it', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:transient', { retryAfterMs: 1 });
  assert.ok((kept(world, stage.workflow).backoffUntil ?? 0) >= world.clock.now() + 750);
});

forEachStore('transient: a success forgets the trouble', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:transient');
  world.clock.advance(1 * SECONDS);
  const again = await nextRun(world, stage.workflow);
  await commitEmpty(world, again);
  world.is('handlerStates', `${stage.workflow} book`, { backoffUntil: null, transientSince: null, transientCount: 0 });
});

forEachStore('transient: 24 h without success ask a person, and the reason is said', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:transient');
  world.clock.advance(24 * HOUR - 1);
  const before = await nextRun(world, stage.workflow);
  await stop(world, before, 'paused:transient');
  world.is('workflows', stage.workflow, { status: 'active', holds: [] });
  world.clock.advance(1 * HOUR);
  const after = await nextRun(world, stage.workflow);
  await stop(world, after, 'paused:transient', { error: 'the shop is closed' });
  world.is('workflows', stage.workflow, {
    status: 'error',
    holds: ['error'],
    errorReason: 'book has not worked for a day: the shop is closed',
    dueAt: null,
  });
  await world.manager.resumeWorkflow(stage.workflow, PERSON);
  world.is('workflows', stage.workflow, { status: 'active', errorReason: null });
  await stop(world, await nextRun(world, stage.workflow), 'paused:transient');
  world.is('workflows', stage.workflow, { status: 'active', holds: [] });
});

forEachStore('transient: the backoff is kept through a restart', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:transient', { retryAfterMs: HOUR });
  const { backoffUntil } = kept(world, stage.workflow);
  await restart(world);
  assert.deepEqual(await world.manager.scheduleDue(stage.workflow), { idle: backoffUntil });
});

forEachStore('transient: one handler waits, the others go on', async (world) => {
  const stage = await preparing(world);
  await world.manager.publishEvents(stage.workflow, [placed('p1', '{}', 'parcel')], PERSON);
  await stop(world, stage, 'paused:transient', { retryAfterMs: HOUR });
  const { run } = await nextRun(world, stage.workflow);
  world.is('runs', run, { handlerName: 'ship' });
});

forEachStore('transient: a producer waits for its time and its backoff', async (world) => {
  const workflow = await published(world, { events: [] });
  const first = await freshRun(world, workflow, 'poll');
  await world.manager.commitProducer(first.fence, first.run, { nextAt: world.clock.now() + SECONDS });
  await world.manager.finishSession(first.fence);
  world.clock.advance(SECONDS);
  const second = await nextRun(world, workflow);
  await stop(world, second, 'paused:transient', { retryAfterMs: HOUR });
  world.is('workflows', workflow, { dueAt: world.clock.now() + HOUR });
});

forEachStore('logic: maintenance ends with a new version', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'failed:logic');
  const { task } = await world.manager.createMaintenanceTask(stage.workflow);
  await nothingFollows(world, stage.workflow);
  await deployVersion(world.manager, stage.workflow, ORDERS, 1);
  world.is('workflows', stage.workflow, { maintenance: false, maintenanceRunId: null, dueAt: world.clock.now() });
  world.is('tasks', task, { status: 'closed', closedBy: PERSON, closedAt: world.clock.now() });
  world.is('handlerStates', `${stage.workflow} book`, { repaired: true });
});

forEachStore('logic: maintenance ends with a retry as it is, which is no repair', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'failed:logic');
  assert.deepEqual(await world.manager.exitMaintenanceMode(stage.workflow, PERSON, false), { status: 'active' });
  assert.equal(world.rows.handlerStates.get(`${stage.workflow} book`)?.repaired ?? false, false);
  world.is('workflows', stage.workflow, { maintenance: false, dueAt: world.clock.now() });
});

forEachStore('logic: maintenance ends with finish without next', async (world) => {
  const { workflow, run } = await failedAfter(world, 'failed:logic');
  await world.manager.createMaintenanceTask(workflow);
  await world.manager.finishWithoutNext(run, PERSON);
  world.is('workflows', workflow, { maintenance: false, pendingRetryRunId: null });
  assert.equal(world.rows.handlerStates.get(`${workflow} book`)?.repaired ?? false, false);
  assert.equal(world.rows.tasks.values()[0]?.status, 'closed');
});

forEachStore('logic: maintenance ends when no suspect event is pending any more: skipped or parked', async (world) => {
  const stage = await preparing(world, { events: ['1', '2', '3'] });
  const [one, two, three] = ['1', '2', '3'].map((messageId) => world.event(messageId));
  assert.ok(one && two && three);
  await stop(world, stage, 'failed:logic', { suspects: [one, two] });
  world.is('runs', stage.run, { suspects: [one, two] });
  await world.manager.skipEvents([one], PERSON);
  world.is('workflows', stage.workflow, { maintenance: true });
  await world.manager.skipEvents([three], PERSON);
  world.is('workflows', stage.workflow, { maintenance: true });
  await world.manager.parkEvents([two], PERSON);
  world.is('workflows', stage.workflow, { maintenance: false });
});

forEachStore('logic: without known suspects only a repair or a person ends maintenance', async (world) => {
  const stage = await preparing(world, { events: ['1'] });
  await stop(world, stage, 'failed:logic');
  await world.manager.skipEvents([world.event('1')], PERSON);
  world.is('workflows', stage.workflow, { maintenance: true });
});

forEachStore(
  'logic: after the boundary the suspects are reserved, and no other event ends maintenance',
  async (world) => {
    const stage = await emitting(world);
    await world.manager.publishEvents(stage.workflow, [placed('2')], PERSON);
    await stop(world, stage, 'failed:logic', { suspects: [world.event('1')] });
    await world.refuses('wrong-state', () => world.manager.skipEvents([world.event('1')], PERSON));
    await world.refuses('wrong-state', () => world.manager.parkEvents([world.event('1')], PERSON));
    await world.manager.parkEvents([world.event('2')], PERSON);
    world.is('workflows', stage.workflow, { maintenance: true, pendingRetryRunId: stage.run });
  },
);

forEachStore('logic: three failed repairs ask a person', async (world) => {
  const { workflow, ...first } = await preparing(world);
  let stage: Stage = { workflow, ...first };
  await stop(world, stage, 'failed:logic');
  for (let repairs = 1; repairs <= FAILED_REPAIRS_MAX; repairs++) {
    world.is('workflows', workflow, { holds: [], maintenance: true });
    await world.manager.exitMaintenanceMode(workflow, PERSON, true);
    stage = await nextRun(world, workflow);
    await stop(world, stage, 'failed:logic');
    world.is('handlerStates', `${workflow} book`, { failedRepairs: repairs, repaired: false });
  }
  world.is('workflows', workflow, {
    holds: ['error'],
    maintenance: true,
    errorReason: 'book failed again after 3 repairs',
  });
});

forEachStore('logic: a retry that fails as it is counts as no repair, and a success forgets them', async (world) => {
  const { workflow, ...first } = await preparing(world);
  await stop(world, { workflow, ...first }, 'failed:logic');
  await world.manager.exitMaintenanceMode(workflow, PERSON, true);
  const second = await nextRun(world, workflow);
  await stop(world, second, 'failed:logic');
  await world.manager.exitMaintenanceMode(workflow, PERSON, false);
  const third = await nextRun(world, workflow);
  await stop(world, third, 'failed:logic');
  world.is('handlerStates', `${workflow} book`, { failedRepairs: 1 });
  await world.manager.exitMaintenanceMode(workflow, PERSON, true);
  const fourth = await nextRun(world, workflow);
  await commitEmpty(world, fourth);
  world.is('handlerStates', `${workflow} book`, { failedRepairs: 0, repaired: false });
});

forEachStore('logic: only a workflow in maintenance can leave it or get a task', async (world) => {
  const workflow = await published(world);
  await world.refuses('wrong-state', () => world.manager.exitMaintenanceMode(workflow, PERSON, true));
  await world.refuses('wrong-state', () => world.manager.createMaintenanceTask(workflow));
});

async function crash(world: World, workflow: WorkflowId): Promise<void> {
  const { fence, run } = await nextRun(world, workflow);
  const reservations = [{ topic: 'order.placed', ids: ['1'] }];
  await world.manager.updateConsumerPhase(fence, run, 'prepared', { reservations });
  await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
}

forEachStore('crash loop: abandoned three times on the same first event asks a person', async (world) => {
  const workflow = await published(world, { events: ['1', '2'] });
  await crash(world, workflow);
  await crash(world, workflow);
  world.is('workflows', workflow, { holds: [] });
  world.is('handlerStates', `${workflow} book`, { crashCount: 2, crashEventId: world.event('1') });
  await crash(world, workflow);
  world.is('workflows', workflow, {
    holds: ['error'],
    errorReason: 'book took its process down 3 times on the same event',
  });
});

forEachStore('crash loop: also where nothing was reserved yet, by the event it would look at', async (world) => {
  const workflow = await published(world);
  for (let count = 1; count <= 3; count++) {
    world.is('workflows', workflow, { holds: [] });
    const { fence } = await nextRun(world, workflow);
    await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
  }
  world.is('workflows', workflow, { holds: ['error'] });
});

forEachStore('crash loop: a commit in between, or another event, begins anew', async (world) => {
  const workflow = await published(world);
  await crash(world, workflow);
  await crash(world, workflow);
  await commitEmpty(world, await nextRun(world, workflow));
  world.is('handlerStates', `${workflow} book`, { crashCount: 0, crashEventId: null });
});

forEachStore('crash loop: another first event begins anew', async (world) => {
  const workflow = await published(world, { events: ['1', '2'] });
  await crash(world, workflow);
  await crash(world, workflow);
  await world.manager.skipEvents([world.event('1')], PERSON);
  const { fence } = await nextRun(world, workflow);
  await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
  world.is('handlerStates', `${workflow} book`, { crashCount: 1, crashEventId: world.event('2') });
});

forEachStore('crash loop: events of other handlers do not begin it anew', async (world) => {
  const workflow = await published(world, { events: [] });
  await world.manager.publishEvents(workflow, [placed('p1', '{}', 'parcel')], PERSON);
  const parcel = world.event('p1');
  await world.manager.publishEvents(workflow, [placed('1')], PERSON);
  await world.manager.parkEvents([parcel], PERSON);
  for (let count = 1; count <= 2; count++) {
    const { fence } = await freshRun(world, workflow, 'book');
    await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
  }
  await world.manager.unparkEvents([parcel], PERSON);
  const { fence } = await freshRun(world, workflow, 'book');
  await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
  world.is('handlerStates', `${workflow} book`, { crashCount: 3, crashEventId: world.event('1') });
});

forEachStore('crash loop: a producer with no events at all counts too', async (world) => {
  const workflow = await published(world, { events: [] });
  for (let count = 1; count <= 3; count++) {
    const { fence } = await freshRun(world, workflow, 'poll');
    await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
    world.is('handlerStates', `${workflow} poll`, { crashCount: count, crashEventId: null });
  }
  world.is('workflows', workflow, { holds: ['error'] });
});

forEachStore('internal: a person is asked at once', async (world) => {
  const stage = await prepared(world);
  await stop(world, stage, 'failed:internal', { error: 'the connector broke' });
  world.is('workflows', stage.workflow, { holds: ['error'], errorReason: 'the connector broke', maintenance: false });
});
