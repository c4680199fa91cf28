import assert from 'node:assert/strict';
import type { WorkflowId } from '#base';
import { WAKE_DELAY_MS_MAX, WAKE_DELAY_MS_MIN } from '#model';
import { deployVersion, ORDERS, PERSON, placed, reserve, SECONDS } from '../support/fixture.ts';
import {
  emittingEmpty,
  emptyToEmitting,
  followUp,
  freshRun,
  HOUR,
  nextRun,
  nothingFollows,
  prepared,
  preparing,
  published,
  type Stage,
  stop,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// A consumer that reserved nothing rests: from the commit of that run, until something of its topics became pending after the run
// had started, its wake time, a new version or a manual trigger.

/** `book` has looked at event 1 (and whatever else is pending) and left it; it rests. */
async function resting(world: World, wakeAt?: number, events = ['1']): Promise<WorkflowId> {
  const stage = await preparing(world, { events });
  await rest(world, stage, wakeAt);
  await world.manager.finishSession(stage.fence);
  return stage.workflow;
}

async function rest(world: World, stage: Stage, wakeAt?: number): Promise<void> {
  await emptyToEmitting(world, stage, wakeAt);
  await world.manager.commitConsumer(stage.fence, stage.run);
}

async function wakes(world: World, workflow: WorkflowId): Promise<void> {
  world.is('workflows', workflow, { dueAt: world.clock.now() });
  const { run } = await nextRun(world, workflow);
  world.is('runs', run, { handlerName: 'book' });
}

forEachStore('a resting consumer is left alone, however long', async (world) => {
  const workflow = await resting(world);
  world.is('handlerStates', `${workflow} book`, { restedSeq: 1, wakeAt: null });
  world.clock.advance(48 * HOUR);
  await nothingFollows(world, workflow);
});

forEachStore('it wakes for a published event', async (world) => {
  const workflow = await resting(world);
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  await wakes(world, workflow);
});

forEachStore('it wakes for a changed event', async (world) => {
  const workflow = await resting(world);
  await world.manager.publishEvents(workflow, [placed('1', '{"v":2}')], PERSON);
  await wakes(world, workflow);
});

forEachStore('it wakes for an unparked event', async (world) => {
  const workflow = await resting(world, undefined, ['1', '2']);
  await world.manager.parkEvents([world.event('2')], PERSON);
  await nothingFollows(world, workflow);
  await world.manager.unparkEvents([world.event('2')], PERSON);
  await wakes(world, workflow);
});

forEachStore('it wakes for a redone event', async (world) => {
  const workflow = await resting(world, undefined, ['1', '2']);
  await world.manager.skipEvents([world.event('2')], PERSON);
  await nothingFollows(world, workflow);
  await world.manager.redoEvents([world.event('2')], PERSON);
  await wakes(world, workflow);
});

forEachStore('it wakes for a released event', async (world) => {
  const workflow = await resting(world);
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  const stage = await nextRun(world, workflow);
  await world.manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', { reservations: reserve('2') });
  await stop(world, stage, 'crashed');
  await wakes(world, workflow);
});

forEachStore('it does not wake for an event of a topic it does not read', async (world) => {
  const workflow = await resting(world);
  await world.manager.publishEvents(workflow, [placed('b1', '{}', 'order.booked')], PERSON);
  const { run } = await nextRun(world, workflow);
  world.is('runs', run, { handlerName: 'tell' });
});

forEachStore('it does not wake for a repeat that says the same', async (world) => {
  const workflow = await resting(world);
  await world.manager.publishEvents(workflow, [placed('1')], PERSON);
  await nothingFollows(world, workflow);
});

forEachStore('it wakes for a new version', async (world) => {
  const workflow = await resting(world);
  await deployVersion(world.manager, workflow, ORDERS, 1);
  await wakes(world, workflow);
});

forEachStore('it wakes for a new version that took over while the empty run was under way', async (world) => {
  const stage = await emittingEmpty(world);
  await deployVersion(world.manager, stage.workflow, ORDERS, 1);
  await world.manager.commitConsumer(stage.fence, stage.run);
  await world.manager.finishSession(stage.fence);
  await wakes(world, stage.workflow);
});

forEachStore('it wakes for a manual trigger', async (world) => {
  const workflow = await resting(world);
  await world.manager.requestExecution(workflow, 'manual', PERSON);
  const fence = await followUp(world, workflow);
  const poll = await world.manager.advanceSession(fence);
  assert.ok('run' in poll);
  world.is('runs', poll.run, { handlerName: 'poll' });
  await world.manager.commitProducer(fence, poll.run);
  const book = await world.manager.advanceSession(fence);
  assert.ok('run' in book);
  world.is('runs', book.run, { handlerName: 'book' });
});

forEachStore('a run that reserved something ends the rest', async (world) => {
  const workflow = await resting(world);
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  const { fence, run } = await nextRun(world, workflow);
  await world.manager.together((model) => {
    model.updateConsumerPhase(fence, run, 'prepared', { reservations: reserve('2') });
    model.updateConsumerPhase(fence, run, 'mutating');
    model.updateConsumerPhase(fence, run, 'mutated');
    model.updateConsumerPhase(fence, run, 'emitting');
    model.commitConsumer(fence, run);
  });
  world.is('handlerStates', `${workflow} book`, { restedSeq: null });
  const again = await world.manager.advanceSession(fence);
  assert.ok('run' in again);
  world.is('runs', again.run, { handlerName: 'book' });
});

forEachStore('an empty run that is stopped does not rest', async (world) => {
  const stage = await emittingEmpty(world);
  await stop(world, stage, 'crashed');
  await wakes(world, stage.workflow);
});

for (const [name, asked, got] of [
  ['nearer than 30 s', 1, WAKE_DELAY_MS_MIN],
  ['in the past', -HOUR, WAKE_DELAY_MS_MIN],
  ['as asked', 2 * HOUR, 2 * HOUR],
  ['rounded', 2 * HOUR + 0.4, 2 * HOUR],
  ['farther than 24 h', 48 * HOUR, WAKE_DELAY_MS_MAX],
] as const) {
  forEachStore(`wakeAt is clamped to 30 s – 24 h: ${name}`, async (world) => {
    const workflow = await resting(world, world.clock.now() + asked);
    const at = world.clock.now() + got;
    world.is('handlerStates', `${workflow} book`, { wakeAt: at });
    world.is('workflows', workflow, { dueAt: at });
    assert.deepEqual(await world.manager.scheduleDue(workflow), { idle: at });
    world.clock.advance(got);
    const { fence } = await nextRun(world, workflow);
    world.is('executions', fence.execution, { trigger: 'wake' });
  });
}

for (const wakeAt of [undefined, Number.NaN, Number.POSITIVE_INFINITY]) {
  forEachStore(`wakeAt ${wakeAt} clears the one before`, async (world) => {
    const workflow = await resting(world, world.clock.now() + HOUR);
    world.clock.advance(HOUR);
    const stage = await nextRun(world, workflow);
    await rest(world, stage, wakeAt);
    world.is('handlerStates', `${workflow} book`, { wakeAt: null });
    await world.manager.finishSession(stage.fence);
    world.is('workflows', workflow, { dueAt: null });
  });
}

forEachStore('a wake time is kept also by a run that reserved something', async (world) => {
  const stage = await preparing(world);
  const wakeAt = world.clock.now() + HOUR;
  await world.manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', { reservations: reserve('1'), wakeAt });
  world.is('handlerStates', `${stage.workflow} book`, { wakeAt });
});

forEachStore('an event that comes before the wake time wakes at once', async (world) => {
  const workflow = await resting(world, world.clock.now() + HOUR);
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  await wakes(world, workflow);
});

forEachStore('a woken consumer that has no events at all comes after those that have', async (world) => {
  const stage = await preparing(world, { events: [] });
  await rest(world, stage, world.clock.now() + 30 * SECONDS);
  await world.manager.finishSession(stage.fence);
  world.clock.advance(30 * SECONDS);
  await world.manager.publishEvents(stage.workflow, [placed('b1', '{}', 'order.booked')], PERSON);
  const first = await nextRun(world, stage.workflow);
  world.is('runs', first.run, { handlerName: 'tell' });
  await rest(world, first);
  const second = await world.manager.advanceSession(first.fence);
  assert.ok('run' in second);
  world.is('runs', second.run, { handlerName: 'book' });
});

forEachStore('an event published while the empty run is under way wakes it', async (world) => {
  const stage = await emittingEmpty(world);
  await world.manager.publishEvents(stage.workflow, [placed('2')], PERSON);
  await world.manager.commitConsumer(stage.fence, stage.run);
  const again = await world.manager.advanceSession(stage.fence);
  assert.ok('run' in again);
  world.is('runs', again.run, { handlerName: 'book' });
});

forEachStore('released events are newer than the run that released them', async (world) => {
  const stage = await prepared(world);
  const { eventSeq } = world.row('workflows', stage.workflow);
  await stop(world, stage, 'crashed');
  world.is('events', world.event('1'), { pendingSeq: eventSeq + 1 });
  world.is('workflows', stage.workflow, { eventSeq: eventSeq + 1 });
});

forEachStore('a run without events raises no clock when it stops', async (world) => {
  const stage = await freshRun(world, await published(world), 'poll');
  const { eventSeq } = world.row('workflows', stage.workflow);
  await stop(world, stage, 'crashed');
  world.is('workflows', stage.workflow, { eventSeq });
});

forEachStore('two consumers without events are woken in the order of the version', async (world) => {
  const stage = await preparing(world, { events: [] });
  const wakeAt = world.clock.now() + HOUR;
  await rest(world, stage, wakeAt);
  const { run } = await world.manager.startRun(stage.fence, 'tell');
  await rest(world, { ...stage, run }, wakeAt);
  await world.manager.finishSession(stage.fence);
  world.clock.advance(HOUR);
  const first = await nextRun(world, stage.workflow);
  world.is('runs', first.run, { handlerName: 'book' });
});

forEachStore('what a consumer was woken for is owed until its run commits', async (world) => {
  const workflow = await resting(world, world.clock.now() + HOUR, []);
  world.clock.advance(HOUR);
  const woken = await nextRun(world, workflow);
  await emptyToEmitting(world, woken);
  world.is('handlerStates', `${workflow} book`, { wakeAt: null });
  await stop(world, woken, 'crashed');
  world.is('handlerStates', `${workflow} book`, { wakeAt: world.clock.now() });
  await wakes(world, workflow);
});

forEachStore('a run that stops before it has prepared keeps the wake time it came for', async (world) => {
  const wakeAt = world.clock.now() + HOUR;
  const workflow = await resting(world, wakeAt, []);
  world.clock.advance(HOUR + 1);
  const woken = await nextRun(world, workflow);
  await stop(world, woken, 'crashed');
  world.is('handlerStates', `${workflow} book`, { wakeAt });
  await wakes(world, workflow);
});

forEachStore('a producer that stops is not woken', async (world) => {
  const stage = await freshRun(world, await published(world, { events: [] }), 'poll');
  await stop(world, stage, 'crashed');
  await nothingFollows(world, stage.workflow);
});
