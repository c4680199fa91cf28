import assert from 'node:assert/strict';
import { type CommandOf, RESERVATIONS_MAX } from '#model';
import { applyAndEmit, beginSession, CALL, deploy, PERSON, placed, reserve } from '../support/fixture.ts';
import {
  awaitingApproval,
  emitting,
  failedAfter,
  freshRun,
  inFlight,
  mutating,
  nextRun,
  nothingFollows,
  prepared,
  preparing,
  published,
  restart,
  type Stage,
  sayDone,
  sayNotDone,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// What must be refused, in words, without a row changed. Ids and names of every command are in every-command.test.ts,
// text and lists in refused-content.test.ts.

async function reserves(world: World, stage: Stage, reservations: CommandOf<'updateConsumerPhase'>['reservations']) {
  return world.manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', { reservations });
}

forEachStore('reserving an event that is unknown', async (world) => {
  const stage = await preparing(world);
  await world.refuses('event-unavailable', () => reserves(world, stage, reserve('nowhere')), /does not exist/);
  await world.refuses('event-unavailable', () => reserves(world, stage, reserve('1', '')), /does not exist/);
});

forEachStore('reserving an event of another workflow', async (world) => {
  const stage = await preparing(world);
  const other = await deploy(world.manager, 'other');
  await world.manager.publishEvents(other, [placed('theirs')], PERSON);
  await world.refuses('event-unavailable', () => reserves(world, stage, reserve('theirs')), /in this workflow/);
});

forEachStore('reserving an event that is reserved', async (world) => {
  const aside = await unknown(world, {}, { events: ['1', '2'] });
  await world.manager.setAside(aside.mutation, PERSON);
  await world.manager.publishEvents(aside.workflow, [placed('3')], PERSON);
  const stage = await nextRun(world, aside.workflow);
  await world.refuses('event-unavailable', () => reserves(world, stage, reserve('3', '1')), /is reserved/);
});

forEachStore('reserving an event that is consumed, parked or skipped', async (world) => {
  const first = await emitting(world, { events: ['1'] });
  await world.manager.commitConsumer(first.fence, first.run);
  await world.manager.publishEvents(first.workflow, [placed('2'), placed('3'), placed('4')], PERSON);
  await world.manager.parkEvents([world.event('2')], PERSON);
  await world.manager.skipEvents([world.event('3')], PERSON);
  const begun = await world.manager.advanceSession(first.fence);
  assert.ok('run' in begun);
  const stage = { ...first, run: begun.run };
  await world.refuses('event-unavailable', () => reserves(world, stage, reserve('4', '1')), /is consumed/);
  await world.refuses('event-unavailable', () => reserves(world, stage, reserve('4', '2')), /is parked/);
  await world.refuses('event-unavailable', () => reserves(world, stage, reserve('4', '3')), /is skipped/);
});

forEachStore('reserving an event twice in one list', async (world) => {
  const stage = await preparing(world);
  await world.refuses('event-unavailable', () => reserves(world, stage, reserve('1', '1')), /twice in one list/);
  const split = [...reserve('1'), ...reserve('1')];
  await world.refuses('event-unavailable', () => reserves(world, stage, split), /twice in one list/);
});

forEachStore('reserving in a topic the consumer does not subscribe to', async (world) => {
  const stage = await preparing(world);
  await world.manager.publishEvents(stage.workflow, [placed('p1', '{}', 'parcel')], PERSON);
  const reservations = [{ topic: 'parcel', ids: ['p1'] }];
  await world.refuses(
    'not-subscribed',
    () => reserves(world, stage, reservations),
    /does not subscribe to topic parcel/,
  );
  await world.refuses('not-subscribed', () => reserves(world, stage, [{ topic: '', ids: [] }]));
});

forEachStore('reserving more events than one run takes', async (world) => {
  const events = Array.from({ length: RESERVATIONS_MAX + 1 }, (_, position) => String(position));
  const workflow = await published(world, { events: events.slice(1) });
  await world.manager.publishEvents(workflow, [placed('0')], PERSON);
  const stage = await freshRun(world, workflow);
  await world.refuses('invalid', () => reserves(world, stage, reserve(...events)), /1001 events are reserved at once/);
  await reserves(world, stage, reserve(...events.slice(1)));
});

const NOT_EMITTING: Readonly<Record<string, (world: World) => Promise<Stage>>> = {
  preparing,
  prepared,
  mutating,
  inFlight,
};

for (const [phase, reach] of Object.entries(NOT_EMITTING)) {
  forEachStore(`committing a run that is not emitting: ${phase}`, async (world) => {
    const { fence, run } = await reach(world);
    await world.refuses('wrong-phase', () => world.manager.commitConsumer(fence, run), /commits from emitting/);
  });
}

forEachStore('committing a run twice, and stopping a run that is not active', async (world) => {
  const { workflow, fence, run } = await emitting(world);
  await world.manager.commitConsumer(fence, run);
  await world.refuses('not-active', () => world.manager.commitConsumer(fence, run), /is committed/);
  await world.refuses('not-active', () => stop(world, { workflow, fence, run }, 'crashed'), /is committed/);
});

forEachStore('stopping as paused:reconciliation a run whose outcome is known', async (world) => {
  const stage = await emitting(world);
  await world.refuses('wrong-state', () => stop(world, stage, 'paused:reconciliation'), /no call of unknown outcome/);
});

forEachStore('stopping without a word of the error', async (world) => {
  const stage = await preparing(world);
  await world.refuses('invalid', () => stop(world, stage, 'crashed', { error: '' }));
  await world.refuses('invalid', () => stop(world, stage, 'crashed', { error: 'x'.repeat(64 * 1_024 + 1) }));
});

forEachStore('resolving a mutation twice', async (world) => {
  const { mutation } = await unknown(world);
  await sayDone(world, mutation);
  world.clock.advance(WAIT_MS);
  await world.refuses('already-resolved', () => sayDone(world, mutation), /it happened, says ada/);
  await world.refuses('already-resolved', () => sayNotDone(world, mutation), /the first answer stands/);
  await world.refuses('wrong-state', () => world.manager.skipMutation(mutation, PERSON), /its outcome is known/);
});

for (const [status, reach, why] of [
  ['in_flight', inFlight, 'its call is under way'],
  ['applied', emitting, 'its outcome is known'],
  ['pending', awaitingApproval, 'it was never sent: reject it instead'],
] as const) {
  forEachStore(`skipping a call that is ${status}, while its run goes on or waits`, async (world) => {
    const { mutation } = await reach(world);
    const skip = () => world.manager.skipMutation(mutation, PERSON);
    await world.refuses('wrong-state', skip, new RegExp(`is ${status}, so it cannot be skipped: ${why}`));
  });
}

forEachStore('resolving while its call may still fire', async (world) => {
  const { fence, mutation } = await inFlight(world);
  await world.refuses('busy', () => sayNotDone(world, mutation));
  world.clock.advance(45_000);
  await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: false });
  await world.refuses('too-early', () => sayNotDone(world, mutation));
});

