import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import {
  type EventId,
  monotonicIds,
  RefusedError,
  type RunId,
  systemClock,
  type WorkerId,
  type WorkflowId,
} from '#base';
import { chained, type Fence, INVARIANTS } from '#model';
import { type DistantStore, type LaterReader, openPostgresStore } from '#store';
import {
  beginSession,
  CALL,
  deploy,
  FakeClock,
  ORDERS,
  PERSON,
  placed,
  prepareAndCall,
  reserve,
} from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

interface Process {
  readonly store: DistantStore;
  readonly manager: Follower['manager'];
}

interface Opened {
  readonly url: string;
  readonly reader: LaterReader;
  readonly one: Process;
  readonly two: Process;
  readonly worker: WorkerId;
}

/** Two processes at the same database, as far as the database can tell. */
async function open(t: TestContext, options: { clock?: FakeClock; doubts?: boolean } = {}): Promise<Opened> {
  const { database, reader, giveBack } = await borrowDatabase();
  const clock = options.clock ?? systemClock;
  const ids = monotonicIds(systemClock);
  const start = async () => {
    const store = await openPostgresStore({ url: database.url, ...options });
    return { store, follower: new Follower(store, clock, ids) };
  };
  const started = [await start(), await start()] as const;
  t.after(async () => {
    const offenders = await Promise.all(INVARIANTS.map(({ sql }) => reader.offenders(sql)));
    await closeAll(
      ...started.map(
        ({ follower }) =>
          () =>
            follower.close(),
      ),
      giveBack,
    );
    for (const [i, { says }] of INVARIANTS.entries()) assert.deepEqual(offenders[i], [], says);
  });
  const [one, two] = started.map(({ store, follower }) => ({ store, manager: follower.manager })) as [Process, Process];
  const worker = ids.next('worker');
  await one.manager.registerWorker(worker, { name: 'one', pool: 'default', leaseMs: 45_000 });
  return { url: database.url, reader, one, two, worker };
}

interface Busy {
  readonly workflow: WorkflowId;
  readonly worker: WorkerId;
  fence: Fence;
  run: RunId;
}

/** A session that has had two runs, so that the process has seen everything they ask for. */
async function busy({ one, worker }: Opened, name = 'busy', events = 20): Promise<Busy> {
  const workflow = await deploy(one.manager, name, { ...ORDERS, producers: [] });
  await one.manager.publishEvents(
    workflow,
    Array.from({ length: events }, (_, i) => placed(String(i))),
    PERSON,
  );
  const fence = await beginSession(one.manager, workflow, worker);
  const first = await one.manager.advanceSession(fence);
  assert.ok('run' in first);
  const stream = { workflow, worker, fence, run: first.run };
  for (const message of ['0', '1']) await cycle(one, stream, message);
  return stream;
}

/** The call of a run, and its end together with the beginning of the next; answers how many round trips that took. */
async function cycle({ store, manager }: Process, stream: Busy, message: string): Promise<number> {
  const { fence, run } = stream;
  const started = await prepareAndCall(manager, fence, run, reserve(message), CALL);
  assert.ok('idempotencyKey' in started, `the call for ${message} was not sent: ${JSON.stringify(started)}`);
  const before = store.roundTrips;
  const next = await manager.together((model) => {
    const answer = { resolvedBy: 'provider' } as const;
    model.updateMutationResult(started.mutation, 'success', { fence, answer, result: '1' });
    model.updateConsumerPhase(fence, run, 'emitting');
    model.commitConsumer(fence, run, { state: JSON.stringify(message) });
    return model.advanceSession(fence);
  });
  const taken = store.roundTrips - before;
  if ('ended' in next) await begin(manager, stream);
  else stream.run = (next as { readonly run: RunId }).run;
  return taken;
}

/** A session ends after a hundred runs. */
async function begin(manager: Process['manager'], stream: Busy): Promise<void> {
  stream.fence = await beginSession(manager, stream.workflow, stream.worker);
  const first = await manager.advanceSession(stream.fence);
  assert.ok('run' in first);
  stream.run = first.run;
}

async function byHand(url: string, ...texts: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const text of texts) await client.query(text);
  } finally {
    await client.end();
  }
}

