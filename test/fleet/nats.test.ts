import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { EngineProcess } from '../kills/engine-process.ts';
import { findNats, NatsServer, NO_NATS } from '../support/nats-server.ts';
import { findPostgres } from '../support/postgres-server.ts';
import { Fleet, LEASE_MS } from './fleet.ts';

// The faults that have to do with messages, over NATS: what is lost, late or told five times changes nothing, because ownership is
// the row; and without NATS the table moves everything. Every fault has a workflow of its own.

const missing =
  findPostgres() === undefined ? 'there is no PostgreSQL here' : findNats() === undefined ? NO_NATS : false;
const options = { timeout: 300_000, skip: missing };
let nats: NatsServer;
let fleet: Fleet;
let outside: NatsConnection;
let streams: JetStreamManager;

before(async () => {
  if (missing !== false) return;
  nats = await NatsServer.open();
  fleet = await Fleet.open({ nats: { servers: nats.url } });
  outside = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  streams = await jetstreamManager(outside);
});
after(async () => {
  await outside?.close();
  await fleet?.close();
  await nats?.close();
});

/** How many handoffs went through the queue so far. */
async function queued(): Promise<number> {
  return (await streams.streams.info('pawl_work')).state.last_seq;
}

/** Everything that was ever said, said again: as new messages, which nobody there knows by their ids. */
async function sayAgain(times: number): Promise<number> {
  const { state } = await streams.streams.info('pawl_messages');
  const stream = jetstream(outside);
  let said = 0;
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const found = await streams.streams.getMessage('pawl_messages', { seq });
    if (!found) continue;
    const isWork = found.subject.includes('execution.scheduled');
    for (let i = 0; i < times; i++) {
      await stream.publish(isWork ? 'pawl.work.default' : found.subject, found.data);
      said += 1;
    }
  }
  return said;
}

test('over NATS every order is done once, whatever becomes of messages and processes', options, async (t) => {
  const executor = await fleet.executor();
  const ids = ['plain', 'often', 'flying', 'handed', 'away', 'empty'];
  for (const id of ids) await fleet.deploy(id);
  let workers = await Promise.all([1, 2, 3].map(() => fleet.worker()));

  await t.test('what is handed off goes through the queue', async () => {
    await fleet.order('plain', 'plain1', 'plain2');
    await fleet.settled(['plain1', 'plain2']);
    const { delivered } = await streams.consumers.info('pawl_work', 'pool-default');
    assert.ok((await queued()) > 0 && delivered.consumer_seq > 0, 'nothing went that way');
  });

  await t.test('execution.scheduled five times to three workers, and all others twice and late', async () => {
    fleet.service.treatments.set('often1', 'hold');
    await fleet.order('often', 'often1');
    await fleet.until('it is called', () => fleet.service.has('call', 'often1'));
    assert.ok((await sayAgain(5)) > 0);
    fleet.service.release('often1');
    await fleet.order('often', 'often2', 'often3');
    await fleet.settled(['often1']);
    assert.ok((await sayAgain(5)) > 0);
    await fleet.settled(['often2', 'often3']);
    await fleet.until('nothing is left in the queue', async () => {
      return (await streams.streams.info('pawl_work')).state.messages === 0;
    });
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

  await t.test('an executor dies just after a handoff, before it could tell anybody', async () => {
    for (const nth of [2, 3]) {
      const dying = await fleet.executor({ diesAt: { point: 'after-commit', nth } });
      await fleet.order('handed', `handed${nth}`);
      assert.equal((await dying.ended).signal, 'SIGKILL');
    }
    await fleet.settled(['handed2', 'handed3']);
  });

  await t.test('NATS goes away, and comes back with what it had', async () => {
    await fleet.order('away', 'away1');
    await nats.kill();
    await fleet.order('away', 'away2');
    await fleet.settled(['away1', 'away2']);
    await sleep(LEASE_MS);
    await nats.start();
    await fleet.order('away', 'away3');
    await fleet.settled(['away3']);
  });

  await t.test('NATS comes back with nothing, and goes on being used', async () => {
    await nats.kill();
    nats.forget();
    await nats.start();
    await fleet.order('empty', 'empty1');
    await fleet.settled(['empty1']);
    await fleet.until('it is used again', async () => {
      await fleet.order('empty', `empty-${Date.now()}`);
      return (await queued().catch(() => 0)) > 0;
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
