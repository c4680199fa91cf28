import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import type { RunId } from '#base';
import { executorPort, openEngine, operatorPort, workerPort } from '#execution';
import { beginSession, CALL, deploy, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';

let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'pawl-engine-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** A process that dies in the middle, by its own hand, at the point named. */
async function dieAt(point: string): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'dying-engine.ts'), dataDir, point], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const signal = await new Promise((resolve) => child.once('exit', (_code, by) => resolve(by)));
  assert.equal(signal, 'SIGKILL');
}

test('an engine that was closed leaves nothing to recover', async () => {
  const engine = await openEngine({ dataDir });
  await deploy(engine.manager);
  await engine.close();
  const again = await openEngine({ dataDir });
  assert.deepEqual(again.recovered, { runs: 0, sessions: 0, tasks: 0, orphanedEvents: [], violations: [] });
  await again.close();
});

test('a run whose process was killed before its call releases its events', async () => {
  await dieAt('prepared');
  const engine = await openEngine({ dataDir });
  assert.equal(engine.recovered.runs, 1);
  const [run] = await engine.reader.table('handler_runs');
  const [event] = await engine.reader.table('events');
  assert.deepEqual([run?.status, run?.phase, event?.status], ['crashed', 'prepared', 'pending']);
  await engine.close();
});

test('a run whose process was killed with its call in flight keeps its events and asks', async () => {
  await dieAt('in_flight');
  const engine = await openEngine({ dataDir });
  const [run] = await engine.reader.table('handler_runs');
  const [event] = await engine.reader.table('events');
  const [mutation] = await engine.reader.table('mutations');
  const [workflow] = await engine.reader.table('workflows');
  assert.deepEqual(
    [run?.status, event?.status, mutation?.status],
    ['paused:reconciliation', 'reserved', 'indeterminate'],
  );
  assert.deepEqual([workflow?.pendingRetryRunId, workflow?.holds], [run?.id, ['unknown']]);
  assert.ok(mutation?.callEndedAt, 'the lock proves that the caller is dead, so its call is over');
  await engine.close();
});

test('a session whose process was killed between two runs is completed', async () => {
  await dieAt('between runs');
  const engine = await openEngine({ dataDir });
  assert.deepEqual([engine.recovered.runs, engine.recovered.sessions], [0, 1]);
  assert.equal((await engine.reader.table('script_runs'))[0]?.result, 'completed');
  assert.equal((await engine.reader.table('executions'))[0]?.status, 'abandoned');
  await engine.close();
});

test('a failure whose process was killed before its task was made gets the task, once', async () => {
  await dieAt('failed');
  const engine = await openEngine({ dataDir });
  assert.equal(engine.recovered.tasks, 1);
  await engine.close();
  const again = await openEngine({ dataDir });
  assert.equal(again.recovered.tasks, 0);
  assert.equal((await again.reader.table('maintenance_tasks')).length, 1);
  await again.close();
});

test('a look-up whose process was killed is due again at once, and nobody is taken for alive who is dead', async () => {
  await dieAt('looking up');
  const engine = await openEngine({ dataDir });
  const [due] = await engine.reader.dueReconciles(Date.now(), 10);
  assert.equal(due?.status, 'needs_reconcile');
  await engine.manager.claimReconcile(due.id, engine.self, 60_000);
  assert.ok(
    ((await engine.reader.nextWakeAt()) ?? 0) > Date.now() + 50_000,
    'while it is claimed there is nothing to look at',
  );
  const living = (await engine.reader.table('workers')).filter(({ endedAt }) => endedAt === null);
  assert.deepEqual(
    living.map(({ id }) => id),
    [engine.self],
  );
  await engine.close();
});

test('recovery is idempotent', async () => {
  await dieAt('in_flight');
  const engine = await openEngine({ dataDir });
  const before = await engine.reader.table('handler_runs');
  const again = await engine.manager.recoverCrashedRuns(engine.self);
  assert.deepEqual(again, { recovered: 0, left: 0 });
  assert.deepEqual(await engine.reader.table('handler_runs'), before);
  await engine.close();
});

