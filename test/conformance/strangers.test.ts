import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Client } from 'pg';
import { onKillPoint } from '#base';
import { besideSql } from '../support/beside-sql.ts';
import { beginSession, CALL, deploy, ORDERS, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';
import { onPostgres } from '../support/postgres-world.ts';

async function open(t: TestContext) {
  const { url, ids, store, client, manager } = await besideSql(t);
  const worker = ids.next('worker');
  await manager.registerWorker(worker, { name: 'one', pool: 'default', leaseMs: 45_000 });
  const workflow = await deploy(manager, 'busy', { ...ORDERS, producers: [] });
  await manager.publishEvents(
    workflow,
    Array.from({ length: 30 }, (_, i) => placed(String(i))),
    PERSON,
  );
  const fence = await beginSession(manager, workflow, worker);
  const first = await manager.advanceSession(fence);
  assert.ok('run' in first);
  return { url, client, store, manager, worker, workflow, fence, run: first.run, at: 0 };
}
type Opened = Awaited<ReturnType<typeof open>>;

async function call(o: Opened) {
  return prepareAndCall(o.manager, o.fence, o.run, reserve(String(o.at)), CALL);
}

async function end(o: Opened, mutation: string): Promise<void> {
  const next = await o.manager.together((model) => {
    model.updateMutationResult(mutation as never, 'success', {
      fence: o.fence,
      answer: { resolvedBy: 'provider' },
      result: '1',
    });
    model.updateConsumerPhase(o.fence, o.run, 'emitting');
    model.commitConsumer(o.fence, o.run, { state: '1' });
    return model.advanceSession(o.fence);
  });
  assert.ok('run' in next);
  o.run = next.run;
  o.at += 1;
}

async function cycle(o: Opened): Promise<void> {
  const started = await call(o);
  assert.ok('idempotencyKey' in started, JSON.stringify(started));
  await end(o, started.mutation);
}

async function dropStrangers(client: Client): Promise<void> {
  const { rows } = await client.query(`SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND tgname LIKE '%_stranger%'`);
  for (const { tgname, relname } of rows) await client.query(`DROP TRIGGER ${tgname} ON ${relname}`);
}

onPostgres('an older version that started again has put its guards in: nothing is remembered under them', async (t) => {
  const o = await open(t);
  for (let i = 0; i < 3; i++) await cycle(o);
  await o.client.query('BEGIN');
  await dropStrangers(o.client);
  await o.client.query(`UPDATE schema_version SET guards = 'of an older version'`);
  await o.client.query('COMMIT');
  // The new version goes on working beside it for a while.
  for (let i = 0; i < 40; i++) if (o.at < 25) await cycle(o);
  // The older version pauses the workflow, under its lock, as it always did.
  await o.client.query(`UPDATE workflows SET status = 'paused', holds = 'user' WHERE id = '${o.workflow}'`);
  const started = await call(o);
  assert.equal('status' in started && started.status, 'cancelled');
});

onPostgres('a person with SQL who stands in line behind this process is seen', async (t) => {
  const o = await open(t);
  await cycle(o);
  // A workflow this process does not know yet.
  const workflow = await deploy(o.manager, 'other', { ...ORDERS, producers: [] });
  await o.manager.publishEvents(workflow, [placed('a'), placed('b')], PERSON);
  const fence = await beginSession(o.manager, workflow, o.worker);
  // They ask while the transaction that begins the run is open, and have time to stand in line before it commits.
  let paused: Promise<unknown> | undefined;
  onKillPoint((point) => {
    if (point !== 'before-commit' || paused) return;
    paused = o.client.query(`UPDATE workflows SET status = 'paused', holds = 'user' WHERE id = '${workflow}'`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  });
  t.after(() => onKillPoint(undefined));
  const begun = await o.manager.advanceSession(fence);
  assert.ok(paused);
  await paused;
  assert.ok('run' in begun);
  const after = await prepareAndCall(o.manager, fence, begun.run, reserve('a'), CALL);
  assert.equal('status' in after && after.status, 'cancelled');
});

onPostgres(
  'what a person with SQL changes of a workflow without asking for it is waited for, and nobody else waits',
  async (t) => {
    const o = await open(t);
    for (let i = 0; i < 3; i++) await cycle(o);
    const other = await deploy(o.manager, 'other');
    await o.client.query('BEGIN');
    await o.client.query(
      `UPDATE executions SET cancel_requested_at = 1, cancel_requested_by = 'ada' WHERE id = '${o.fence.execution}'`,
    );
    let isDone = false;
    const waits = call(o).finally(() => {
      isDone = true;
    });
    await o.manager.publishEvents(other, [placed('a')], PERSON);
    await o.manager.publishEvents(other, [placed('b')], PERSON);
    assert.equal(isDone, false);
    await o.client.query('COMMIT');
    const started = await waits;
    assert.equal('status' in started && started.status, 'cancelled');
  },
);

onPostgres('who has another search_path may still write', async (t) => {
  const o = await open(t);
  await o.client.query(`SET search_path = ''`);
  await o.client.query(`UPDATE public.workflows SET quiet = quiet WHERE id = '${o.workflow}'`);
});
