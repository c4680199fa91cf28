import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerId } from '#base';
import { EXECUTORS } from '#execution';
import { readLater } from '#store';
import { diagnosisOf, silenceWords, symptomsOf } from '#story';
import { beginSession, deploy, ORDERS, PERSON } from '../support/fixture.ts';
import { published } from '../support/stage.ts';
import { inWorld, type World } from '../support/world.ts';

// On SQLite only: the listings behind it are told on both databases by the conformance suite.

const MINUTES = 60_000;

const heavy = (): string => 'heavy';

async function found(world: World): Promise<Record<string, string>> {
  const symptoms = await symptomsOf(readLater(world.reader), world.clock.now(), heavy);
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
    const nobody = 'no worker of pool heavy is alive; start one: pawl worker --pool heavy';
    assert.equal(late['stuck in scheduled'], `asked for 2 min ago and taken by nobody: ${nobody}`);
    assert.ok(late['cancelled but not shown']?.endsWith(`nobody has taken it yet: ${nobody}`));
    assert.deepEqual(Object.keys(late), ['stuck in scheduled', 'cancelled but not shown']);
  }));

test('what nobody takes is explained by the workers of its pool, whatever others do', () =>
  inWorld('sqlite', async (world) => {
    const { manager } = world;
    await handedOff(world);
    world.clock.advance(2 * MINUTES);
    const why = async () => (await found(world))['stuck in scheduled']?.replace(/^.* taken by nobody: /, '');
    const register = async (name: string, pool: string, concurrency: number) => {
      const worker = world.ids.next('worker');
      await manager.registerWorker(worker, { name, pool, leaseMs: MINUTES, concurrency });
      return worker;
    };
    const other = await register('other', 'default', 8);
    assert.match((await why()) ?? '', /^no worker of pool heavy is alive/);

    const big = await register('big', 'heavy', 1);
    assert.match((await why()) ?? '', /^big of pool heavy is open and does not claim it; look at the log, and whether/);

    const fence = await beginSession(manager, await deploy(manager, 'long', ORDERS), big);
    assert.equal(
      await why(),
      'every open worker of pool heavy is full (big 1/1); wait, or start another: pawl worker --pool heavy',
    );
    await manager.finishSession(fence);

    await manager.cordonWorker(other, PERSON);
    assert.match((await why()) ?? '', /^big of pool heavy is open/, 'the other pool is nothing to it');
    await manager.uncordonWorker(other, PERSON);
    await manager.cordonWorker(big, PERSON);
    const another = 'start another: pawl worker --pool heavy';
    assert.equal(await why(), `every worker of pool heavy is cordoned; pawl uncordon ${big} (big); ${another}`);
    await manager.drainWorker(big, PERSON);
    assert.equal(await why(), `every worker of pool heavy is draining; ${another}`);
  }));

test('a worker that lacks what its workflows use is named, and so it is where nobody else takes them', () =>
  inWorld('sqlite', async (world) => {
    const { manager } = world;
    const { workflow } = await handedOff(world);
    const name = world.rows.workflows.get(workflow)?.name ?? '';
    world.clock.advance(2 * MINUTES);
    const odd = world.ids.next('worker');
    await manager.registerWorker(odd, { name: 'odd', pool: 'heavy', leaseMs: MINUTES, concurrency: 8 });
    assert.equal((await found(world))['workers at odds'], undefined);
    const why = 'has no connection "shop" in its config';
    await manager.noteLacks(
      odd,
      [name, 'refunds'].map((each) => ({ workflow: each, connection: 'shop', why })),
    );
    const signs = await found(world);
    assert.equal(signs['workers at odds'], `worker odd ${why}: it takes nothing of ${name}, refunds`);
    const another = 'start another: pawl worker --pool heavy';
    const mend = 'give odd what is missing, and start it again';
    assert.ok(signs['stuck in scheduled']?.endsWith(`: odd ${why}; ${mend}; ${another}`));
    world.clock.advance(2 * MINUTES);
    assert.equal((await found(world))['workers at odds'], undefined, 'who is silent is nobody to mend');
  }));

