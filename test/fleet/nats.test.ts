import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineProcess } from '../kills/engine-process.ts';
import { DroppingProxy } from './dropping-proxy.ts';
import { Fleet, LEASE_MS, missingFor } from './fleet.ts';
import { NatsOutside } from './nats-outside.ts';

// The faults that have to do with messages, over NATS: what is lost, late or told five times changes nothing, because ownership is
// the row; and without NATS the table moves everything. Every fault has a workflow of its own. Deaths around the handoff are in
// handoff.test.ts.

const options = { timeout: 300_000, skip: missingFor('NATS') };
const AN_HOUR = 3_600_000;
let fleet: Fleet;
let outside: NatsOutside;

before(async () => {
  if (options.skip !== false) return;
  fleet = await Fleet.open({ over: 'NATS' });
  outside = await NatsOutside.open(fleet.nats?.url ?? '');
});
after(async () => {
  await outside?.close();
  await fleet?.close();
});

/** Every time that is in the database is an hour earlier. */
async function anHourPasses(): Promise<void> {
  const times = await fleet.server.query(
    'fleet',
    `SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name LIKE '%\\_at' AND data_type = 'bigint' AND table_name <> 'workers'`,
  );
  const earlier = times.map(([table, column]) => `UPDATE ${table} SET ${column} = ${column} - ${AN_HOUR}`);
  await fleet.server.query('fleet', `SET session_replication_role = replica; ${earlier.join('; ')}`);
}

test('over NATS every order is done once, whatever becomes of messages and processes', options, async (t) => {
  const executor = await fleet.executor();
  const scheduled = () => outside.heard('execution.scheduled');
  const ids = ['plain', 'often', 'hour', 'flying', 'cut', 'away', 'empty'];
  for (const id of ids) await fleet.deploy(id);
  let workers = await Promise.all([1, 2, 3].map(() => fleet.worker()));

  await t.test('what is handed off goes through the queue', async () => {
    await fleet.order('plain', 'plain1', 'plain2');
    await fleet.settled(['plain1', 'plain2']);
    const { queued, taken } = await outside.work();
    assert.ok(queued > 0 && taken > 0, 'nothing went that way');
  });

  await t.test(
    'execution.scheduled is told five times to three workers, while it runs and when it is over',
    async () => {
      fleet.service.treatments.set('often1', 'hold');
      await fleet.order('often', 'often1');
      await fleet.until('it is called', () => fleet.service.has('call', 'often1'));
      await outside.sayAgain(await scheduled(), 5);
      fleet.service.release('often1');
      await fleet.order('often', 'often2', 'often3');
      await fleet.settled(['often1']);
      await outside.sayAgain(await scheduled(), 5);
      await fleet.settled(['often2', 'often3']);
      await fleet.until('nothing is left in the queue', async () => (await outside.work()).waiting === 0);
    },
  );

  await t.test('execution.completed is told twice and an hour late, and moves nothing', async () => {
    await fleet.order('hour', 'hour1');
    await fleet.settled(['hour1']);
    await fleet.until('it was told', async () => (await outside.heard('execution.completed')).length > 0);
    await anHourPasses();
    const before = await fleet.reader.table('executions');
    assert.ok(before.every(({ endedAt }) => endedAt !== null && endedAt < Date.now() - AN_HOUR));
    await outside.sayAgain(await outside.heard('execution.completed'), 2);
    await sleep(LEASE_MS);
    assert.deepEqual(await fleet.reader.table('executions'), before);
    await fleet.order('hour', 'hour2');
    await fleet.settled(['hour1', 'hour2']);
  });

  await t.test('a worker dies with its call in flight', async () => {
    fleet.service.treatments.set('flying1', 'hold');
    await Promise.all(workers.map((worker: EngineProcess) => worker.end('SIGTERM')));
    const dying = await fleet.worker();
    await fleet.order('flying', 'flying1');
    await fleet.until('it is called', () => fleet.service.has('call', 'flying1'));
    await dying.end('SIGKILL');
    fleet.service.release('flying1');
    workers = await Promise.all([1, 2, 3].map(() => fleet.worker()));
    await fleet.settled(['flying1']);
  });

  await t.test('an executor and a worker are cut off from NATS, which says nothing of it', async () => {
    const proxy = await DroppingProxy.ofNats(fleet.nats?.url ?? '');
    t.after(() => proxy.close());
    const cutOff = [await fleet.executor({ natsUrl: proxy.natsUrl }), await fleet.worker({ natsUrl: proxy.natsUrl })];
    await fleet.order('cut', 'cut1');
    proxy.drop();
    for (let i = 2; i <= 4; i++) await fleet.orderAt(2, 'cut', `cut${i}`);
    await fleet.settled(['cut1', 'cut2', 'cut3', 'cut4']);
    proxy.heal();
    await fleet.orderAt(2, 'cut', 'cut5');
    await fleet.settled(['cut5']);
    for (const each of cutOff) assert.equal((await each.end('SIGTERM')).code, 0, each.said);
  });

  await t.test('NATS goes away, and comes back with what it had', async () => {
    await fleet.order('away', 'away1');
    await fleet.nats?.kill();
    await fleet.order('away', 'away2');
    await fleet.settled(['away1', 'away2']);
    await sleep(LEASE_MS);
    await fleet.nats?.start();
    await fleet.order('away', 'away3');
    await fleet.settled(['away3']);
  });

  await t.test('NATS comes back with nothing, and goes on being used', async () => {
    await fleet.nats?.kill();
    fleet.nats?.forget();
    await fleet.nats?.start();
    await fleet.order('empty', 'empty1');
    await fleet.settled(['empty1']);
    await fleet.until('it is used again', async () => {
      await fleet.order('empty', `empty-${Date.now()}`);
      const { queued } = await outside.work().catch(() => ({ queued: 0 }));
      return queued > 0;
    });
  });

  await t.test('and in the end nothing is stuck, and everybody goes in peace', async () => {
    await fleet.until(
      'nothing is under way',
      async () => (await fleet.reader.unfinishedExecutions({ limit: 1 })).length === 0,
    );
    const ended = await Promise.all([...workers, executor].map((each: EngineProcess) => each.end('SIGTERM')));
    assert.deepEqual(
      ended.map(({ code }) => code),
      [0, 0, 0, 0],
    );
    for (const [id, count] of fleet.booked()) assert.equal(count, 1, id);
  });
});
