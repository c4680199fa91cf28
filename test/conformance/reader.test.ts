import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INVARIANTS } from '#model';
import { openPostgresReader, openPostgresStore, openReader, openSqliteStore, type Reader, type Store } from '#store';
import {
  AT,
  awaiting,
  consumerRun,
  delivery,
  event,
  evt,
  execution,
  message,
  mutation,
  RUN,
  run,
  task,
  unknown,
  WF,
  workflow,
} from '../store/rows.ts';
import { AT_WORK, CLOCK, commit } from '../store/world.ts';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

/** Something for every listing to find, and something to leave alone. */
async function fill(store: Store): Promise<void> {
  await commit(
    store,
    ...AT_WORK,
    { set: 'events.reserved', run: RUN, events: [evt(2)] },
    { set: 'event.published', row: event({ id: evt(4), status: 'parked' }) },
    { set: 'event.published', row: event({ id: evt(5), topic: 'other', pendingSeq: 5 }) },
    { set: 'workflow.due', workflow: WF, at: AT + 5 },
    { set: 'workflow.created', row: workflow({ id: 'wf_2' as never, name: 'two', dueAt: AT }) },
    {
      set: 'execution.requested',
      row: execution({
        id: 'exe_2' as never,
        workflowId: 'wf_2' as never,
        status: 'scheduling',
        schedulingUntil: AT - 1,
      }),
    },
    { set: 'run.created', row: consumerRun({ id: run(2), rootRunId: run(2), status: 'crashed', endTimestamp: AT }) },
    { set: 'run.created', row: consumerRun({ id: run(3), rootRunId: run(3), status: 'crashed', endTimestamp: AT }) },
    { set: 'mutation.recorded', row: mutation() },
    {
      set: 'mutation.recorded',
      row: unknown({ id: 'mut_2' as never, rootRunId: run(2), handlerRunId: run(2), setAsideAt: AT, reconcileAt: AT }),
    },
    {
      set: 'mutation.recorded',
      row: awaiting({
        id: 'mut_3' as never,
        rootRunId: run(3),
        handlerRunId: run(3),
        setAsideAt: AT,
        approvalExpiresAt: AT,
      }),
    },
    { set: 'run.created', row: consumerRun({ id: run(4), rootRunId: run(4), status: 'crashed', endTimestamp: AT }) },
    { set: 'event.published', row: event({ id: evt(6), status: 'reserved', reservedByRunId: run(4) }) },
    { set: 'message.sent', row: message() },
    { set: 'workflow.created', row: workflow({ id: 'wf_3' as never, name: 'three' }) },
    {
      set: 'execution.requested',
      row: execution({ id: 'exe_3' as never, workflowId: 'wf_3' as never, status: 'scheduled', epoch: 1 }),
    },
    ...[1, 2].map((version) => ({
      set: 'message.sent' as const,
      row: message({
        id: `msg_3${version}` as never,
        type: 'execution.scheduled',
        executionId: 'exe_3' as never,
        workflowId: 'wf_3' as never,
        epoch: 1,
        version,
      }),
    })),
    { set: 'delivery.accepted', row: delivery() },
    { set: 'task.opened', row: task() },
    { set: 'workflow.maintenance', workflow: WF, from: null, to: run(2) },
  );
}

const NOW = AT + 1;

/** Every question a reader takes, with arguments that find something. */
const QUESTIONS: {
  readonly [M in keyof Omit<Reader, 'close' | 'fetch' | 'offenders' | 'table'>]: Parameters<Reader[M]>[];
} = {
  unfinishedExecutions: [[{ limit: 10 }], [{ after: 'exe_1', limit: 10 }]],
  dueWorkflows: [
    [NOW, 10],
    [AT + 9, 1],
  ],
  nextDueAt: [[]],
  nextWakeAt: [[]],
  wasApproved: [[WF, 'shop', 'post']],
  dueReconciles: [[NOW, 10]],
  expiredApprovals: [[NOW, 10]],
  expiredScheduling: [[NOW, 10]],
  unendedWorkers: [[]],
  maintenanceWithoutTask: [[10]],
  allowances: [[WF, NOW, 10]],
  dueNotices: [[NOW, 10]],
  nextNoticeAt: [[]],
  messages: [[10]],
  handOffs: [[10]],
  strangeMessages: [[10]],
  orphanedReservedEvents: [[10]],
  listEvents: [
    [WF, { limit: 10 }],
    [WF, { limit: 2, after: evt(1) }],
    [WF, { limit: 10, status: 'pending' }],
    [WF, { limit: 10, status: 'pending', topic: 'other' }],
    [WF, { limit: 10, status: 'reserved' }],
    [WF, { limit: 10, status: 'parked' }],
    [WF, { limit: 10, status: 'consumed' }],
  ],
  scriptCode: [['scr_1' as never], ['scr_404' as never]],
};

onPostgres('a reader of PostgreSQL says what the reader of SQLite says', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-reader-'));
  const sqlite = openSqliteStore({ dataDir, clock: CLOCK });
  const { database, reader: distant, giveBack } = await borrowDatabase();
  const postgres = await openPostgresStore({ url: database.url, clock: CLOCK });
  const near = openReader(dataDir);
  t.after(async () => {
    near.close();
    await sqlite.close();
    await postgres.close();
    await giveBack();
    rmSync(dataDir, { recursive: true });
  });
  await fill(sqlite);
  await fill(postgres);

  type Asked = (...args: readonly unknown[]) => unknown;
  const found: string[] = [];
  for (const [name, calls] of Object.entries(QUESTIONS)) {
    for (const args of calls) {
      const expected = (near[name as keyof Reader] as Asked)(...args);
      const said = await (distant[name as keyof typeof distant] as Asked)(...args);
      assert.deepEqual(said, expected, `${name} ${JSON.stringify(args)}`);
      if (expected !== null && expected !== undefined && (expected as []).length !== 0) found.push(name);
    }
  }
  const empty = Object.keys(QUESTIONS).filter((name) => !found.includes(name));
  assert.deepEqual(empty, ['allowances', 'dueNotices', 'nextNoticeAt'], 'these found nothing, which proves little');
  for (const { sql, name } of INVARIANTS) {
    assert.deepEqual(await distant.offenders(sql), near.offenders(sql), name);
  }
});

onPostgres('a reader cannot write, whatever it is asked', async (t) => {
  const { reader, giveBack } = await borrowDatabase();
  t.after(giveBack);
  await assert.rejects(reader.offenders('UPDATE schema_version SET probe = 1 RETURNING 1'), {
    code: 'store-read-only',
  });
});

onPostgres('a reader finds its server again after a restart', async (t) => {
  const server = await startOwnPostgres();
  t.after(() => server.stop());
  await server.createDatabase('pawl');
  await (await openPostgresStore({ url: server.url('pawl') })).close();
  const reader = await openPostgresReader(server.url('pawl'));
  assert.deepEqual(await reader.messages(1), []);
  await server.kill('SIGKILL');
  await assert.rejects(reader.messages(1), { code: 'store-unreachable' });
  await server.start();
  assert.deepEqual(await Promise.all([reader.messages(1), reader.nextDueAt()]), [[], null]);
  await reader.close();
});
