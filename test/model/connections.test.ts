import assert from 'node:assert/strict';
import type { WorkflowId } from '#base';
import { deploy, PERSON, placed } from '../support/fixture.ts';
import { freshRun, inFlight, nextRun, preparing, stop } from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// Credentials that were refused mark the connection once; whoever meets them waits; a cure frees all, and older refusals no longer count.

const REFUSED = (version: number, connection = 'shop') => ({ cause: { kind: 'auth', connection, version } }) as const;

async function refused(world: World, workflow: WorkflowId, version = 0, connection = 'shop'): Promise<void> {
  const stage = await freshRun(world, workflow);
  await stop(world, stage, 'paused:approval', { ...REFUSED(version, connection), error: '401' });
}

forEachStore('refused: the connection is marked, its workflow waits', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:approval', { ...REFUSED(0), error: '401' });
  world.is('connections', 'shop', { version: 0, refusedAt: world.clock.now(), refusedReason: '401' });
  world.is('workflows', stage.workflow, { status: 'error', holds: ['connection'], heldConnections: ['shop'] });
});

forEachStore('refused: marked once, however many workflows meet it; the cure frees them all', async (world) => {
  const first = await preparing(world);
  const other = await deploy(world.manager, 'other');
  await stop(world, first, 'paused:approval', { ...REFUSED(0), error: 'first' });
  const markedAt = world.clock.now();
  world.clock.advance(5);
  await refused(world, other);
  world.is('connections', 'shop', { refusedAt: markedAt, refusedReason: 'first' });
  const third = await deploy(world.manager, 'third');
  const cured = await world.manager.cureConnection('shop', PERSON);
  assert.deepEqual({ ...cured, freed: [...cured.freed].sort() }, { version: 1, freed: [first.workflow, other] });
  world.is('connections', 'shop', { version: 1, refusedAt: null, refusedReason: null });
  for (const workflow of [first.workflow, other, third])
    world.is('workflows', workflow, { holds: [], status: 'active' });
  await nextRun(world, first.workflow);
});

forEachStore('refused: two connections hold until both are cured', async (world) => {
  const { workflow, ...stage } = await preparing(world);
  const second = { ...stage, workflow };
  await stop(world, second, 'paused:approval', REFUSED(0, 'shop'));
  await world.manager.cureConnection('shop', PERSON);
  const again = await nextRun(world, workflow);
  await stop(world, again, 'paused:approval', REFUSED(0, 'mail'));
  world.is('workflows', workflow, { heldConnections: ['mail'] });
  await world.manager.cureConnection('shop', PERSON);
  world.is('workflows', workflow, { holds: ['connection'] });
  await world.manager.cureConnection('mail', PERSON);
  world.is('workflows', workflow, { holds: [] });
});

forEachStore('a late refusal of an old version holds nobody', async (world) => {
  const { manager } = world;
  const stage = await preparing(world);
  assert.deepEqual(await manager.cureConnection('shop', PERSON), { version: 1, freed: [] });
  await stop(world, stage, 'paused:approval', REFUSED(0));
  world.is('runs', stage.run, { status: 'paused:approval' });
  world.is('workflows', stage.workflow, { holds: [], status: 'active', dueAt: world.clock.now() });
  world.is('connections', 'shop', { version: 1, refusedAt: null });
  assert.deepEqual(world.events, { 1: 'pending' });
});

forEachStore('a refusal of the new version holds again', async (world) => {
  const stage = await preparing(world);
  await world.manager.cureConnection('shop', PERSON);
  await stop(world, stage, 'paused:approval', { ...REFUSED(1), error: 'still wrong' });
  world.is('connections', 'shop', { version: 1, refusedAt: world.clock.now(), refusedReason: 'still wrong' });
  world.is('workflows', stage.workflow, { holds: ['connection'] });
});

forEachStore("a provider's refusal of credentials for a call says definitely not done", async (world) => {
  const { workflow, fence, run, mutation } = await inFlight(world);
  const answer = { resolvedBy: 'provider' } as const;
  await world.manager.updateMutationResult(mutation, 'failure', {
    fence,
    answer,
    errorClass: 'auth',
    stop: REFUSED(0),
  });
  world.is('runs', run, { status: 'paused:approval' });
  world.is('workflows', workflow, { holds: ['connection'], pendingRetryRunId: null });
  assert.deepEqual(world.events, { 1: 'pending' });
});

forEachStore('an approval nobody could give is not waited for', async (world) => {
  const stage = await preparing(world);
  await world.refuses('invalid', () => stop(world, stage, 'paused:approval'), /needs its cause/);
});

forEachStore('next makes no calls, so a refused connection lets it run', async (world) => {
  const stage = await inFlight(world);
  await world.manager.updateMutationResult(stage.mutation, 'success', {
    fence: stage.fence,
    answer: { resolvedBy: 'provider' },
  });
  await world.manager.updateConsumerPhase(stage.fence, stage.run, 'emitting');
  const other = await deploy(world.manager, 'other');
  await refused(world, other);
  await world.manager.commitConsumer(stage.fence, stage.run, { publishes: [placed('b1', '{}', 'order.booked')] });
  assert.deepEqual(world.events, { 1: 'consumed', b1: 'pending' });
});

forEachStore('a refusal names its connection', async (world) => {
  const stage = await preparing(world);
  await world.refuses(
    'invalid',
    () => stop(world, stage, 'paused:approval', REFUSED(0, '')),
    /connection that refused/,
  );
});
