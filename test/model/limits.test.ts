import assert from 'node:assert/strict';
import type { ExecutionId, WorkflowId } from '#base';
import { SCHEDULING_LEASE_MS, SLOT_LOOK_MS, SLOTS_MAX } from '#model';
import { deploy, PERSON, placed } from '../support/fixture.ts';
import { forEachStore, type World } from '../support/world.ts';

// How much may be under way at once: a place is taken with the handoff, and free with the end, whatever end that is.

const POOL = 'pool:heavy';

async function requested(world: World, name: string): Promise<{ workflow: WorkflowId; execution: ExecutionId }> {
  const workflow = await deploy(world.manager, name);
  await world.manager.publishEvents(workflow, [placed(name)], PERSON);
  return { workflow, ...(await world.manager.requestExecution(workflow, 'event')) };
}

/** Two requests where there is room for one, the first of them scheduled. */
async function full(world: World) {
  await world.manager.setLimit(POOL, 1);
  const first = await requested(world, 'first');
  const second = await requested(world, 'second');
  assert.ok('until' in (await world.manager.beginScheduling(first.execution, [POOL])));
  assert.deepEqual(await world.manager.beginScheduling(second.execution, [POOL]), { waitsFor: POOL });
  return { first, second };
}

async function hasRoom(world: World, { execution }: { execution: ExecutionId }): Promise<void> {
  assert.ok('until' in (await world.manager.beginScheduling(execution, [POOL])));
  world.is('executions', execution, { status: 'scheduling', waitsFor: null, slots: [POOL] });
  assert.deepEqual(world.rows.slots.values(), [{ limitName: POOL, executionId: execution }]);
}

forEachStore('where there is no room a request waits, says for what, and is looked at again later', async (world) => {
  const { first, second } = await full(world);
  world.is('executions', first.execution, { status: 'scheduling', waitsFor: null, slots: [POOL] });
  world.is('executions', second.execution, { status: 'requested', waitsFor: POOL, slots: [] });
  world.is('workflows', second.workflow, { dueAt: world.clock.now() + SLOT_LOOK_MS });
  assert.equal(world.reader.slotsTaken(POOL), 1);
  const since = world.clock.now();
  assert.deepEqual(world.reader.slotWaiters(POOL, 10), [{ workflow: second.workflow, since }]);
  world.clock.advance(1);
  assert.deepEqual(await world.manager.beginScheduling(second.execution, [POOL]), { waitsFor: POOL });
  world.is('workflows', second.workflow, { dueAt: world.clock.now() + SLOT_LOOK_MS });
});

forEachStore('a request that something else holds is not among those who wait for room', async (world) => {
  const { second } = await full(world);
  await world.manager.pauseWorkflow(second.workflow, PERSON);
  assert.deepEqual(world.reader.slotWaiters(POOL, 10), []);
  await world.manager.resumeWorkflow(second.workflow, PERSON);
  assert.equal(world.reader.slotWaiters(POOL, 10).length, 1);
});

forEachStore('a completed session frees its place', async (world) => {
  const { first, second } = await full(world);
  const { epoch } = await world.manager.handOff(first.execution);
  const claimed = await world.manager.claimExecution(first.execution, epoch, world.self);
  assert.ok('fence' in claimed);
  assert.equal(world.reader.slotsTaken(POOL), 1);
  await world.manager.finishSession(claimed.fence);
  world.is('executions', first.execution, { status: 'completed', slots: [] });
  await hasRoom(world, second);
});

forEachStore('a cancel before the handoff, and one before the claim, free the place', async (world) => {
  const { first, second } = await full(world);
  await world.manager.cancelExecution(first.execution, PERSON);
  await hasRoom(world, second);
  const { epoch } = await world.manager.handOff(second.execution);
  await world.manager.cancelExecution(second.execution, PERSON);
  assert.equal(world.reader.slotsTaken(POOL), 1);
  assert.deepEqual(await world.manager.claimExecution(second.execution, epoch, world.self), { cancelled: true });
  assert.equal(world.reader.slotsTaken(POOL), 0);
});

forEachStore('what an executor took and did not hand off is given back with its place', async (world) => {
  const { first, second } = await full(world);
  world.clock.advance(SCHEDULING_LEASE_MS);
  await world.manager.sweepScheduling(first.execution);
  world.is('executions', first.execution, { status: 'requested', slots: [] });
  await hasRoom(world, second);
});

forEachStore('what is folded into a later request gives its place back too', async (world) => {
  const { first, second } = await full(world);
  await world.manager.requestExecution(first.workflow, 'event');
  world.clock.advance(SCHEDULING_LEASE_MS);
  await world.manager.sweepScheduling(first.execution);
  world.is('executions', first.execution, { status: 'cancelled', slots: [] });
  await hasRoom(world, second);
});

forEachStore('what the reaper ends frees its place, claimed or not', async (world) => {
  const { first, second } = await full(world);
  const { epoch } = await world.manager.handOff(first.execution);
  await world.manager.reapExecution(first.execution, epoch, { provenDead: true });
  await hasRoom(world, second);
  const handed = await world.manager.handOff(second.execution);
  await world.manager.claimExecution(second.execution, handed.epoch, world.self);
  await world.manager.reapExecution(second.execution, handed.epoch, { provenDead: true });
  assert.equal(world.reader.slotsTaken(POOL), 0);
});

forEachStore('an execution counts under all of its limits, or under none', async (world) => {
  const { manager } = world;
  await manager.setLimit(POOL, 2);
  await manager.setLimit('connection:shop', 1);
  const slots = [POOL, 'connection:shop', POOL, 'pool:not-set'];
  const [one, two] = [await requested(world, 'one'), await requested(world, 'two')];
  await manager.beginScheduling(one.execution, slots);
  world.is('executions', one.execution, { slots: [POOL, 'connection:shop'] });
  assert.deepEqual(await manager.beginScheduling(two.execution, slots), { waitsFor: 'connection:shop' });
  assert.equal(world.reader.slotsTaken(POOL), 1);
  await manager.setLimit('connection:shop', null);
  assert.ok('until' in (await manager.beginScheduling(two.execution, slots)));
  world.is('executions', two.execution, { slots: [POOL] });
});

forEachStore('a limit is a whole number from 1, with a name; one that is lowered ends nothing', async (world) => {
  const { manager } = world;
  for (const bad of [0, -1, 1.5, Number.NaN]) await world.refuses('invalid', () => manager.setLimit(POOL, bad));
  for (const bad of ['', ' ', 'pool:\u0000', 'x'.repeat(300)]) {
    await world.refuses('invalid', () => manager.setLimit(bad, 1));
  }
  await manager.setLimit(POOL, 2);
  const [one, two] = [await requested(world, 'one'), await requested(world, 'two')];
  for (const { execution } of [one, two]) await manager.beginScheduling(execution, [POOL]);
  await manager.setLimit(POOL, 1);
  await manager.setLimit(POOL, 1);
  assert.equal(world.reader.slotsTaken(POOL), 2);
  const three = await requested(world, 'three');
  assert.deepEqual(await manager.beginScheduling(three.execution, [POOL]), { waitsFor: POOL });
  const many = Array.from({ length: SLOTS_MAX + 1 }, (_, i) => `pool:${i}`);
  await world.refuses('invalid', () => manager.beginScheduling(three.execution, many));
  await world.refuses('invalid', () => manager.beginScheduling(three.execution, ['']));
});
