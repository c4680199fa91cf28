import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INVARIANTS, type Rows, type Table } from '#model';
import { PERSON } from '../support/fixture.ts';
import {
  applied,
  awaitingApproval,
  emitting,
  failedAfter,
  nextRun,
  prepared,
  preparing,
  published,
  sayDone,
  sayNotDone,
  send,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { inWorld, type World } from '../support/world.ts';

// Each invariant finds what breaks it: a sound world, broken in one place by hand, is offended against by name. No command can do
// any of this, so it is done to plain rows.

type TableName = Exclude<keyof Rows, 'copy'>;

/** Changes the one row of a table, or the row with this key. */
function change(rows: Rows, table: TableName, fields: object, key?: string): void {
  const rowsOf = rows[table] as unknown as Table<{ id: string }>;
  const row = key === undefined ? rowsOf.values()[0] : rowsOf.get(key);
  assert.ok(row, `${table} has no ${key ?? 'row'}`);
  rowsOf.put(row.id, { ...row, ...fields });
}

interface Case {
  readonly breaks: string;
  readonly by: string;
  readonly given: (world: World) => Promise<unknown>;
  readonly broken: (rows: Rows) => void;
}

const committed = async (world: World) => {
  const { fence, run } = await emitting(world);
  await world.manager.commitConsumer(fence, run);
};
const aside = async (world: World) => {
  const { mutation } = await unknown(world);
  await world.manager.setAside(mutation, PERSON);
};
const retried = async (world: World) => nextRun(world, (await failedAfter(world, 'crashed')).workflow);
const failing = async (world: World) => stop(world, await preparing(world), 'failed:logic');
const repeated = async (world: World) => {
  const { workflow, mutation } = await unknown(world);
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, mutation);
  const again = await send(world, await nextRun(world, workflow));
  await applied(world, again);
};

