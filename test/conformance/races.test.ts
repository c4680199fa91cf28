import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { monotonicIds, RefusedError, systemClock, type WorkerId, type WorkflowId } from '#base';
import { chained, INVARIANTS } from '#model';
import { type LaterReader, openPostgresStore } from '#store';
import { beginSession, deploy, PERSON, placed } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { borrowDatabase, onPostgres, type TestDatabase } from '../support/postgres-world.ts';

type Manager = Follower['manager'];

interface Opened {
  readonly database: TestDatabase;
  readonly reader: LaterReader;
  /** Two processes at the same database, as far as the database can tell. */
  readonly one: Manager;
  readonly two: Manager;
  readonly workers: readonly [WorkerId, WorkerId];
}

async function open(t: TestContext): Promise<Opened> {
  const { database, reader, giveBack } = await borrowDatabase();
  const ids = monotonicIds(systemClock);
  const followers = [
    new Follower(await openPostgresStore({ url: database.url }), systemClock, ids),
    new Follower(await openPostgresStore({ url: database.url }), systemClock, ids),
  ] as const;
  t.after(async () => {
    const offenders = await Promise.all(INVARIANTS.map(({ sql }) => reader.offenders(sql)));
    await closeAll(...followers.map((follower) => () => follower.close()), giveBack);
    for (const [i, { says }] of INVARIANTS.entries()) assert.deepEqual(offenders[i], [], says);
  });
  const [one, two] = [followers[0].manager, followers[1].manager];
  const workers = [ids.next('worker'), ids.next('worker')] as const;
  for (const worker of workers) await one.registerWorker(worker, { name: worker, pool: 'default', leaseMs: 45_000 });
  return { database, reader, one, two, workers };
}

/** Holds a workflow as another process does in the middle of its transaction. */
async function hold(database: TestDatabase, workflow: WorkflowId): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT id FROM workflows WHERE id = $1 FOR NO KEY UPDATE', [workflow]);
  return () => client.end();
}

onPostgres('a workflow in other hands keeps nobody else waiting', async (t) => {
  const { database, one } = await open(t);
  const held = await deploy(one, 'held');
  const free = await deploy(one, 'free');
  const letGo = await hold(database, held);
  let isDone = false;
  const waits = one.publishEvents(held, [placed('1')], PERSON).then(() => {
    isDone = true;
  });
  await one.publishEvents(free, [placed('1')], PERSON);
  await one.publishEvents(free, [placed('2')], PERSON);
  assert.equal(isDone, false);
  await letGo();
  await waits;
});

onPostgres('of two that claim the same execution one gets it', async (t) => {
  const { one, two, workers, reader } = await open(t);
  for (let round = 0; round < 10; round++) {
    const workflow = await deploy(one, `w${round}`);
    const { execution, epoch } = await one.together((model) => {
      const asked = model.requestExecution(workflow, 'event');
      model.beginScheduling(asked.execution);
      return { ...asked, ...model.handOff(asked.execution) };
    });
    const claims = await Promise.allSettled([
      one.claimExecution(execution, epoch, workers[0]),
      two.claimExecution(execution, epoch, workers[1]),
    ]);
    const won = claims.findIndex(({ status }) => status === 'fulfilled');
    const lost = claims[1 - won];
    assert.ok(lost?.status === 'rejected' && lost.reason instanceof RefusedError, 'one of them is refused, in words');
    const row = (await reader.fetch('execution', execution))[0];
    assert.equal(row?.owner, workers[won === 0 ? 0 : 1]);
  }
  assert.equal((await reader.table('script_runs')).length, 10);
});

onPostgres('no update is lost: every event gets its place, whoever publishes', async (t) => {
  const { one, two, reader } = await open(t);
  const workflow = await deploy(one, 'orders');
  const names = Array.from({ length: 30 }, (_, i) => `e${i}`);
  await Promise.all(
    [one, two].flatMap((manager, process) =>
      names.map((name) => manager.publishEvents(workflow, [placed(`${process}${name}`)], PERSON)),
    ),
  );
  const events = await reader.table('events');
  assert.equal(events.length, 60);
  assert.equal(new Set(events.map(({ pendingSeq }) => pendingSeq)).size, 60);
  assert.equal((await reader.table('workflows'))[0]?.eventSeq, 60);
});

