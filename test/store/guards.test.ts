import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RunId, WorkflowId } from '#base';
import {
  CONSUMER_PHASE_STEPS,
  type ConsumerPhase,
  EVENT_STEPS,
  EXECUTION_STEPS,
  isStep,
  MUTATION_STEPS,
  RUN_STATUS_STEPS,
  type RunStatus,
  WORKFLOW_STATUS_STEPS,
  type Write,
} from '#model';
import {
  AT,
  allowance,
  awaiting,
  consumerRun,
  delivery,
  event,
  evidence,
  evt,
  execution,
  grant,
  handlerState,
  input,
  message,
  mutation,
  notice,
  producerRun,
  RUN,
  request,
  run,
  secret,
  session,
  task,
  token,
  unknown,
  WORKER,
  workflow,
} from './rows.ts';
import { AT_WORK, commit, IS_POSTGRES, openAnyWorld, type Rogue, RUNNING } from './world.ts';

/** Every table's words and steps, tried on the database itself by somebody who does not ask the model. */

type Fields = Readonly<Record<string, unknown>>;

function update(rogue: Rogue, table: string, id: string, fields: Fields): Promise<void> {
  const names = Object.keys(fields);
  const set = names.map((name) => `${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} = ?`).join(', ');
  const values = names.map((name) => fields[name] as string | number | null);
  return rogue.run(`UPDATE ${table} SET ${set} WHERE id = ?`, ...values, id);
}

/** Whether a change is accepted; it is undone either way. A refusal must come from a guard, not by accident from a CHECK. */
async function isAccepted(rogue: Rogue, change: () => Promise<void>, says: RegExp): Promise<boolean> {
  await rogue.run('BEGIN');
  try {
    await change();
    return true;
  } catch (error) {
    assert.match((error as Error).message, says);
    return false;
  } finally {
    await rogue.run('ROLLBACK');
  }
}

interface Steps {
  readonly table: string;
  readonly steps: Readonly<Record<string, readonly string[]>>;
  /** A row that is wholly in that state. */
  readonly rowIn: (status: string) => { readonly id: string };
  readonly insert: (row: never) => Write;
  /** The columns that belong to the state. */
  readonly fields: readonly string[];
  readonly given: readonly Write[];
  readonly says: RegExp;
  /** A row in an end state may still be written with the same word: workflows are put right by other columns. */
  readonly mayStayAtEnd?: true;
}

const eventIn = (status: string) =>
  event({
    id: evt('x'),
    status: status as never,
    reservedByRunId: status === 'reserved' || status === 'consumed' ? RUN : null,
  });

const executionIn = (status: string) =>
  execution({
    id: 'exe_x' as never,
    status: status as never,
    owner: status === 'running' ? WORKER : null,
    startedAt: status === 'running' ? AT : null,
    schedulingUntil: status === 'scheduling' ? AT : null,
    endedAt: EXECUTION_STEPS[status as keyof typeof EXECUTION_STEPS].length === 0 ? AT : null,
  });

const mutationIn = (status: string) => {
  const id = 'mut_x' as never;
  if (status === 'pending') return awaiting({ id, callDeadline: null });
  if (status === 'needs_reconcile') return unknown({ id });
  if (status === 'applied' || status === 'failed') {
    return mutation({ id, status, resolvedBy: 'provider', resolvedAt: AT });
  }
  return mutation({ id, status: status as never });
};

const workflowIn = (status: string) =>
  workflow({
    id: 'wf_x' as WorkflowId,
    name: 'x',
    status: status as never,
    holds: status === 'paused' ? ['user'] : status === 'error' ? ['error'] : [],
  });

/** The workflow has no execution of its own, so that only the steps are in the way. */
const IDLE: readonly Write[] = RUNNING.filter(({ set }) => !/^(execution|session)\./.test(set));