test('an engine does not recover its own runs', async () => {
  const engine = await openEngine({ dataDir });
  const workflow = await deploy(engine.manager);
  await engine.manager.publishEvents(workflow, [placed('1')], PERSON);
  const fence = await beginSession(engine.manager, workflow, engine.self);
  await engine.manager.advanceSession(fence);
  assert.deepEqual(await engine.manager.recoverCrashedRuns(engine.self), { recovered: 0, left: 0 });
  assert.equal((await engine.reader.table('handler_runs'))[0]?.status, 'active');
  await engine.close();
});

test('a port has the methods of its part and no others', async () => {
  const engine = await openEngine({ dataDir });
  const workflow = await deploy(engine.manager);
  const operator = operatorPort(engine.manager);
  await operator.publishEvents(workflow, [placed('1')], PERSON);
  const fence = await beginSession(engine.manager, workflow, engine.self);
  const worker = workerPort(engine.manager, fence);
  const { run } = (await worker.advanceSession()) as { run: RunId };
  await worker.updateConsumerPhase(run, 'prepared', { reservations: reserve('1'), prepareResult: '{}' });
  await worker.updateConsumerPhase(run, 'mutating');
  await worker.startMutation(run, CALL);
  assert.equal('commitConsumer' in operator, false);
  assert.equal('skipEvents' in worker, false);
  assert.deepEqual(Object.keys(executorPort(engine.manager)).includes('startMutation'), false);
  assert.ok(Object.isFrozen(worker) && Object.isFrozen(operator));
  await engine.close();
});

test('a worker port of another epoch can do nothing', async () => {
  const engine = await openEngine({ dataDir });
  const workflow = await deploy(engine.manager);
  await engine.manager.publishEvents(workflow, [placed('1')], PERSON);
  const fence = await beginSession(engine.manager, workflow, engine.self);
  const { run } = (await engine.manager.advanceSession(fence)) as { run: RunId };
  const stale = workerPort(engine.manager, { ...fence, epoch: fence.epoch - 1 });
  await assert.rejects(stale.updateConsumerPhase(run, 'prepared'), { code: 'fenced' });
  await assert.rejects(stale.updateHandlerRunStatus(run, 'cancelled', { error: 'late' }), { code: 'fenced' });
  await prepareAndCall(engine.manager, fence, run, reserve('1'));
  await engine.close();
});

test('listeners hear what a commit changed', async () => {
  const engine = await openEngine({ dataDir });
  const kinds = new Set<string>();
  const stop = engine.listen((changes) => {
    for (const { kind } of changes) kinds.add(kind);
  });
  const workflow = await deploy(engine.manager);
  await engine.manager.publishEvents(workflow, [placed('1')], PERSON);
  const fence = await beginSession(engine.manager, workflow, engine.self);
  const { run } = (await engine.manager.advanceSession(fence)) as { run: RunId };
  await prepareAndCall(engine.manager, fence, run, reserve('1'));
  stop();
  for (const kind of ['workflow', 'event', 'execution', 'session', 'run', 'mutation']) assert.ok(kinds.has(kind), kind);
  await engine.close();
});

test('a workflow whose rows break an invariant is held at start, with the reason, and nothing is repaired', async () => {
  await dieAt('in_flight');
  const first = await openEngine({ dataDir });
  await first.close();
  const database = new DatabaseSync(join(dataDir, 'pawl.db'));
  database.exec('UPDATE workflows SET pending_retry_run_id = NULL');
  database.close();
  const engine = await openEngine({ dataDir });
  const [workflow] = await engine.reader.table('workflows');
  assert.ok(engine.recovered.orphanedEvents.length === 1 && engine.recovered.violations.length > 0);
  assert.ok(workflow?.holds.includes('error'));
  assert.match(workflow?.errorReason ?? '', /open questions are pointed at/);
  assert.equal((await engine.reader.table('events'))[0]?.status, 'reserved');
  await engine.close();
});
