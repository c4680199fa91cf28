import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, type TestContext, test } from 'node:test';
import { monotonicIds, onKillPoint } from '#base';
import { type Engine, joinFleet } from '#execution';
import { INVARIANTS } from '#model';
import { Retention } from '#retention';
import { orders, POLL, TELL } from '../e2e/scripts.ts';
import { BOOKED, Stage } from '../e2e/stage.ts';
import {
  applyAndEmit,
  beginSession,
  CALL,
  deploy,
  FakeClock,
  PERSON,
  placed,
  prepareAndCall,
} from '../support/fixture.ts';
import { openEngineWithRows } from '../support/open-engine.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

// Old history goes from a real engine, a little at a time, while it works; and nothing that went is ever done again.

const DAY = 86_400_000;
const HOUR = 3_600_000;

afterEach(() => onKillPoint(undefined));

test('an engine forgets what is old, keeps what is open, and does nothing twice', async (t) => {
  const stage = await Stage.open(t);
  stage.config = { retention: { keepDays: 7 } };
  await stage.restart();
  const ids = Array.from({ length: 12 }, (_, i) => ({ id: `o${i}` }));
  stage.outside.pages.set('/orders', ids);
  const { workflow } = await stage.deploy(orders({ more: POLL + TELL }));
  await stage.quiet();
  const done = stage.outside.effects.length;
  assert.equal(done, 24, 'each was booked and told of');
  // One whose outcome nobody knows is left behind, and everything it came from with it.
  stage.outside.behave({ after: 'drop' });
  await stage.publish(workflow, 'placed', { id: 'last' });
  await stage.until('it is unknown', () => stage.mutation().status === 'indeterminate');
  stage.clock.aheadMs += 8 * DAY;
  assert.ok(stage.app.retention);
  const { removable, isWhole } = await stage.app.retention.preview();
  assert.deepEqual([removable.mutations, isWhole], [24, true]);
  assert.equal(stage.reader.table('mutations').length, 25, 'a preview removes nothing');
  const removed = await stage.app.retention.run();
  assert.equal(removed.mutations, 24);
  assert.equal(removed.inputs, 12);
  stage.check();
  assert.deepEqual(
    stage.reader.table('mutations').map(({ status }) => status),
    ['indeterminate'],
  );
  assert.deepEqual(stage.events(), ['last reserved']);
  assert.equal(stage.reader.table('pruned_events').length, 24);
  assert.deepEqual(stage.app.retention.state().last?.removed, removed);
  // The page still lists them all, and whoever publishes them again is not heard either.
  await stage.person.resolve(stage.mutation().id, 'happened', BOOKED);
  await stage.pass(HOUR);
  await stage.quiet();
  await stage.publish(workflow, 'placed', ...ids);
  await stage.publish(workflow, 'booked', ...ids);
  await stage.quiet();
  assert.deepEqual(stage.outside.done.slice(done), ['/bookings last', '/told last'], 'only what was still owed');
});

test('without a word in the config everything is kept', async (t) => {
  const stage = await Stage.open(t);
  assert.equal(stage.app.retention, undefined);
});

test('a config that asks for less than a day is refused', async (t) => {
  const stage = await Stage.open(t);
  stage.config = { retention: { keepDays: 0.5 } };
  await stage.stop();
  await assert.rejects(stage.start(), { code: 'config-invalid', message: /retention\.keepDays/ });
  stage.config = {};
  await stage.start();
});

/** So many orders, booked one after the other by the model alone. */
async function book({ manager, self }: Engine, count: number, name: string): Promise<void> {
  const workflow = await deploy(manager, name);
  for (let i = 0; i < count; i++) {
    await manager.publishEvents(workflow, [placed(`${i}`)], PERSON);
    const fence = await beginSession(manager, workflow, self);
    const { run } = await manager.startRun(fence, 'book');
    const reservations = [{ topic: 'order.placed', ids: [`${i}`] }];
    const { mutation } = await prepareAndCall(manager, fence, run, reservations, CALL);
    assert.ok(mutation);
    await applyAndEmit(manager, fence, run, mutation);
    await manager.commitConsumer(fence, run);
    await manager.finishSession(fence);
  }
}