const STEPS: readonly Steps[] = [
  {
    table: 'events',
    steps: EVENT_STEPS,
    rowIn: eventIn,
    insert: (row) => ({ set: 'event.published', row }),
    fields: ['status', 'reservedByRunId'],
    given: AT_WORK,
    says: /an event cannot take this step/,
  },
  {
    table: 'executions',
    steps: EXECUTION_STEPS,
    rowIn: executionIn,
    insert: (row) => ({ set: 'execution.requested', row }),
    fields: ['status', 'owner', 'startedAt', 'schedulingUntil', 'endedAt'],
    given: IDLE,
    says: /an execution cannot take this step/,
  },
  {
    table: 'mutations',
    steps: MUTATION_STEPS,
    rowIn: mutationIn,
    insert: (row) => ({ set: 'mutation.recorded', row }),
    fields: ['status', 'callDeadline', 'reconcileAt', 'resolvedBy', 'resolvedAt'],
    given: AT_WORK,
    says: /a mutation cannot take this step/,
  },
  {
    table: 'workflows',
    steps: WORKFLOW_STATUS_STEPS,
    rowIn: workflowIn,
    insert: (row) => ({ set: 'workflow.created', row }),
    fields: ['status', 'holds'],
    given: [],
    says: /a workflow cannot take this step/,
    mayStayAtEnd: true,
  },
];

for (const { table, steps, rowIn, insert, fields, given, says, mayStayAtEnd } of STEPS) {
  const states = Object.keys(steps);
  for (const from of states) {
    test(`of ${table}, ${from} becomes only what the table of steps says, whoever writes`, async (t) => {
      const { rogue } = await openAnyWorld(t, ...given, insert(rowIn(from) as never));
      for (const to of states) {
        const row = rowIn(to) as unknown as Record<string, unknown>;
        const next = Object.fromEntries(fields.map((field) => [field, asSql(row[field])]));
        const accepted = await isAccepted(rogue, () => update(rogue, table, rowIn(from).id, next), says);
        const mayStay = from === to && (mayStayAtEnd === true || steps[from]?.length !== 0);
        assert.equal(accepted, mayStay || steps[from]?.includes(to) === true, `${from} to ${to}`);
      }
    });
  }
}

function asSql(value: unknown): unknown {
  return Array.isArray(value) ? value.join(' ') : value;
}

const STATUSES = Object.keys(RUN_STATUS_STEPS) as RunStatus[];
const PHASES = Object.keys(CONSUMER_PHASE_STEPS) as ConsumerPhase[];
const RUN_STATES = STATUSES.flatMap((status) => PHASES.map((phase) => ({ status, phase }))).filter(
  ({ status, phase }) => (status === 'committed') === (phase === 'committed'),
);

for (const from of RUN_STATES) {
  test(`a consumer's run that is ${from.status} at ${from.phase} takes only legal steps, whoever writes`, async (t) => {
    const endTimestamp = from.status === 'active' ? null : AT;
    const { rogue } = await openAnyWorld(t, ...RUNNING, {
      set: 'run.created',
      row: consumerRun({ ...from, endTimestamp }),
    });
    const says = /a run moves one phase at a time/;
    for (const to of RUN_STATES) {
      const next = { ...to, endTimestamp: to.status === 'active' ? null : AT };
      const accepted = await isAccepted(rogue, () => update(rogue, 'handler_runs', RUN, next), says);
      assert.equal(accepted, isLegal(from, to), `to ${to.status} at ${to.phase}`);
    }
  });
}

/** The rules in words: phases only while active, one at a time; a stop keeps the phase; an operator commits a stopped run. */
function isLegal(from: (typeof RUN_STATES)[number], to: (typeof RUN_STATES)[number]): boolean {
  const step = isStep<ConsumerPhase>(CONSUMER_PHASE_STEPS, from.phase, to.phase);
  if (from.status === 'committed') return false;
  if (to.status === 'committed') return from.status !== 'active' || step;
  if (from.status === to.status) return from.phase === to.phase || (from.status === 'active' && step);
  return from.status === 'active' && from.phase === to.phase;
}

test('a run takes several steps at once only where its row shows what each of them leaves behind', async (t) => {
  const { rogue } = await openAnyWorld(t, ...RUNNING, { set: 'run.created', row: consumerRun() });
  const says = /one phase at a time/;
  await assert.rejects(update(rogue, 'handler_runs', RUN, { phase: 'mutating' }), says);
  await update(rogue, 'handler_runs', RUN, { phase: 'mutating', prepareResult: '{}' });
  const end = { phase: 'committed', status: 'committed', endTimestamp: AT };
  await assert.rejects(update(rogue, 'handler_runs', RUN, end), says);
  await assert.rejects(update(rogue, 'handler_runs', RUN, { ...end, mutationOutcome: 'failure' }), says);
  await update(rogue, 'handler_runs', RUN, { ...end, mutationOutcome: 'success' });
});

