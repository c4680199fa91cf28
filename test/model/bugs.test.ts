import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STOP_STATUSES } from '#model';
import { PERSON } from '../support/fixture.ts';
import { emitting, failedAfter, nextRun, restart, stop } from '../support/stage.ts';
import { forEachStore, inWorld, type World } from '../support/world.ts';

// The five bugs source 000 begins with. Each test fails for the naive step that its comment names.

// Naive: mark the run failed, enter maintenance, and leave the pointer to whoever handles the session's result.
forEachStore('Bug 1: post-mutation logic failure orphans events', async (world) => {
  const stage = await failedAfter(world, 'failed:logic');
  world.is('workflows', stage.workflow, { maintenance: true, pendingRetryRunId: stage.run });
  await world.manager.exitMaintenanceMode(stage.workflow, PERSON, true);
  const retry = await nextRun(world, stage.workflow);
  await world.manager.commitConsumer(retry.fence, retry.run);
  assert.deepEqual(world.events, { 1: 'consumed' });
});

// Naive: one write for the run's status, and later others for the events, the pointer, the session and the flag.
forEachStore('Bug 2: non-atomic state transitions', async (world) => {
  const stage = await emitting(world);
  const before = world.commits;
  await stop(world, stage, 'failed:logic');
  assert.equal(world.commits, before + 1);
  assertStoppedWhole(world, stage);
});

function assertStoppedWhole(world: World, stage: Awaited<ReturnType<typeof emitting>>): void {
  world.is('runs', stage.run, { status: 'failed:logic' });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: stage.run });
  world.is('workflows', stage.workflow, { pendingRetryRunId: stage.run, maintenance: true });
  world.is('sessions', world.sessionOf(stage.fence), { result: 'failed' });
  world.is('executions', stage.fence.execution, { status: 'failed' });
}

// Only a database can be killed in the middle of a commit: plain rows have no such point.
test('Bug 2: a process killed before the commit of a stop has changed nothing', () =>
  inWorld('sqlite', async (world) => {
    const stage = await emitting(world);
    const before = world.dump();
    await world.diesAt('before-commit', () => stop(world, stage, 'failed:logic'));
    assert.deepEqual(world.dump(), before);
  }));

test('Bug 2: a process killed after the commit of a stop has changed everything', () =>
  inWorld('sqlite', async (world) => {
    const stage = await emitting(world);
    await world.diesAt('after-commit', () => stop(world, stage, 'failed:logic'));
    assertStoppedWhole(world, stage);
  }));

// Naive: take a run at `mutated` or `emitting` for alive by its phase alone, so that a dead one keeps its events for ever, unseen.
forEachStore('Bug 3: releaseOrphanedReservedEvents does not check the run status', async (world) => {
  const { workflow } = await failedAfter(world);
  assert.deepEqual(await world.manager.assertNoOrphanedReservedEvents(), { events: [], held: [] });
  world.tamper({
    rows: (rows) => rows.workflows.put(workflow, { ...world.row('workflows', workflow), pendingRetryRunId: null }),
    sql: 'UPDATE workflows SET pending_retry_run_id = NULL',
  });

  const event = world.event('1');
  assert.deepEqual(await world.manager.assertNoOrphanedReservedEvents(), { events: [event], held: [workflow] });
  world.is('events', event, { status: 'reserved' });
  world.is('workflows', workflow, { status: 'error', holds: ['error'] });
  assert.match(world.row('workflows', workflow).errorReason ?? '', new RegExp(event));
});

// Naive: create the retry and leave `reserved_by_run_id` at the old run, so that its commit consumes no rows.
forEachStore('Bug 4: post-mutation retry never transfers event reservations', async (world) => {
  const failed = await failedAfter(world, 'crashed');
  const retry = await nextRun(world, failed.workflow);
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: retry.run });
  await world.manager.commitConsumer(retry.fence, retry.run);
  world.is('events', world.event('1'), { status: 'consumed', reservedByRunId: retry.run });
});

// Naive: recovery looks for active runs only, while the pointer is written after the stop; a crash in between loses the run.
for (const status of STOP_STATUSES.filter((name) => name !== 'paused:reconciliation')) {
  forEachStore(`Bug 5: crash recovery misses non-active runs (${status})`, async (world) => {
    const stage = await emitting(world);
    await stop(world, stage, status, { cause: { kind: 'permission' } });
    await restart(world);
    world.is('runs', stage.run, { status });
    world.is('workflows', stage.workflow, { pendingRetryRunId: stage.run });
    world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: stage.run });
  });
}
