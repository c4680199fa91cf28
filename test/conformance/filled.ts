import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type LaterReader, openPostgresStore, openSqliteStore, type Store } from '#store';
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
import { borrowDatabase } from '../support/postgres-world.ts';

interface FilledTwice {
  readonly dataDir: string;
  readonly url: string;
  /** Of the distant one. */
  readonly reader: LaterReader;
}

/** The same in a folder and in a database. */
export async function filledTwice(t: TestContext): Promise<FilledTwice> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-filled-'));
  const sqlite = openSqliteStore({ dataDir, clock: CLOCK });
  const { database, reader, giveBack } = await borrowDatabase();
  const postgres = await openPostgresStore({ url: database.url, clock: CLOCK, doubts: true });
  t.after(async () => {
    await sqlite.close();
    await postgres.close();
    await giveBack();
    rmSync(dataDir, { recursive: true });
  });
  await fill(sqlite);
  await fill(postgres);
  return { dataDir, url: database.url, reader };
}

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
    {
      set: 'execution.requested',
      row: execution({ id: 'exe_8' as never, status: 'cancelled', endedAt: AT + 3 }),
    },
    { set: 'audit.appended', at: AT + 3, actor: 'ada', act: 'cancel', subject: 'exe_8', detail: '' },
    { set: 'limit.set', row: { name: 'pool:heavy', slotsMax: 1, setAt: AT } },
    { set: 'slot.taken', row: { limitName: 'pool:heavy', executionId: 'exe_2' as never } },
    {
      set: 'execution.requested',
      row: execution({ id: 'exe_9' as never, workflowId: 'wf_2' as never, waitsFor: 'pool:heavy' }),
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