async function readMessages({ manager, reader }: Engine): Promise<void> {
  for (const { id } of await reader.table('messages')) await manager.deleteMessage(id);
}

const COUNTED = ['handler_runs', 'events', 'mutations', 'script_runs', 'executions', 'pruned_events'] as const;

async function countsOf(reader: Engine['reader']): Promise<readonly number[]> {
  return Promise.all(COUNTED.map(async (table) => (await reader.table(table)).length));
}

async function assertSound(reader: Engine['reader']): Promise<void> {
  for (const { name, sql } of INVARIANTS) assert.deepEqual(await reader.offenders(sql), [], name);
}

const ORDERS = 230;

test('a process that dies between two batches, or in one, leaves a whole state, and the next one goes on', async (t: TestContext) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-retention-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = new FakeClock();
  const open = () =>
    openEngineWithRows({ dataDir, clock, prunes: true, ids: monotonicIds(clock), onFatal: () => undefined });
  let { engine } = await open();
  await book(engine, ORDERS, 'orders');
  await readMessages(engine);
  clock.advance(100 * DAY);
  const left: number[] = [];
  for (const [point, times] of [['before-commit', 2] as const, ['after-commit', 1] as const]) {
    let reached = 0;
    onKillPoint((each) => {
      if (each === point && ++reached === times) throw new Error('the process died');
    });
    await assert.rejects(retentionOf(engine, clock).run(), /the process died/);
    onKillPoint(undefined);
    ({ engine } = await open());
    await assertSound(engine.reader);
    const [runs = 0, events, mutations, , , remembered] = await countsOf(engine.reader);
    assert.deepEqual([events, mutations, remembered], [runs, runs, ORDERS - runs], 'whole chains are gone, or none');
    left.push(runs);
  }
  assert.deepEqual(left, [ORDERS - 100, ORDERS - 200]);
  await retentionOf(engine, clock).run();
  assert.deepEqual(await countsOf(engine.reader), [0, 0, 0, 0, 0, ORDERS]);
  await assertSound(engine.reader);
  await engine.close();
});

function retentionOf(engine: Engine, clock: FakeClock): Retention {
  return new Retention({ engine, clock, keepDays: 30, onError: (error) => assert.fail(String(error)) });
}

onPostgres('on PostgreSQL two processes remove the same history at once, and none of it twice', async () => {
  const { database, giveBack } = await borrowDatabase();
  const { url } = database;
  const members = await Promise.all(
    ['one', 'two'].map((name) => joinFleet({ url, role: 'executor', name, pool: 'default', prunes: true })),
  );
  const [one, two] = members;
  assert.ok(one && two);
  const worker = await joinFleet({ url, role: 'worker', name: 'worker', pool: 'default' });
  await book({ ...worker.engine, self: worker.engine.self }, 30, 'orders');
  await readMessages(one.engine);
  // Their clock is the database's: what is old is told by how long they keep it.
  const later = { now: () => one.clock.now() };
  const keep = { clock: later, keepDays: 0, onError: (error: unknown) => assert.fail(String(error)) };
  const removed = await Promise.all([one, two].map(({ engine }) => new Retention({ engine, ...keep }).run()));
  assert.equal(
    removed.reduce((sum, each) => sum + each.mutations, 0),
    30,
  );
  assert.deepEqual(await countsOf(one.engine.reader), [0, 0, 0, 0, 0, 30]);
  await assertSound(one.engine.reader);
  const again = await one.engine.manager.publishEvents(
    (await one.engine.reader.table('workflows'))[0]?.id as never,
    [placed('7')],
    PERSON,
  );
  assert.equal(again.published.length, 1);
  assert.deepEqual(await one.engine.reader.table('events'), []);
  for (const { engine } of [...members, worker]) await engine.close();
  await giveBack();
});