test('a producer goes from executing to committed and nowhere else', async (t) => {
  const { rogue } = await openAnyWorld(t, ...RUNNING, { set: 'run.created', row: producerRun() });
  await assert.rejects(update(rogue, 'handler_runs', RUN, { phase: 'prepared' }), /one phase at a time/);
  await update(rogue, 'handler_runs', RUN, { phase: 'committed', status: 'committed', endTimestamp: AT });
  await assert.rejects(
    update(rogue, 'handler_runs', RUN, { mutationOutcome: 'success' }),
    /never changes once it is committed/,
  );
});

const APPLIED = mutation({ status: 'applied', result: '{}', resolvedBy: 'provider', resolvedAt: AT });

test('an answered mutation keeps its answer; only whether it is set aside may change', async (t) => {
  const { rogue } = await openAnyWorld(t, ...AT_WORK, { set: 'mutation.recorded', row: APPLIED });
  for (const change of [{ result: '{"other":1}' }, { resolvedBy: 'user_skip' }, { resolvedAt: 1 }, { error: 'no' }]) {
    await assert.rejects(update(rogue, 'mutations', APPLIED.id, change), /an answer never changes/);
  }
  await update(rogue, 'mutations', APPLIED.id, { setAsideAt: AT });
  await update(rogue, 'mutations', APPLIED.id, { setAsideAt: null });
});

test('a session that has ended changes only its count and cost', async (t) => {
  const ended = session({ result: 'failed', error: 'no', endTimestamp: AT });
  const { rogue } = await openAnyWorld(t, ...RUNNING.slice(0, -1), { set: 'session.created', row: ended });
  const refused = { result: 'completed', error: null };
  await assert.rejects(update(rogue, 'script_runs', ended.id, refused), /changes only its count and cost/);
  await assert.rejects(update(rogue, 'script_runs', ended.id, { endTimestamp: 1 }), /changes only its count and cost/);
  await update(rogue, 'script_runs', ended.id, { handlerRunCount: 5, cost: 1.5 });
});

test('a payload changes only while its event is pending', async (t) => {
  const { rogue } = await openAnyWorld(t, ...AT_WORK, { set: 'events.reserved', run: RUN, events: [evt(1)] });
  await assert.rejects(update(rogue, 'events', evt(1), { payload: '{}' }), /only a pending event can be changed/);
  await update(rogue, 'events', evt(2), { payload: '{}' });
});

test('an epoch, and the version of a connection, only rise', async (t) => {
  const { store, rogue } = await openAnyWorld(t, ...RUNNING);
  await commit(store, {
    set: 'connection.created',
    row: { name: 'shop', version: 3, refusedAt: null, refusedReason: null },
  });
  await assert.rejects(update(rogue, 'executions', 'exe_1', { epoch: 0 }), /cannot take this step/);
  await assert.rejects(rogue.run('UPDATE connections SET version = 2'), /only rises/);
});

/** One row of each table, and a column of it that is fixed for its life. */
async function fullWorld(t: TestContext) {
  return openAnyWorld(
    t,
    ...AT_WORK,
    {
      set: 'enforcement.created',
      row: {
        id: 'enf_1' as never,
        workflowId: 'wf_1' as WorkflowId,
        executionId: 'exe_1' as never,
        trigger: 'event',
        createdAt: AT,
      },
    },
    { set: 'mutation.recorded', row: mutation() },
    { set: 'evidence.recorded', row: evidence() },
    { set: 'handler.kept', row: handlerState() },
    { set: 'input.registered', row: input() },
    { set: 'event.caused', event: evt(1), inputs: [input().id] },
    { set: 'delivery.accepted', row: delivery() },
    { set: 'message.sent', row: message() },
    { set: 'task.opened', row: task() },
    { set: 'connection.created', row: { name: 'shop', version: 1, refusedAt: null, refusedReason: null } },
    { set: 'audit.appended', at: AT, actor: 'ada', act: 'pause', subject: 'wf_1', detail: '' },
    { set: 'token.created', row: token() },
    { set: 'secret.created', row: secret() },
    { set: 'grant.given', row: grant() },
    { set: 'allowance.given', row: allowance() },
    { set: 'permission.asked', row: request() },
    { set: 'notice.opened', row: notice() },
    {
      set: 'approval.kept',
      row: { workflowId: 'wf_1' as WorkflowId, connection: 'shop', method: 'post', approvedAt: AT, approvedBy: 'ada' },
    },
    { set: 'event.published', row: event({ id: evt('p'), messageId: 'past', status: 'skipped' }) },
    { set: 'events.remembered', events: [evt('p')] },
    { set: 'deliveries.remembered', deliveries: [delivery().id] },
  );
}

