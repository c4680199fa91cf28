import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFailedError, type WorkflowId } from '#base';
import type { Write } from '#model';
import { openReader } from '#store';
import {
  AT,
  awaiting,
  consumerRun,
  EXE,
  event,
  evt,
  execution,
  RUN,
  run,
  SCRIPT,
  task,
  unknown,
  WF,
  WORKER,
  worker,
  workflow,
} from './rows.ts';
import { AT_WORK, commit, openWorld, RUNNING, temporaryFolder } from './world.ts';

const wf = (n: number) => `wf_${n}` as WorkflowId;
const exe = (n: number) => `exe_${n}` as never;
const stopped = { status: 'failed:logic', endTimestamp: AT } as const;

test('a reader cannot write', async (t) => {
  const { reader } = await openWorld(t, ...RUNNING);
  for (const sql of [
    'DELETE FROM messages',
    'UPDATE workflows SET due_at = 1',
    `INSERT INTO workers (id, name, pool, lease_until, started_at) VALUES ('w', 'w', 'w', 1, 1)`,
    'DROP TABLE workflows',
    'CREATE TABLE mine (id TEXT)',
    'BEGIN IMMEDIATE',
  ]) {
    assert.throws(() => reader.offenders(sql), { code: 'store-read-only' }, sql);
  }
});

test('a reader of a folder without a database says so, and makes none', (t) => {
  const dataDir = temporaryFolder(t);
  assert.throws(() => openReader(dataDir), { code: 'store-cannot-open' });
  assert.throws(() => openReader(dataDir), StoreFailedError);
});

test('a reader sees a commit as soon as it is answered, and nothing before', async (t) => {
  const { store, reader } = await openWorld(t);
  await store.commit([
    {
      decide: () => {
        assert.equal(reader.table('workflows').length, 0);
        return [{ set: 'workflow.created', row: workflow() }];
      },
    },
  ]);
  assert.deepEqual(reader.table('workflows'), [workflow()]);
});

test('unfinished executions are those handed off and not ended, page by page', async (t) => {
  const others: Write[] = [2, 3, 4, 5].flatMap((n) => [
    { set: 'workflow.created', row: workflow({ id: wf(n), name: `w${n}` }) },
  ]);
  const { reader } = await openWorld(
    t,
    ...AT_WORK,
    ...others,
    { set: 'execution.requested', row: execution({ id: exe(2), workflowId: wf(2), status: 'scheduled', epoch: 4 }) },
    { set: 'execution.requested', row: execution({ id: exe(3), workflowId: wf(3) }) },
    {
      set: 'execution.requested',
      row: execution({ id: exe(4), workflowId: wf(4), status: 'scheduling', schedulingUntil: AT }),
    },
    { set: 'execution.requested', row: execution({ id: exe(5), workflowId: wf(5), status: 'failed', endedAt: AT }) },
  );
  const first = { id: EXE, epoch: 1, status: 'running', owner: WORKER, hasActiveRun: true };
  const second = { id: exe(2), epoch: 4, status: 'scheduled', owner: null, hasActiveRun: false };
  assert.deepEqual(reader.unfinishedExecutions({ limit: 10 }), [first, second]);
  assert.deepEqual(reader.unfinishedExecutions({ after: '', limit: 1 }), [first]);
  assert.deepEqual(reader.unfinishedExecutions({ after: EXE, limit: 1 }), [second]);
  assert.deepEqual(reader.unfinishedExecutions({ after: exe(2), limit: 1 }), []);
});

test('due workflows come in the order they are due, and the next one is known', async (t) => {
  const due = [30, 10, null, 20].map((dueAt, i): Write => {
    return { set: 'workflow.created', row: workflow({ id: wf(i), name: `w${i}`, dueAt }) };
  });
  const { reader } = await openWorld(t, ...due);
  assert.deepEqual(reader.dueWorkflows(20, 10), [
    { id: wf(1), dueAt: 10 },
    { id: wf(3), dueAt: 20 },
  ]);
  assert.deepEqual(reader.dueWorkflows(20, 1), [{ id: wf(1), dueAt: 10 }]);
  assert.deepEqual(reader.dueWorkflows(9, 10), []);
  assert.equal(reader.nextDueAt(), 10);
});

test('without anything due there is no next time', async (t) => {
  const { reader } = await openWorld(t, { set: 'workflow.created', row: workflow() });
  assert.equal(reader.nextDueAt(), null);
});

test('a look-up is due when its time has come and nobody has claimed it', async (t) => {
  const { store, reader } = await openWorld(t, ...AT_WORK, {
    set: 'mutation.recorded',
    row: unknown({ reconcileAt: 50 }),
  });
  assert.deepEqual(reader.dueReconciles(49, 10), []);
  assert.deepEqual(reader.dueReconciles(50, 10), [unknown({ reconcileAt: 50 })]);
  await commit(store, { set: 'mutation.reconcileClaimed', mutation: unknown().id, owner: WORKER, until: 100 });
  assert.deepEqual(reader.dueReconciles(99, 10), []);
  assert.equal(reader.dueReconciles(100, 10).length, 1, 'the claim has run out');
  assert.equal(reader.nextWakeAt(), 100, 'and not before it is there anything to look at');
});

test('a call nobody approved in time is found; an approved one is not', async (t) => {
  const waiting = awaiting({ approvalExpiresAt: 50 });
  const { store, reader } = await openWorld(t, ...AT_WORK, { set: 'mutation.recorded', row: waiting });
  assert.deepEqual(reader.expiredApprovals(49, 10), []);
  assert.deepEqual(reader.expiredApprovals(50, 10), [waiting]);
  await commit(store, { set: 'mutation.approved', mutation: waiting.id, at: 50, by: 'ada' });
  assert.deepEqual(reader.expiredApprovals(50, 10), []);
});