onPostgres('what two say at the same time is kept once: a name, a message, a delivery', async (t) => {
  const { one, two, reader } = await open(t);
  const created = await Promise.allSettled([one.createWorkflow('twice', PERSON), two.createWorkflow('twice', PERSON)]);
  assert.deepEqual(created.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const refused = created.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  assert.ok(refused.reason instanceof RefusedError, String(refused.reason));

  const workflow = await deploy(one, 'orders');
  const published = await Promise.all([one, two].map((m) => m.publishEvents(workflow, [placed('same')], PERSON)));
  assert.deepEqual(published[0], published[1]);

  const delivery = { hook: 'hook', deliveryId: 'd', headers: '{}', body: '' };
  const accepted = await Promise.all([one, two].map((manager) => manager.acceptDelivery(workflow, delivery)));
  assert.equal(accepted[0]?.delivery, accepted[1]?.delivery);
  assert.deepEqual(accepted.map(({ duplicate }) => duplicate).sort(), [false, true]);
  assert.equal((await reader.table('deliveries')).length, 1);
});

onPostgres('the audit log is one chain, whoever adds to it', async (t) => {
  const { one, two, reader } = await open(t);
  const mine = await deploy(one, 'mine');
  const theirs = await deploy(two, 'theirs');
  const acts = Array.from({ length: 10 }, (_, i) => i);
  await Promise.all(
    acts.flatMap((i) => [
      one.setHandlerState(mine, 'book', String(i), 'ada'),
      two.setHandlerState(theirs, 'book', String(i), 'bob'),
    ]),
  );
  const entries = [...(await reader.table('audit_log'))].sort((a, b) => a.seq - b.seq);
  let head: (typeof entries)[number] | undefined;
  for (const entry of entries) {
    assert.deepEqual(chained(head, { set: 'audit.appended', ...entry }), entry);
    head = entry;
  }
  assert.equal(entries.filter(({ actor }) => actor === 'ada' || actor === 'bob').length >= 20, true);
});

onPostgres('a cure that races a refusal leaves nobody waiting for it', async (t) => {
  const { one, two, workers, reader } = await open(t);
  for (let round = 0; round < 10; round++) {
    const connection = `c${round}`;
    const workflow = await deploy(one, `w${round}`);
    await one.publishEvents(workflow, [placed('1')], PERSON);
    const fence = await beginSession(one, workflow, workers[0]);
    const { run } = await one.startRun(fence, 'book');
    const cause = { kind: 'auth', connection, version: 0 } as const;
    await Promise.all([
      one.updateHandlerRunStatus(fence, run, 'paused:approval', { error: 'refused', cause }),
      two.cureConnection(connection, PERSON),
    ]);
    const row = (await reader.fetch('workflow', workflow))[0];
    assert.deepEqual(row?.heldConnections, [], `round ${round}: held by a refusal that was cured`);
  }
});

onPostgres('a process that freezes in the middle of a transaction holds its workflow for seconds only', async (t) => {
  if (!existsSync('/proc/self/status')) return;
  const { database, one, reader } = await open(t);
  const workflow = await deploy(one, 'orders');
  const script = join(import.meta.dirname, 'dying-writer.ts');
  const frozen = spawn(process.execPath, [script, database.url, workflow], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => frozen.kill('SIGKILL'));
  const said: string[] = [];
  frozen.stdout.on('data', (data) => said.push(String(data)));
  await stopped(frozen.pid ?? 0);

  const startedAt = performance.now();
  await one.publishEvents(workflow, [placed('2')], PERSON);
  assert.ok(performance.now() - startedAt < 12_000);

  frozen.kill('SIGCONT');
  const [code] = await once(frozen, 'exit');
  assert.equal(code, 0);
  const [published] = JSON.parse(said.join('')).published;
  const events = await reader.table('events');
  assert.deepEqual(events.map(({ messageId }) => messageId).sort(), ['1', '2']);
  assert.equal(events.find(({ messageId }) => messageId === '1')?.id, published);
});

const STOPPED_MS_MAX = 30_000;

async function stopped(pid: number): Promise<void> {
  const giveUpAt = performance.now() + STOPPED_MS_MAX;
  while (!/^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) {
    assert.ok(performance.now() < giveUpAt, 'it never froze');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
