import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { monotonicIds, type RunId, systemClock, type WorkerId, type WorkflowId } from '#base';
import { chained, type Fence, INVARIANTS } from '#model';
import { type LaterReader, openPostgresStore } from '#store';
import { beginSession, CALL, deploy, ORDERS, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { LookingAhead } from '../support/looking-ahead.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

// What a store decides while the commit before is under way is compared with the database when its turn comes, like everything that is remembered.

interface Opened {
  readonly url: string;
  readonly reader: LaterReader;
  readonly store: LookingAhead;
  readonly one: Follower['manager'];
  readonly two: Follower['manager'];
  readonly worker: WorkerId;
}

/** Two processes at the same database, of which the first looks ahead. */
async function open(t: TestContext): Promise<Opened> {
  const { database, reader, giveBack } = await borrowDatabase();
  const ids = monotonicIds(systemClock);
  const store = new LookingAhead(await openPostgresStore({ url: database.url }));
  const one = new Follower(store, systemClock, ids);
  const two = new Follower(await openPostgresStore({ url: database.url }), systemClock, ids);
  t.after(async () => {
    const offenders = await Promise.all(INVARIANTS.map(({ sql }) => reader.offenders(sql)));
    await closeAll(
      () => one.close(),
      () => two.close(),
      giveBack,
    );
    for (const [i, { says }] of INVARIANTS.entries()) assert.deepEqual(offenders[i], [], says);
  });
  const worker = ids.next('worker');
  await one.manager.registerWorker(worker, { name: 'one', pool: 'default', leaseMs: 45_000 });
  return { url: database.url, reader, store, one: one.manager, two: two.manager, worker };
}

interface Stream {
  readonly workflow: WorkflowId;
  readonly fence: Fence;
  run: RunId;
}

/** A session that has had two runs, so that the process has seen everything they ask for. */
async function busy({ one, worker }: Opened, name = 'busy', count = 20): Promise<Stream> {
  const workflow = await deploy(one, name, { ...ORDERS, producers: [] });
  const events = Array.from({ length: count }, (_, i) => placed(String(i)));
  await one.publishEvents(workflow, events, PERSON);
  const fence = await beginSession(one, workflow, worker);
  const first = await one.advanceSession(fence);
  assert.ok('run' in first);
  const stream = { workflow, fence, run: first.run };
  for (const message of ['0', '1']) await cycle(one, stream, message);
  return stream;
}

async function cycle(manager: Follower['manager'], stream: Stream, message: string): Promise<void> {
  const started = await prepareAndCall(manager, stream.fence, stream.run, reserve(message), CALL);
  assert.ok('idempotencyKey' in started, `the call for ${message} was not sent: ${JSON.stringify(started)}`);
  const { fence, run } = stream;
  const next = await manager.together((model) => {
    model.updateMutationResult(started.mutation, 'success', {
      ...{ fence, answer: { resolvedBy: 'provider' }, result: '1' },
    });
    model.updateConsumerPhase(fence, run, 'emitting');
    model.commitConsumer(fence, run, { state: JSON.stringify(message) });
    return model.advanceSession(fence);
  });
  assert.ok('run' in next);
  stream.run = next.run;
}

async function endConnections(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
}

onPostgres('what was decided beforehand takes one round trip', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened);
  await cycle(opened.one, stream, '2');
  const before = opened.store.roundTrips;
  await cycle(opened.one, stream, '3');
  assert.equal(opened.store.roundTrips - before, 2, 'one for the call, one for its end and the next run');
});

onPostgres('what another process changes between the look and the commit counts', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened);
  await cycle(opened.one, stream, '2');
  opened.store.meanwhile = () => opened.two.pauseWorkflow(stream.workflow, PERSON);
  const started = await prepareAndCall(opened.one, stream.fence, stream.run, reserve('3'), CALL);
  assert.deepEqual('status' in started && started.status, 'cancelled');
});

onPostgres('an event that was taken away between the look and the commit is not taken', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened);
  await cycle(opened.one, stream, '2');
  const [event] = (await opened.reader.table('events')).filter(({ messageId }) => messageId === '3');
  assert.ok(event);
  opened.store.meanwhile = () => opened.two.skipEvents([event.id], PERSON);
  await assert.rejects(prepareAndCall(opened.one, stream.fence, stream.run, reserve('3'), CALL), {
    code: 'event-unavailable',
  });
});

onPostgres('a connection lost between the look and the commit takes both with it, and nothing is lost', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened);
  await cycle(opened.one, stream, '2');
  opened.store.meanwhile = () => endConnections(opened.url);
  const again = () => prepareAndCall(opened.one, stream.fence, stream.run, reserve('3'), CALL);
  const started = await again().catch(again);
  assert.ok('idempotencyKey' in started);
  const calls = (await opened.reader.table('mutations')).filter(({ handlerRunId }) => handlerRunId === stream.run);
  assert.equal(calls.length, 1);
});

onPostgres('acts of people that were decided beforehand make one chain, whoever wrote last', async (t) => {
  const opened = await open(t);
  const streams = [await busy(opened, 'a'), await busy(opened, 'b')];
  for (const stream of streams) await cycle(opened.one, stream, '2');
  const [{ workflow: first }, { workflow: second }] = streams as [Stream, Stream];
  for (let i = 0; i < 6; i++) {
    if (i % 2 === 1) opened.store.meanwhile = () => opened.two.publishEvents(second, [placed(`two${i}`)], PERSON);
    await Promise.all([first, second].map((workflow) => opened.one.publishEvents(workflow, [placed(`p${i}`)], PERSON)));
  }
  const entries = [...(await opened.reader.table('audit_log'))].sort((a, b) => a.seq - b.seq);
  let head: (typeof entries)[number] | undefined;
  for (const entry of entries) {
    assert.deepEqual(chained(head, { set: 'audit.appended', ...entry }), entry);
    head = entry;
  }
  const published = (await opened.reader.table('events')).filter(({ messageId }) => /^(p|two)/.test(messageId));
  assert.equal(published.length, 15);
});

onPostgres('what one takes not to be there is not what another of its batch goes by', async (t) => {
  const opened = await open(t);
  const stream = await busy(opened, 'busy', 240);
  await cycle(opened.one, stream, '2');
  // So far behind that it is not remembered: whoever publishes it takes it for new.
  const far = placed('230', '{"changed":1}');
  const [, started] = await Promise.all([
    opened.one.createWorkflow('of which nothing is known', PERSON),
    prepareAndCall(opened.one, stream.fence, stream.run, reserve('230'), CALL),
    opened.one.publishEvents(stream.workflow, [far], PERSON),
  ]);
  assert.ok('idempotencyKey' in started);
  const found = (await opened.reader.table('events')).filter(({ messageId }) => messageId === '230');
  assert.deepEqual(
    found.map(({ status, payload }) => [status, payload]),
    [['reserved', '{"id":"230"}']],
  );
});
