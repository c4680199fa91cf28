import assert from 'node:assert/strict';
import { applyAndEmit, PERSON, placed } from '../support/fixture.ts';
import { emitting, freshRun, published, sayDone, sayNotDone, send, stop, unknown, WAIT_MS } from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// Stories that a fault survived until they were told.

/** The first run is set aside with its question open; the second failed after its call and is the pending retry. */
async function asideAndPointed(world: World) {
  const aside = await unknown(world, {}, { events: ['1'] });
  await world.manager.setAside(aside.mutation, PERSON);
  await world.manager.publishEvents(aside.workflow, [placed('2')], PERSON);
  const pointed = await send(world, await freshRun(world, aside.workflow), {}, { events: ['2'] });
  await applyAndEmit(world.manager, pointed.fence, pointed.run, pointed.mutation);
  await stop(world, pointed, 'crashed');
  return { aside, pointed };
}

const ANSWERS = {
  'it happened': sayDone,
  'it did not happen': sayNotDone,
  skip: (world, mutation) => world.manager.skipMutation(mutation, PERSON),
} as const satisfies Record<string, (world: World, mutation: Parameters<typeof sayDone>[1]) => Promise<unknown>>;

for (const [says, answer] of Object.entries(ANSWERS)) {
  forEachStore(`"${says}" for a set-aside call leaves the pointer of another run alone`, async (world) => {
    const { aside, pointed } = await asideAndPointed(world);
    world.clock.advance(WAIT_MS);
    await answer(world, aside.mutation);
    world.is('workflows', aside.workflow, { pendingRetryRunId: pointed.run });
    assert.equal(world.events['2'], 'reserved');
  });
}

forEachStore('republishing what was consumed, skipped or parked changes nothing', async (world) => {
  const stage = await emitting(world, { events: ['1', '2', '3'] });
  await world.manager.commitConsumer(stage.fence, stage.run);
  await world.manager.publishEvents(stage.workflow, [placed('4'), placed('5')], PERSON);
  await world.manager.skipEvents([world.event('4')], PERSON);
  await world.manager.parkEvents([world.event('5')], PERSON);
  const before = world.dump().events;
  for (const payload of [undefined, '{"new":true}']) {
    const again = ['1', '2', '3', '4', '5'].map((id) => placed(id, payload));
    const { published } = await world.manager.publishEvents(stage.workflow, again, PERSON);
    assert.deepEqual(
      published,
      ['1', '2', '3', '4', '5'].map((id) => world.event(id)),
    );
    assert.deepEqual(world.dump().events, before);
  }
});

/** A session that has just committed a run, with more to do. */
async function betweenRuns(world: World) {
  const stage = await emitting(world);
  await world.manager.publishEvents(stage.workflow, [placed('2')], PERSON);
  await world.manager.commitConsumer(stage.fence, stage.run);
  return stage;
}

forEachStore('a session whose workflow is paused between two runs ends, and the work waits', async (world) => {
  const { workflow, fence } = await betweenRuns(world);
  await world.manager.pauseWorkflow(workflow, PERSON);
  assert.deepEqual(await world.manager.advanceSession(fence), { ended: 'completed' });
  assert.equal(world.rows.runs.values().length, 1);
  assert.equal(world.events['2'], 'pending');
});

forEachStore('a session that is cancelled between two runs ends as cancelled, and starts nothing', async (world) => {
  const { fence } = await betweenRuns(world);
  await world.manager.cancelExecution(fence.execution, PERSON);
  assert.deepEqual(await world.manager.advanceSession(fence), { ended: 'cancelled' });
  assert.equal(world.rows.runs.values().length, 1);
  assert.equal(world.events['2'], 'pending');
});

forEachStore('another call for the same event has another key', async (world) => {
  const first = await unknown(world);
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, first.mutation);
  const second = await send(world, await freshRun(world, first.workflow), { params: '{"path":"/others"}' });
  const keys = [first.mutation, second.mutation].map((id) => world.row('mutations', id).idempotencyKey);
  assert.notEqual(keys[0], keys[1]);
});

forEachStore('a worker cannot claim at an epoch before the handoff', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.beginScheduling(execution);
  const { epoch } = await world.manager.handOff(execution);
  await world.refuses('fenced', () => world.manager.claimExecution(execution, epoch - 1, world.self));
  await world.manager.claimExecution(execution, epoch, world.self);
});