forEachStore('retry before the boundary', async (world) => {
  const failed = await prepared(world);
  await stop(world, failed, 'crashed');
  const fence = await beginSession(world.manager, failed.workflow, world.self);
  await world.refuses('before-boundary', () => world.manager.createRetryRun(fence, failed.run));
});

forEachStore('retry of a run that is active, committed, retried already, or a producer', async (world) => {
  const { manager } = world;
  const failed = await failedAfter(world, 'crashed');
  const fence = await beginSession(manager, failed.workflow, world.self);
  const retry = await manager.createRetryRun(fence, failed.run);
  await world.refuses('busy', () => manager.createRetryRun(fence, retry.run));
  await manager.commitConsumer(fence, retry.run);
  await world.refuses('wrong-state', () => manager.createRetryRun(fence, retry.run), /is committed/);
  await world.refuses('wrong-state', () => manager.createRetryRun(fence, failed.run), /retried it already/);
  const poll = await manager.startRun(fence, 'poll');
  await stop(world, { ...failed, fence, run: poll.run }, 'crashed');
  const last = await beginSession(manager, failed.workflow, world.self);
  await world.refuses('wrong-state', () => manager.createRetryRun(last, poll.run), /of producer poll/);
});

forEachStore('retry in a session of another workflow', async (world) => {
  const failed = await failedAfter(world, 'crashed');
  const other = await deploy(world.manager, 'other');
  const fence = await beginSession(world.manager, other, world.self);
  await world.refuses('wrong-state', () => world.manager.createRetryRun(fence, failed.run), /another workflow/);
});

forEachStore('retry of a run that nothing points at is a broken store, and is refused', async (world) => {
  const { workflow, run } = await failedAfter(world, 'crashed');
  const fence = await beginSession(world.manager, workflow, world.self);
  world.tamper({
    rows: (rows) => rows.workflows.put(workflow, { ...world.row('workflows', workflow), pendingRetryRunId: null }),
    sql: 'UPDATE workflows SET pending_retry_run_id = NULL',
  });
  await world.refuses(
    'wrong-state',
    () => world.manager.createRetryRun(fence, run),
    /neither the pending retry nor set aside/,
  );
});

forEachStore('retry of a call that nobody approved', async (world) => {
  const { workflow, run } = await awaitingApproval(world);
  const holds = "UPDATE workflows SET holds = '', status = 'active'";
  world.tamper({
    rows: (rows) => rows.workflows.put(workflow, { ...world.row('workflows', workflow), holds: [], status: 'active' }),
    sql: holds,
  });
  const fence = await beginSession(world.manager, workflow, world.self);
  await world.refuses('held', () => world.manager.createRetryRun(fence, run), /waits for approval/);
});

forEachStore('a phase across: mutated without the answer of the call that was made', async (world) => {
  const { fence, run } = await inFlight(world);
  await world.refuses(
    'use-other-method',
    () => world.manager.updateConsumerPhase(fence, run, 'mutated'),
    /is in_flight/,
  );
  await world.refuses('wrong-phase', () => world.manager.updateConsumerPhase(fence, run, 'emitting'));
});

