import assert from 'node:assert/strict';
import type { WorkflowId } from '#base';
import { INVARIANTS } from '#model';
import { openPostgresHistory, openPostgresReader, openPostgresStore, openReader, type Reader } from '#store';
import { AT, allowance, event, evt, WF, workflow } from '../store/rows.ts';
import { CLOCK, commit } from '../store/world.ts';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { borrowDatabase, freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { filledTwice } from './filled.ts';

const NOW = AT + 1;

/** Every question a reader takes, with arguments that find something. */
const QUESTIONS: {
  readonly [M in keyof Omit<Reader, 'close' | 'fetch' | 'offenders' | 'table' | 'workflowRows'>]: Parameters<
    Reader[M]
  >[];
} = {
  unfinishedExecutions: [[{ limit: 10 }], [{ after: 'exe_1', limit: 10 }]],
  dueWorkflows: [
    [NOW, 10],
    [AT + 9, 1],
  ],
  slotsTaken: [['pool:heavy']],
  slotWaiters: [['pool:heavy', 10]],
  nextDueAt: [[]],
  nextWakeAt: [[]],
  wasApproved: [[WF, 'shop', 'post']],
  dueReconciles: [[NOW, 10]],
  expiredApprovals: [[NOW, 10]],
  expiredScheduling: [[NOW, 10]],
  unendedWorkers: [[]],
  maintenanceWithoutTask: [[10]],
  countCalls: [
    [WF, 'shop', 'post', 0, 10],
    [WF, 'shop', 'post', 0, 1],
  ],
  allowances: [[WF, NOW, 10]],
  dueNotices: [[NOW, 10]],
  nextNoticeAt: [[]],
  messages: [[10]],
  messageRows: [[10]],
  handOffs: [[10]],
  strangeMessages: [[10]],
  aged: (['run', 'event', 'session', 'execution', 'input'] as const).map((kind) => [
    kind,
    { before: NOW, below: '~', limit: 10 },
  ]),
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
  const { dataDir, reader: distant } = await filledTwice(t);
  const near = openReader(dataDir);
  t.after(() => near.close());

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

onPostgres('reads that share a statement find what each finds alone, in its order', async (t) => {
  const { database, reader, giveBack } = await borrowDatabase();
  t.after(giveBack);
  const store = await openPostgresStore({ url: database.url, clock: CLOCK });
  t.after(() => store.close());
  const workflows = ['wf_a', 'wf_b', 'wf_c'] as WorkflowId[];
  for (const [i, id] of workflows.entries()) {
    const published = [3, 1, 2].slice(i).map((n) => ({ id: evt(`${id}${n}`), workflowId: id, messageId: `m${n}` }));
    await commit(
      store,
      { set: 'workflow.created', row: workflow({ id, name: id }) },
      ...published.map((row) => ({ set: 'event.published', row: event(row) }) as const),
      { set: 'allowance.given', row: allowance({ id: `alw_${id}` as never, workflowId: id, until: AT + 1 + i }) },
    );
  }
  const asked = [...workflows, 'wf_404' as WorkflowId].flatMap((id) =>
    [1, 10].map((limit) => () => reader.listEvents(id, { status: 'pending', topic: 'placed', limit })),
  );
  const allowed = workflows.map((id) => () => reader.allowances(id, AT + 1, 10));
  const strange = () => reader.listEvents(WF, { status: 'pending', topic: 'nul\0', limit: 1 });
  const together = await Promise.allSettled([...asked, ...allowed, strange].map((ask) => ask()));
  for (const [i, ask] of [...asked, ...allowed].entries()) {
    assert.deepEqual(together[i], { status: 'fulfilled', value: await ask() });
  }
  assert.equal(together.at(-1)?.status, 'rejected', 'what the server does not take fails alone');
  const lengths = await Promise.all(
    asked.map(async (ask) => (await ask()).map(({ messageId }) => messageId).join(' ')),
  );
  assert.deepEqual(lengths, ['m1', 'm1 m2 m3', 'm1', 'm1 m2', 'm2', 'm2', '', '']);
  assert.deepEqual(
    (await Promise.all(allowed.map((ask) => ask()))).map(({ length }) => length),
    [0, 1, 1],
  );
});

onPostgres('a reader cannot write, whatever it is asked', async (t) => {
  const { reader, giveBack } = await borrowDatabase();
  t.after(giveBack);
  await assert.rejects(reader.offenders('UPDATE schema_version SET probe = 1 RETURNING 1'), {
    code: 'store-read-only',
  });
});

onPostgres('what PostgreSQL cannot even look for is refused in words', async (t) => {
  const database = await freshDatabase();
  const history = await openPostgresHistory(database.url);
  t.after(async () => {
    await history.close();
    await database.drop();
  });
  const asked = history.runs('wf_1' as WorkflowId, { limit: 1, handler: 'a\0b' });
  await assert.rejects(asked, { code: 'invalid', message: /NUL/ });
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