test('work that is due and that nobody schedules is found', () =>
  inWorld('sqlite', async (world) => {
    await published(world);
    world.clock.advance(2 * MINUTES);
    const why = async () => (await found(world))['children not following'] ?? '';
    assert.match(await why(), /nobody is alive who schedules/);
    const register = (name: string, pool: string) =>
      world.manager.registerWorker(world.ids.next('worker'), { name, pool, leaseMs: MINUTES });
    await register('lonely', 'heavy');
    assert.match(await why(), /no executor is alive; start `pawl executor`, or, where lonely is a `pawl start`, look/);
    await register('desk', EXECUTORS);
    assert.match(await why(), /whoever schedules is busy, or cannot write; look at its log/);
  }));

test('whoever fell silent with something under way is named, and whoever is missed is a reason to be woken', () =>
  inWorld('sqlite', async (world) => {
    const { manager } = world;
    const diagnosis = (self?: WorkerId) =>
      diagnosisOf(readLater(world.reader), { now: world.clock.now(), poolOf: heavy, self });
    const warnings = async (self?: WorkerId) =>
      (await diagnosis(self)).warnings.map(({ about, says }) => `${about}: ${says}`);
    const missed = async (self?: WorkerId) => {
      const { ok, items } = await diagnosis(self);
      const [offender, ...more] = items.find(({ name }) => name === 'nobody at work')?.offenders ?? [];
      assert.deepEqual([more, ok], [[], offender === undefined]);
      return offender === undefined ? undefined : (offender as { why: string }).why;
    };
    const register = async (name: string, pool: string) => {
      const worker = world.ids.next('worker');
      await manager.registerWorker(worker, { name, pool, leaseMs: MINUTES });
      return worker;
    };
    const big = await register('big', 'heavy');
    await beginSession(manager, await deploy(manager, 'long', ORDERS), big);
    const silence = (self: WorkerId) => silenceWords(readLater(world.reader), world.clock.now(), MINUTES, big, self);
    assert.equal(await silence(big), undefined);
    assert.deepEqual(await warnings(big), []);
    assert.equal(await missed(big), undefined, 'whoever answers schedules');
    assert.match(
      (await missed()) ?? '',
      /^no executor is alive, so nobody schedules, unless one, big is a `pawl start`: /,
    );
    world.clock.advance(2 * MINUTES);
    const over = 'worker big: silent, with 1 session under way';
    assert.deepEqual(await warnings(), [`${over}; no worker is alive to end it: start \`pawl worker\``]);
    assert.equal(await missed(), 'nobody is alive: start `pawl executor` and `pawl worker`, or `pawl start`');
    const desk = await register('desk', EXECUTORS);
    const runs = 'no worker is alive, so nobody runs what is handed off: start `pawl worker`';
    assert.deepEqual([await missed(), await missed(desk)], [runs, runs]);
    const dead = /^it has been silent since .*\d\d:\d\d \(for 2 min\) and is taken for dead; /;
    assert.match((await silence(desk)) ?? '', new RegExp(`${dead.source}no worker is alive to end the 1 session`));
    await register('other', 'heavy');
    assert.match((await silence(desk)) ?? '', new RegExp(`${dead.source}another worker ends the 1 session it had`));
    assert.deepEqual(await warnings(desk), [`${over}; another worker ends it`]);
    assert.deepEqual([await missed(), await missed(desk)], [undefined, undefined]);
  }));

test('an executor that holds an execution is named', () =>
  inWorld('sqlite', async (world) => {
    const { execution } = await handedOff(world);
    const executor = world.ids.next('worker');
    await world.manager.registerWorker(executor, { name: 'e', pool: EXECUTORS, leaseMs: MINUTES });
    await world.manager.claimExecution(execution, 1, executor);
    assert.match((await found(world))['duplicate updates'] ?? '', /is a bug of the engine/);
  }));