forEachStore('a second call, and a call at another phase', async (world) => {
  const stage = await prepared(world);
  const { fence, run } = stage;
  await world.refuses('wrong-phase', () => world.manager.startMutation(fence, run, CALL), /while mutating/);
  await world.manager.updateConsumerPhase(fence, run, 'mutating');
  await world.manager.startMutation(fence, run, CALL);
  await world.refuses('wrong-state', () => world.manager.startMutation(fence, run, CALL), /at most one call/);
  const [row] = world.rows.mutations.values();
  assert.ok(row);
  await applyAndEmit(world.manager, fence, run, row.id);
  await world.refuses('wrong-phase', () => world.manager.startMutation(fence, run, CALL));
  await world.manager.commitConsumer(fence, run);
  await world.refuses('not-active', () => world.manager.startMutation(fence, run, CALL));
});

forEachStore('a call of a producer', async (world) => {
  const { fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
  await world.refuses('wrong-state', () => world.manager.startMutation(fence, run, CALL), /only consumers/);
});

forEachStore('a call while a repair is waited for is stopped, should it ever come so far', async (world) => {
  const { workflow, fence, run } = await mutating(world);
  world.tamper({
    rows: (rows) =>
      rows.workflows.put(workflow, { ...world.row('workflows', workflow), maintenance: true, maintenanceRunId: run }),
    sql: `UPDATE workflows SET maintenance = 1, maintenance_run_id = '${run}'`,
  });
  const reply = await world.manager.startMutation(fence, run, CALL);
  assert.deepEqual(reply, { run, status: 'cancelled', reason: 'the workflow waits for a repair' });
  await world.refuses('fenced', () => world.manager.startRun(fence, 'book'));
});

forEachStore('a run while a repair is waited for', async (world) => {
  const workflow = await published(world);
  const fence = await beginSession(world.manager, workflow, world.self);
  const { run } = await world.manager.startRun(fence, 'poll');
  await world.manager.commitProducer(fence, run);
  world.tamper({
    rows: (rows) =>
      rows.workflows.put(workflow, { ...world.row('workflows', workflow), maintenance: true, maintenanceRunId: run }),
    sql: `UPDATE workflows SET maintenance = 1, maintenance_run_id = '${run}'`,
  });
  await world.refuses('held', () => world.manager.startRun(fence, 'book'), /waits for a repair/);
});

forEachStore('a handler that the version does not have, and a delivery of another webhook', async (world) => {
  const workflow = await deploy(world.manager);
  const delivery = { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' };
  const accepted = await world.manager.acceptDelivery(workflow, delivery);
  const fence = await beginSession(world.manager, workflow, world.self);
  await world.refuses('not-found', () => world.manager.startRun(fence, 'nobody'));
  await world.refuses('wrong-state', () => world.manager.startRun(fence, 'poll', accepted), /for hook/);
});

const FENCES = ['epoch', 'owner', 'execution'] as const;

for (const wrong of FENCES) {
  forEachStore(`wrong fence: another ${wrong}`, async (world) => {
    const { manager } = world;
    const stage = await mutating(world);
    const other = await beginSession(manager, await deploy(manager, 'other'), world.self);
    const stranger = world.ids.next('worker');
    await manager.registerWorker(stranger, { name: 'two', pool: 'default', leaseMs: 1 });
    const fence = {
      epoch: { ...stage.fence, epoch: stage.fence.epoch + 1 },
      owner: { ...stage.fence, owner: stranger },
      execution: other,
    }[wrong];
    await world.refuses('fenced', () => manager.updateConsumerPhase(fence, stage.run, 'mutated'));
    await world.refuses('fenced', () => manager.startMutation(fence, stage.run, CALL));
    await world.refuses('fenced', () => manager.commitConsumer(fence, stage.run));
    await world.refuses('fenced', () => stop(world, { ...stage, fence }, 'crashed'));
  });
}

forEachStore('wrong fence: the execution has ended', async (world) => {
  const { fence, run } = await mutating(world);
  await restart(world);
  const { manager } = world;
  for (const ask of [
    () => manager.advanceSession(fence),
    () => manager.finishSession(fence),
    () => manager.startRun(fence, 'book'),
    () => manager.createRetryRun(fence, run),
    () => manager.updateConsumerPhase(fence, run, 'mutated'),
    () => manager.startMutation(fence, run, CALL),
    () => manager.updateHandlerRunStatus(fence, run, 'crashed', { error: 'x' }),
    () => manager.commitConsumer(fence, run),
    () => manager.commitProducer(fence, run),
  ]) {
    await world.refuses('fenced', ask, /no longer belongs to/);
  }
});

forEachStore(
  'a pointer at an open question whose hold is gone is a broken store, and nothing is sent',
  async (world) => {
    const { workflow } = await unknown(world);
    world.tamper({
      rows: (rows) =>
        rows.workflows.put(workflow, { ...world.row('workflows', workflow), holds: [], status: 'active' }),
      sql: "UPDATE workflows SET holds = '', status = 'active'",
    });
    await nothingFollows(world, workflow);
  },
);