onPostgres(
  'what a process left behind it does not read again: the end of a run and the next one take one round trip',
  async (t) => {
    const opened = await open(t);
    const stream = await busy(opened);
    const taken = [];
    for (const message of ['2', '3', '4']) taken.push(await cycle(opened.one, stream, message));
    assert.deepEqual(taken, [1, 1, 1]);
  },
);

onPostgres('what another process changed meanwhile counts', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened);
  await cycle(opened.one, stream, '2');
  await opened.two.manager.pauseWorkflow(stream.workflow, PERSON);
  const started = await prepareAndCall(opened.one.manager, stream.fence, stream.run, reserve('3'), CALL);
  assert.deepEqual('status' in started && started.status, 'cancelled');
});

onPostgres('what waits is at hand as the process left it, until it has seen that others changed it', async (t) => {
  const opened = await open(t);
  const { one, two } = opened;
  const stream = await busy(opened);
  await cycle(one, stream, '2');
  const waits = () => one.store.waiting?.(stream.workflow, 'order.placed', 2)?.map(({ messageId }) => messageId);
  assert.deepEqual(waits(), ['3', '4']);
  const [event] = (await opened.reader.table('events')).filter(({ messageId }) => messageId === '3');
  await two.manager.skipEvents([event?.id as EventId], PERSON);
  assert.deepEqual(waits(), ['3', '4']);
  await assert.rejects(prepareAndCall(one.manager, stream.fence, stream.run, reserve('3'), CALL), RefusedError);
  assert.equal(waits(), undefined);
});

onPostgres('an event that another process took away is not taken', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened);
  await cycle(opened.one, stream, '2');
  const [event] = (await opened.reader.table('events')).filter(({ messageId }) => messageId === '3');
  await opened.two.manager.skipEvents([event?.id as EventId], PERSON);
  await assert.rejects(prepareAndCall(opened.one.manager, stream.fence, stream.run, reserve('3'), CALL), RefusedError);
});

onPostgres(
  'what somebody changed who raises no revision counts too: an older version, or a person with SQL',
  async (t) => {
    const opened = await open(t);
    const stream = await busy(opened);
    await cycle(opened.one, stream, '2');
    await byHand(opened.url, `UPDATE workflows SET status = 'paused', holds = 'user' WHERE id = '${stream.workflow}'`);
    const started = await prepareAndCall(opened.one.manager, stream.fence, stream.run, reserve('3'), CALL);
    assert.deepEqual('status' in started && started.status, 'cancelled');
  },
);

onPostgres('under the guards of another version nothing is taken from memory', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened);
  await cycle(opened.one, stream, '2');
  // Its guards count nobody, so what it writes is not noticed by them.
  await byHand(
    opened.url,
    `UPDATE schema_version SET guards = 'of another version'`,
    `SET pawl.revises = 'on'`,
    `UPDATE workflows SET status = 'paused', holds = 'user' WHERE id = '${stream.workflow}'`,
  );
  const started = await prepareAndCall(opened.one.manager, stream.fence, stream.run, reserve('3'), CALL);
  assert.deepEqual('status' in started && started.status, 'cancelled');
});

onPostgres('a connection that was lost takes what is remembered with it', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened);
  await cycle(opened.one, stream, '2');
  await byHand(
    opened.url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await opened.two.manager.pauseWorkflow(stream.workflow, PERSON).catch(() => undefined);
  const again = async () => prepareAndCall(opened.one.manager, stream.fence, stream.run, reserve('3'), CALL);
  const started = await again().catch(again);
  assert.ok('status' in started || 'idempotencyKey' in started);
});

onPostgres('one that is held by somebody else keeps the others of its batch from nothing', async (t) => {
  const opened = await open(t);
  const [held, free] = [await busy(opened, 'held'), await busy(opened, 'free')];
  for (const stream of [held, free]) await cycle(opened.one, stream, '2');
  const client = new Client({ connectionString: opened.url });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT id FROM workflows WHERE id = $1 FOR NO KEY UPDATE', [held.workflow]);
  let isDone = false;
  const waits = cycle(opened.one, held, '3').then(() => {
    isDone = true;
  });
  await cycle(opened.one, free, '3');
  assert.equal(isDone, false);
  await client.end();
  await waits;
});