test('a scheduling lease that ran out is found', async (t) => {
  const scheduling = execution({ status: 'scheduling', schedulingUntil: 50 });
  const { reader } = await openWorld(t, RUNNING[0] as Write, { set: 'execution.requested', row: scheduling });
  assert.deepEqual(reader.expiredScheduling(49, 10), []);
  assert.deepEqual(reader.expiredScheduling(50, 10), [scheduling]);
});

test('maintenance without an open repair is found', async (t) => {
  const { store, reader } = await openWorld(
    t,
    ...RUNNING,
    { set: 'run.created', row: consumerRun(stopped) },
    { set: 'workflow.maintenance', workflow: WF, from: null, to: RUN },
  );
  assert.deepEqual(reader.maintenanceWithoutTask(10), [WF]);
  await commit(store, { set: 'task.opened', row: task({ kind: 'evidence' }) });
  assert.deepEqual(reader.maintenanceWithoutTask(10), [WF], 'evidence is no repair');
  await commit(store, { set: 'task.opened', row: task({ id: 'tsk_2' as never }) });
  assert.deepEqual(reader.maintenanceWithoutTask(10), []);
});

test('reserved events of an active, a pending-retry or a set-aside run have an owner; others are orphans', async (t) => {
  const { store, reader } = await openWorld(t, ...AT_WORK, { set: 'events.reserved', run: RUN, events: [evt(1)] });
  assert.deepEqual(reader.orphanedReservedEvents(10), [], 'active');
  await commit(store, {
    set: 'run.stopped',
    run: RUN,
    status: 'crashed',
    error: 'x',
    errorType: null,
    suspects: [],
    cost: 0,
    at: AT,
  });
  assert.deepEqual(
    reader.orphanedReservedEvents(10).map((row) => row.id),
    [evt(1)],
  );
  await commit(store, { set: 'workflow.retry', workflow: WF, from: null, to: RUN });
  assert.deepEqual(reader.orphanedReservedEvents(10), [], 'pending retry');
  await commit(store, { set: 'workflow.retry', workflow: WF, from: RUN, to: null });
  await commit(store, { set: 'mutation.recorded', row: unknown({ setAsideAt: AT }) });
  assert.deepEqual(reader.orphanedReservedEvents(10), [], 'set aside');
  const retry = consumerRun({ id: run(2), rootRunId: RUN, retryOf: RUN, attempt: 1, phase: 'emitting' });
  await commit(store, { set: 'run.created', row: retry });
  assert.deepEqual(
    reader.orphanedReservedEvents(10).map((row) => row.id),
    [evt(1)],
    'its chain has gone on without it',
  );
});

test('events are listed in the order they were made, by status and topic, page by page', async (t) => {
  const published = (n: number, topic: string): Write => ({
    set: 'event.published',
    row: event({ id: evt(n), topic, pendingSeq: n }),
  });
  const { reader } = await openWorld(
    t,
    ...AT_WORK,
    ...[4, 6, 8].map((n) => published(n, 'booked')),
    ...[5, 7, 9].map((n) => published(n, 'parcel')),
    { set: 'events.reserved', run: RUN, events: [evt(1), evt(6)] },
    { set: 'events.consumed', run: RUN, count: 2 },
    { set: 'events.reserved', run: RUN, events: [evt(2), evt(9)] },
    { set: 'event.parked', event: evt(5) },
    { set: 'event.skipped', event: evt(8), from: 'pending' },
    { set: 'workflow.created', row: workflow({ id: wf(2), name: 'other' }) },
    { set: 'event.published', row: event({ id: evt('x'), workflowId: wf(2) }) },
  );
  const listed = (filter: Parameters<typeof reader.listEvents>[1]) =>
    reader.listEvents(WF, filter).map(({ id }) => Number(id.slice('evt_'.length)));
  const limit = 100;
  assert.deepEqual(listed({ limit }), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(listed({ limit: 2, after: evt(3) }), [4, 5]);
  assert.deepEqual(listed({ limit, topic: 'booked' }), [4, 6, 8]);
  assert.deepEqual(listed({ limit, status: 'pending' }), [3, 4, 7]);
  assert.deepEqual(listed({ limit: 2, status: 'pending' }), [3, 4]);
  assert.deepEqual(listed({ limit: 2, status: 'pending', after: evt(3) }), [4, 7]);
  assert.deepEqual(listed({ limit, status: 'pending', topic: 'booked' }), [4]);
  assert.deepEqual(listed({ limit, status: 'reserved' }), [2, 9]);
  assert.deepEqual(listed({ limit, status: 'reserved', topic: 'parcel' }), [9]);
  assert.deepEqual(listed({ limit, status: 'consumed' }), [1, 6]);
  assert.deepEqual(listed({ limit, status: 'parked' }), [5]);
  assert.deepEqual(listed({ limit, status: 'skipped', topic: 'booked' }), [8]);
  assert.deepEqual(listed({ limit, status: 'skipped', after: evt(8) }), []);
});

test('the code of a version is kept beside it', async (t) => {
  const { reader } = await openWorld(t, ...RUNNING);
  assert.deepEqual(reader.scriptCode(SCRIPT), { code: 'export default {}', manifest: '{}' });
  assert.equal(reader.scriptCode('scr_404' as never), undefined);
});

test('offenders come as plain rows by column name', async (t) => {
  const { reader } = await openWorld(t, { set: 'worker.registered', row: worker() });
  assert.deepEqual(reader.offenders('SELECT id, lease_until AS until FROM workers'), [
    { id: WORKER, until: worker().leaseUntil },
  ]);
});
