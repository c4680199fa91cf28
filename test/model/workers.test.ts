import assert from 'node:assert/strict';
import { PERSON, SECONDS } from '../support/fixture.ts';
import { prepared, published, unknown, WAIT_MS } from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// What people ask of a worker: nothing new for now, or finish and end.

async function handedOff(world: World) {
  const { execution } = await world.manager.requestExecution(await published(world), 'event');
  await world.manager.beginScheduling(execution);
  return { execution, ...(await world.manager.handOff(execution)) };
}

const acts = (world: World) =>
  world.rows.audit
    .values()
    .filter(({ subject }) => subject === world.self)
    .map(({ actor, act, detail }) => [actor, act, detail]);

forEachStore('a worker says what it is, and how much it takes', async (world) => {
  const worker = world.ids.next('worker');
  await world.manager.registerWorker(worker, {
    name: 'two',
    pool: 'heavy',
    leaseMs: 45 * SECONDS,
    version: '1.2.3',
    concurrency: 8,
  });
  world.is('workers', worker, { version: '1.2.3', concurrency: 8, status: 'open' });
  world.is('workers', world.self, { version: null, concurrency: null, status: 'open' });
  const bad = { name: 'x', pool: 'p', leaseMs: 1 };
  await world.refuses('invalid', () =>
    world.manager.registerWorker(world.ids.next('worker'), { ...bad, version: '  ' }),
  );
  await world.refuses('invalid', () =>
    world.manager.registerWorker(world.ids.next('worker'), { ...bad, concurrency: 0.5 }),
  );
});

forEachStore('a cordoned worker claims nothing new, until it is opened again', async (world) => {
  const { manager, self } = world;
  const { execution, epoch } = await handedOff(world);
  assert.deepEqual(await manager.cordonWorker(self, PERSON), { status: 'cordoned' });
  assert.deepEqual(await manager.cordonWorker(self, PERSON), { status: 'cordoned' });
  await world.refuses('cordoned', () => manager.claimExecution(execution, epoch, self));
  world.is('executions', execution, { status: 'scheduled', owner: null });
  assert.equal((await manager.renewWorker(self, 45 * SECONDS)).status, 'cordoned');
  assert.deepEqual(await manager.uncordonWorker(self, PERSON), { status: 'open' });
  await manager.claimExecution(execution, epoch, self);
  assert.deepEqual(acts(world), [
    [PERSON, 'cordon', 'one'],
    [PERSON, 'uncordon', 'one'],
  ]);
});

forEachStore('a cordoned worker looks up nothing new either', async (world) => {
  const { mutation } = await unknown(world, { canReconcile: true });
  world.clock.advance(WAIT_MS);
  await world.manager.cordonWorker(world.self, PERSON);
  await world.refuses('cordoned', () => world.manager.claimReconcile(mutation, world.self, 1));
  await world.manager.uncordonWorker(world.self, PERSON);
  await world.manager.claimReconcile(mutation, world.self, 1);
});

forEachStore(
  'a draining worker goes on with what it has, is no less alive, and never takes anything again',
  async (world) => {
    const { fence, run } = await prepared(world);
    const { manager, self } = world;
    assert.deepEqual(await manager.drainWorker(self, PERSON), { status: 'draining' });
    world.clock.advance(30 * SECONDS);
    assert.equal((await manager.renewWorker(self, 45 * SECONDS)).status, 'draining');
    world.clock.advance(30 * SECONDS);
    await world.refuses('too-early', () => manager.reapExecution(fence.execution, fence.epoch, { provenDead: false }));
    await manager.updateConsumerPhase(fence, run, 'mutating');
    await world.refuses('wrong-state', () => manager.uncordonWorker(self, PERSON));
    await world.refuses('wrong-state', () => manager.cordonWorker(self, PERSON));
    assert.deepEqual(acts(world), [[PERSON, 'drain', 'one']]);
    await manager.endWorker(self);
    await world.refuses('wrong-state', () => manager.drainWorker(self, PERSON));
  },
);

forEachStore('only who has been silent for long past its lease is struck off by others', async (world) => {
  const { manager } = world;
  const other = world.ids.next('worker');
  await manager.registerWorker(other, { name: 'two', pool: 'default', leaseMs: 45 * SECONDS });
  const strikeOff = () => manager.endWorker(other, { silentMs: 900 * SECONDS });
  await world.refuses('too-early', strikeOff);
  world.clock.advance(944 * SECONDS);
  await world.refuses('too-early', strikeOff);
  // Frozen for as long as it takes, and back in the last moment.
  await manager.renewWorker(other, 45 * SECONDS);
  world.clock.advance(100 * SECONDS);
  await world.refuses('too-early', strikeOff);
  world.clock.advance(845 * SECONDS);
  await strikeOff();
  world.is('workers', other, { endedAt: world.clock.now() });
});

forEachStore('a worker that drains by itself is nobody’s act', async (world) => {
  assert.deepEqual(await world.manager.beginDraining(world.self), { status: 'draining' });
  assert.deepEqual(acts(world), []);
  const { execution, epoch } = await handedOff(world);
  await world.refuses('cordoned', () => world.manager.claimExecution(execution, epoch, world.self));
});

forEachStore('whoever only hands off has nothing to be closed to', async (world) => {
  const executor = world.ids.next('worker');
  const options = { name: 'e', pool: '(executor)', leaseMs: 1, concurrency: 0 };
  await world.manager.registerWorker(executor, options);
  await world.refuses('wrong-state', () => world.manager.cordonWorker(executor, PERSON));
  assert.deepEqual(await world.manager.drainWorker(executor, PERSON), { status: 'draining' });
});

forEachStore('what a worker lacks is kept as it says it, and belongs to nobody who has ended', async (world) => {
  const { manager, self } = world;
  const lack = { workflow: 'orders', connection: 'shop', why: 'has no connection "shop" in its config' };
  world.is('workers', self, { lacks: [] });
  await manager.noteLacks(self, [lack]);
  world.is('workers', self, { lacks: [lack] });
  await world.refuses('invalid', () => manager.noteLacks(self, [{ ...lack, why: ' ' }]));
  await world.refuses('invalid', () => manager.noteLacks(self, new Array(101).fill(lack)));
  await manager.noteLacks(self, []);
  world.is('workers', self, { lacks: [] });
  assert.deepEqual(acts(world), [], 'no person did it');
  await manager.endWorker(self);
  await world.refuses('wrong-state', () => manager.noteLacks(self, [lack]));
});