const CASES: readonly Case[] = [
  {
    breaks: 'reserved events have an owner',
    by: 'an event reserved by nobody',
    given: prepared,
    broken: (rows) => change(rows, 'events', { reservedByRunId: null }),
  },
  {
    breaks: 'reserved events have an owner',
    by: 'an event reserved by a run of another workflow',
    given: prepared,
    broken: (rows) => change(rows, 'runs', { workflowId: 'wf_00009' }),
  },
  {
    breaks: 'reserved events have an owner',
    by: 'an event of a stopped run that nothing points at',
    given: (world) => failedAfter(world, 'crashed'),
    broken: (rows) => change(rows, 'workflows', { pendingRetryRunId: null }),
  },
  {
    breaks: 'reserved events have an owner',
    by: 'an event of a set-aside run that is no longer set aside',
    given: aside,
    broken: (rows) => change(rows, 'mutations', { setAsideAt: null }),
  },
  {
    breaks: 'reservations fit the status',
    by: 'a pending event that names a run',
    given: prepared,
    broken: (rows) => change(rows, 'events', { status: 'pending' }),
  },
  {
    breaks: 'reservations fit the status',
    by: 'a consumed event that names none',
    given: committed,
    broken: (rows) => change(rows, 'events', { reservedByRunId: null }),
  },
  {
    breaks: 'consumed by a committed run',
    by: 'an event consumed by a run that stopped',
    given: (world) => failedAfter(world, 'crashed'),
    broken: (rows) => change(rows, 'events', { status: 'consumed' }),
  },
  {
    breaks: 'one effect an event',
    by: 'two calls for one event that were both applied',
    given: repeated,
    broken: (rows) => change(rows, 'mutations', { status: 'applied' }, 'mut_00001'),
  },
  {
    breaks: 'one effect an event',
    by: 'a call for an event whose other call is unknown',
    given: repeated,
    broken: (rows) => change(rows, 'mutations', { status: 'indeterminate' }, 'mut_00001'),
  },
  {
    breaks: 'open calls hold their events',
    by: 'an open call whose event went back to its topic',
    given: unknown,
    broken: (rows) => change(rows, 'events', { status: 'pending', reservedByRunId: null }),
  },
  {
    breaks: 'open calls hold their events',
    by: 'an open call whose event is reserved for nobody',
    given: unknown,
    broken: (rows) => change(rows, 'events', { reservedByRunId: null }),
  },
  {
    breaks: 'calls in flight have their run',
    by: 'a call in flight whose run stopped',
    given: unknown,
    broken: (rows) => change(rows, 'mutations', { status: 'in_flight' }),
  },
  {
    breaks: 'calls in flight have their run',
    by: 'an open question of an active run',
    given: emitting,
    broken: (rows) => change(rows, 'mutations', { status: 'needs_reconcile' }),
  },
  {
    breaks: 'open questions are pointed at',
    by: 'a question that nothing points at',
    given: unknown,
    broken: (rows) => change(rows, 'workflows', { pendingRetryRunId: null }),
  },
  {
    breaks: 'the pointer names a run that waits',
    by: 'a pointer at a run that is not there',
    given: published,
    broken: (rows) => change(rows, 'workflows', { pendingRetryRunId: 'run_00009' }),
  },
  {
    breaks: 'the pointer names a run that waits',
    by: 'a pointer at a run of another workflow',
    given: (world) => failedAfter(world, 'crashed'),
    broken: (rows) => change(rows, 'runs', { workflowId: 'wf_00009' }),
  },
  {
    breaks: 'the pointer names a run that waits',
    by: 'a pointer at an active run',
    given: emitting,
    broken: (rows) => change(rows, 'workflows', { pendingRetryRunId: 'run_00001' }),
  },
  {
    breaks: 'the pointer names a run that waits',
    by: 'a pointer at a run that was retried',
    given: retried,
    broken: (rows) => change(rows, 'workflows', { pendingRetryRunId: 'run_00001' }),
  },
  {
    breaks: 'the pointer names a run that waits',
    by: 'a pointer at a run before its boundary',
    given: (world) => preparing(world).then((stage) => stop(world, stage, 'crashed')),
    broken: (rows) => change(rows, 'workflows', { pendingRetryRunId: 'run_00001' }),
  },
  {
    breaks: 'set-aside calls wait',
    by: 'a set-aside call whose run is committed',
    given: aside,
    broken: (rows) => change(rows, 'runs', { status: 'committed' }),
  },
  {
    breaks: 'set-aside calls wait',
    by: 'a set-aside call that is the pending retry too',
    given: aside,
    broken: (rows) => change(rows, 'workflows', { pendingRetryRunId: 'run_00001' }),
  },
  {
    breaks: 'set-aside calls wait',
    by: 'a set-aside call that was never sent',
    given: aside,
    broken: (rows) => change(rows, 'mutations', { status: 'pending' }),
  },
  {
    breaks: 'set-aside calls wait',
    by: 'a set-aside call that did not happen',
    given: aside,
    broken: (rows) => change(rows, 'mutations', { status: 'failed', resolvedBy: 'reconcile' }),
  },
  {
    breaks: 'hold unknown follows the ledger',
    by: 'a question without its hold',
    given: unknown,
    broken: (rows) => change(rows, 'workflows', { holds: [], status: 'active' }),
  },
  {
    breaks: 'hold unknown follows the ledger',
    by: 'a hold without a question',
    given: published,
    broken: (rows) => change(rows, 'workflows', { holds: ['unknown'], status: 'paused' }),
  },
  {
    breaks: 'hold approval follows what waits',
    by: 'a call that waits without its hold',
    given: awaitingApproval,
    broken: (rows) => change(rows, 'workflows', { holds: [], status: 'active' }),
  },
  {
    breaks: 'hold approval follows what waits',
    by: 'a missing grant without its hold',
    given: published,
    broken: (rows) => change(rows, 'workflows', { grantMissing: true }),
  },
  {
    breaks: 'status follows holds',
    by: 'an active workflow on hold',
    given: published,
    broken: (rows) => change(rows, 'workflows', { holds: ['user'] }),
  },
  {
    breaks: 'status follows holds',
    by: 'a hold on an archived workflow',
    given: published,
    broken: (rows) => change(rows, 'workflows', { holds: ['user'], status: 'archived' }),
  },
  {
    breaks: 'active runs are in a live session',
    by: 'an active run in a session that ended',
    given: preparing,
    broken: (rows) => change(rows, 'sessions', { endTimestamp: 1 }),
  },
  {
    breaks: 'active runs are in a live session',
    by: 'an active run without a session',
    given: preparing,
    broken: (rows) => change(rows, 'runs', { scriptRunId: 'ses_00009' }),
  },
  {
    breaks: 'active runs are in a live session',
    by: 'an active run whose execution is over',
    given: preparing,
    broken: (rows) => change(rows, 'executions', { status: 'failed' }),
  },
  {
    breaks: 'sessions and executions run together',
    by: 'a running execution without a session',
    given: preparing,
    broken: (rows) => change(rows, 'sessions', { endTimestamp: 1 }),
  },
  {
    breaks: 'sessions and executions run together',
    by: 'an open session without a running execution',
    given: preparing,
    broken: (rows) => change(rows, 'executions', { status: 'completed' }),
  },
  {
    breaks: 'commits are whole',
    by: 'a run committed in phase only',
    given: emitting,
    broken: (rows) => change(rows, 'runs', { phase: 'committed' }),
  },
  {
    breaks: 'commits are whole',
    by: 'a committed run that left an event reserved',
    given: committed,
    broken: (rows) => change(rows, 'events', { status: 'reserved' }),
  },
  {
    breaks: 'outcomes agree with the ledger',
    by: 'a run that does not know its call was applied',
    given: emitting,
    broken: (rows) => change(rows, 'runs', { mutationOutcome: '' }),
  },
  {
    breaks: 'outcomes agree with the ledger',
    by: 'a run that knows the end of an open call',
    given: unknown,
    broken: (rows) => change(rows, 'runs', { mutationOutcome: 'failure' }),
  },
  {
    breaks: 'chains are chains',
    by: 'a first run that is not the root of its chain',
    given: preparing,
    broken: (rows) => change(rows, 'runs', { attempt: 1 }),
  },
  {
    breaks: 'chains are chains',
    by: 'a retry out of its place',
    given: retried,
    broken: (rows) => change(rows, 'runs', { attempt: 2 }, 'run_00002'),
  },
  {
    breaks: 'chains are chains',
    by: 'a retry of another handler',
    given: retried,
    broken: (rows) => change(rows, 'runs', { handlerName: 'ship' }, 'run_00002'),
  },
  {
    breaks: 'sessions count their commits',
    by: 'a session that counts a run too many',
    given: published,
    broken: (rows) => rows.sessions.put('ses_00001', sessionThatCounts(1)),
  },
  {
    breaks: 'rows are of one workflow',
    by: 'a run of another workflow than its session',
    given: committed,
    broken: (rows) => change(rows, 'sessions', { workflowId: 'wf_00009' }),
  },
  {
    breaks: 'rows are of one workflow',
    by: 'a run of a version that there is not',
    given: committed,
    broken: (rows) => change(rows, 'runs', { scriptId: 'scr_00009' }),
  },
  {
    breaks: 'rows are of one workflow',
    by: 'a call of another chain than its run',
    given: committed,
    broken: (rows) => change(rows, 'mutations', { rootRunId: 'run_00009' }),
  },
  {
    breaks: 'rows are of one workflow',
    by: 'an event of a workflow that there is not',
    given: published,
    broken: (rows) => change(rows, 'events', { workflowId: 'wf_00009' }),
  },
  {
    breaks: 'maintenance is about a failed run',
    by: 'maintenance without a run',
    given: published,
    broken: (rows) => change(rows, 'workflows', { maintenance: true }),
  },
  {
    breaks: 'maintenance is about a failed run',
    by: 'maintenance about a run that crashed',
    given: failing,
    broken: (rows) => change(rows, 'runs', { status: 'crashed' }),
  },
  {
    breaks: 'nothing ready is forgotten',
    by: 'a retry that nobody will look at',
    given: (world) => failedAfter(world, 'crashed'),
    broken: (rows) => change(rows, 'workflows', { dueAt: null }),
  },
  {
    breaks: 'nothing ready is forgotten',
    by: 'an answered retry that nobody will look at',
    given: async (world) => sayDone(world, (await unknown(world)).mutation),
    broken: (rows) => change(rows, 'workflows', { dueAt: null }),
  },
];

