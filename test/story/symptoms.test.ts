import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXECUTORS } from '#execution';
import { readLater } from '#store';
import { symptomsOf } from '#story';
import { PERSON } from '../support/fixture.ts';
import { published } from '../support/stage.ts';
import { inWorld, type World } from '../support/world.ts';

// On SQLite only: the listings behind it are told on both databases by the conformance suite.

const MINUTES = 60_000;

async function found(world: World): Promise<Record<string, string>> {
  const symptoms = await symptomsOf(readLater(world.reader), world.clock.now());
  return Object.fromEntries(
    symptoms.flatMap(({ name, offenders }) => (offenders.length === 0 ? [] : [[name, offenders[0]?.why ?? '']])),
  );
}

async function handedOff(world: World) {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.beginScheduling(execution);
  await world.manager.handOff(execution);
  return { workflow, execution };
}

test('what nobody takes, nobody schedules and nobody ends is found and explained, and nothing before its time', () =>
  inWorld('sqlite', async (world) => {
    const { execution } = await handedOff(world);
    await world.manager.cancelExecution(execution, PERSON);
    assert.deepEqual(await found(world), {});
    world.clock.advance(2 * MINUTES);
    const late = await found(world);
    assert.match(late['stuck in scheduled'] ?? '', /taken by nobody: no worker is alive; start `pawl worker`/);
    const free = world.ids.next('worker');
    await world.manager.registerWorker(free, { name: 'w', pool: 'default', leaseMs: MINUTES });
    assert.match((await found(world))['stuck in scheduled'] ?? '', /no worker of its pool is free/);
    await world.manager.cordonWorker(free, PERSON);
    assert.match((await found(world))['stuck in scheduled'] ?? '', /every worker is cordoned or draining/);
    assert.match(late['cancelled but not shown'] ?? '', /nobody has taken it yet/);
    assert.deepEqual(Object.keys(late), ['stuck in scheduled', 'cancelled but not shown']);
  }));

test('work that is due and that nobody schedules is found', () =>
  inWorld('sqlite', async (world) => {
    await published(world);
    world.clock.advance(2 * MINUTES);
    assert.match((await found(world))['children not following'] ?? '', /nobody is alive who schedules/);
  }));

test('an executor that holds an execution is named', () =>
  inWorld('sqlite', async (world) => {
    const { execution } = await handedOff(world);
    const executor = world.ids.next('worker');
    await world.manager.registerWorker(executor, { name: 'e', pool: EXECUTORS, leaseMs: MINUTES });
    await world.manager.claimExecution(execution, 1, executor);
    assert.match((await found(world))['duplicate updates'] ?? '', /is a bug of the engine/);
  }));