onPostgres('a backlog that is longer than what is read ahead is worked off in its order', async (t) => {
  const opened = await open(t, { clock: new FakeClock(), doubts: true });
  const stream = await busy(opened, 'busy', 240);
  for (let message = 2; message < 239; message++) await cycle(opened.one, stream, String(message));
  const events = await opened.reader.table('events');
  assert.deepEqual(
    events.filter(({ status }) => status !== 'consumed').map(({ messageId }) => messageId),
    ['239'],
  );
});

onPostgres('what is published takes one round trip, and one that was handled is still not taken for new', async (t) => {
  const opened = await open(t);
  const { one, url, reader } = opened;
  const stream = await busy(opened);
  await cycle(one, stream, '2');
  await one.manager.publishEvents(stream.workflow, [placed('new')], PERSON);
  const before = one.store.roundTrips;
  await one.manager.publishEvents(stream.workflow, [placed('newer')], PERSON);
  assert.equal(one.store.roundTrips - before, 1);
  // Its history was removed long before this process knew the workflow, so that only its key is left.
  await byHand(
    url,
    `SET pawl.revises = 'on'`,
    `INSERT INTO pruned_events (workflow_id, topic, message_id, id, status, created_at)
      VALUES ('${stream.workflow}', 'order.placed', 'long ago', 'evt_long_ago', 'consumed', 1)`,
  );
  for (const again of [placed('long ago'), placed('0', '{"changed":1}')])
    await one.manager.publishEvents(stream.workflow, [again], PERSON);
  const events = await reader.table('events');
  assert.deepEqual(events.filter(({ messageId }) => messageId === 'long ago').length, 0);
  assert.deepEqual(
    events.filter(({ messageId }) => messageId === '0').map(({ status, payload }) => [status, payload]),
    [['consumed', '{"id":"0"}']],
  );
});

onPostgres('acts of two processes make one chain, whoever remembers its end', async (t) => {
  const opened = await open(t);
  const streams = [await busy(opened, 'a'), await busy(opened, 'b')];
  for (const stream of streams) await cycle(opened.one, stream, '2');
  for (let i = 0; i < 30; i++) {
    const by = i % 7 === 0 ? opened.two : opened.one;
    await Promise.all(streams.map(({ workflow }) => by.manager.publishEvents(workflow, [placed(`p${i}`)], PERSON)));
  }
  const entries = [...(await opened.reader.table('audit_log'))].sort((a, b) => a.seq - b.seq);
  let head: (typeof entries)[number] | undefined;
  for (const entry of entries) {
    assert.deepEqual(chained(head, { set: 'audit.appended', ...entry }), entry);
    head = entry;
  }
  assert.equal(entries.filter(({ act }) => act === entries.at(-1)?.act).length, 62);
});

/** A small generator, so that a failing walk can be walked again. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
}

// Every decision on what is remembered is made on what is read as well: `doubts` compares the two.
for (const seed of [1, 2, 3]) {
  onPostgres(`whatever two processes do to a stream, what is remembered is what is there (${seed})`, async (t) => {
    const clock = new FakeClock();
    const opened = await open(t, { clock, doubts: true });
    const { one, two } = opened;
    const stream = await busy(opened, 'busy', 150);
    const roll = dice(seed);
    const pending = async () =>
      (await opened.reader.listEvents(stream.workflow, { status: 'pending', topic: 'order.placed', limit: 200 })).map(
        ({ id, messageId }) => ({ id, messageId }),
      );
    for (let step = 0; step < 90; step++) {
      clock.advance(roll(50));
      const waiting = await pending();
      const some = waiting[roll(waiting.length)];
      const act = roll(12);
      if (act === 0) await two.manager.publishEvents(stream.workflow, [placed(`two-${step}`)], PERSON);
      else if (act === 1) await one.manager.publishEvents(stream.workflow, [placed(`one-${step}`)], PERSON);
      else if (act === 2 && some) await two.manager.parkEvents([some.id], PERSON);
      else if (act === 3 && some) await one.manager.skipEvents([some.id], PERSON);
      else if (act === 4 && some)
        await two.manager.publishEvents(stream.workflow, [placed(some.messageId, '{"changed":1}')], PERSON);
      else if (waiting[0]) await cycle(one, stream, (act === 5 && some ? some : waiting[0]).messageId);
    }
    assert.ok((await opened.reader.table('handler_runs')).length > 30);
  });
}