function sessionThatCounts(handlerRunCount: number) {
  return {
    id: 'ses_00001',
    executionId: 'exe_00001',
    scriptId: 'scr_00001',
    workflowId: 'wf_00001',
    trigger: 'event',
    result: 'completed',
    error: null,
    cost: 0,
    handlerRunCount,
    startTimestamp: 0,
    endTimestamp: 1,
  } as never;
}

for (const { breaks, by, given, broken } of CASES) {
  test(`"${breaks}" finds ${by}`, () =>
    inWorld('memory', async (world) => {
      await given(world);
      const rows = world.rows.copy();
      broken(rows);
      const invariant = INVARIANTS.find(({ name }) => name === breaks);
      assert.ok(invariant, `there is no invariant named ${breaks}`);
      assert.equal(invariant.offenders(rows).length > 0, true);
    }));
}

test('"nothing ready is forgotten" does not mind a retry that is not ready', () =>
  inWorld('memory', async (world) => {
    await unknown(world);
    const rows = world.rows.copy();
    change(rows, 'workflows', { status: 'active', holds: [], dueAt: null });
    const invariant = INVARIANTS.find(({ name }) => name === 'nothing ready is forgotten');
    assert.deepEqual(invariant?.offenders(rows), []);
  }));

test('every invariant has a case that breaks it, and a sentence that says what it means', () => {
  const covered = new Set(CASES.map(({ breaks }) => breaks));
  assert.deepEqual(
    INVARIANTS.map(({ name }) => name).filter((name) => !covered.has(name)),
    [],
  );
  for (const { says } of INVARIANTS) assert.match(says, /^[A-Z].*\.$/);
});