const FIXED: Readonly<Record<string, string>> = {
  workflows: 'name',
  scripts: 'code',
  enforcements: 'trigger',
  executions: 'workflow_id',
  script_runs: 'execution_id',
  handler_runs: 'root_run_id',
  events: 'message_id',
  mutations: 'params',
  handler_states: 'handler_name',
  inputs: 'title',
  event_inputs: 'input_id',
  deliveries: 'body',
  maintenance_tasks: 'detail',
  workers: 'started_at',
  evidence: 'says',
  connections: 'name',
  audit_log: 'actor',
  tokens: 'hash',
  secrets: 'name',
  allowances: 'calls_max',
  permission_requests: 'asks',
  notices: 'case_key',
  pruned_events: 'status',
  pruned_deliveries: 'received_at',
  kept_approvals: 'approved_by',
};

/** What goes with the history it belongs to, and says nothing by itself. */
const OF_HISTORY = ['enforcements', 'inputs', 'event_inputs', 'evidence'];

for (const [table, column] of Object.entries(FIXED)) {
  test(`nobody deletes from ${table}, or rewrites what is fixed there`, async (t) => {
    const { rogue } = await fullWorld(t);
    if (!OF_HISTORY.includes(table)) await assert.rejects(rogue.run(`DELETE FROM ${table}`), /never deleted/);
    await assert.rejects(rogue.run(`UPDATE ${table} SET ${column} = ${column}`), /never change/);
  });
}

test('what a person has settled stays as it is', async (t) => {
  const { rogue } = await fullWorld(t);
  await rogue.run(`UPDATE tokens SET revoked_at = 1, revoked_by = 'ada'`);
  await assert.rejects(rogue.run('UPDATE tokens SET revoked_at = NULL, revoked_by = NULL'), /never changes/);
  await assert.rejects(rogue.run('UPDATE secrets SET box = NULL'), /only rises/);
  await assert.rejects(rogue.run(`UPDATE grants SET connection = 'x'`), /never change/);
  await rogue.run(`UPDATE permission_requests SET answer = 'refused', answered_at = 1, answered_by = 'ada'`);
  await assert.rejects(rogue.run(`UPDATE permission_requests SET answer = 'allowed'`), /never changes/);
  await rogue.run(`UPDATE notices SET status = 'sent', settled_at = 1`);
  await assert.rejects(rogue.run(`UPDATE notices SET status = 'due', settled_at = NULL`), /never changes/);
  await rogue.run('DELETE FROM grants');
});

test('messages are hints: they are deleted, but not rewritten', async (t) => {
  const { rogue } = await fullWorld(t);
  await assert.rejects(rogue.run('UPDATE messages SET epoch = 9'), /never change/);
  await rogue.run('DELETE FROM messages');
});

test('the store itself cannot replace a row past the guards', async (t) => {
  // PostgreSQL has no REPLACE.
  if (IS_POSTGRES) return;
  const { rogue } = await fullWorld(t);
  await rogue.run('PRAGMA recursive_triggers = 1');
  await assert.rejects(
    rogue.run(
      `REPLACE INTO workers (id, name, pool, version, concurrency, status, lease_until, started_at)
        VALUES ('wrk_1', 'x', 'x', 'x', 1, 'open', 1, 1)`,
    ),
    /never deleted|FOREIGN KEY/,
  );
});

test('a row that points at nothing is refused', async (t) => {
  const { store } = await openAnyWorld(t, ...AT_WORK);
  const nobody: readonly Write[] = [
    { set: 'events.reserved', run: run(404), events: [evt(1)] },
    { set: 'event.published', row: event({ id: evt(9), workflowId: 'wf_404' as WorkflowId }) },
    { set: 'workflow.retry', workflow: 'wf_1' as WorkflowId, from: null, to: 'run_404' as RunId },
  ];
  for (const write of nobody) await assert.rejects(commit(store, write), /foreign key/i);
});
