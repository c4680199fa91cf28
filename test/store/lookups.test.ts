import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryId, ExecutionId, IdSource, InputId, MutationId, TaskId, WorkerId, WorkflowId } from '#base';
import { applyWrite, Draft, type LookupName, type Lookups, Rows, type Write } from '#model';
import type { Unit } from '#store';
import {
  AT,
  allowance,
  awaiting,
  consumerRun,
  delivery,
  EXE,
  event,
  evidence,
  evt,
  execution,
  grant,
  handlerState,
  input,
  MUT,
  message,
  mutation,
  notice,
  producerRun,
  RUN,
  request,
  run,
  SCRIPT,
  SES,
  script,
  secret,
  session,
  TOKEN,
  task,
  token,
  unknown,
  WF,
  WORKER,
  workflow,
} from './rows.ts';
import { AT_WORK, openAnyWorld, type StoreWorld } from './world.ts';

const OTHER = 'wf_2' as WorkflowId;
const NOBODY = 'wf_404' as WorkflowId;

/** Two workflows with something of everything, so that each lookup has rows to find and rows to leave alone. */
const WORLD: readonly Write[] = [
  ...AT_WORK,
  {
    set: 'workflow.created',
    row: workflow({
      id: OTHER,
      name: 'mail',
      status: 'error',
      holds: ['connection'],
      heldConnections: ['mail', 'shop'],
    }),
  },
  { set: 'script.added', row: script({ id: 'scr_2' as never, minor: 1 }), code: '', manifest: '{}' },
  { set: 'script.added', row: script({ id: 'scr_3' as never, workflowId: OTHER }), code: '', manifest: '{}' },
  { set: 'execution.requested', row: execution({ id: 'exe_2' as ExecutionId }) },
  {
    set: 'execution.requested',
    row: execution({ id: 'exe_3' as ExecutionId, workflowId: OTHER, status: 'failed', endedAt: AT }),
  },
  {
    set: 'execution.requested',
    row: execution({ id: 'exe_4' as ExecutionId, workflowId: OTHER, status: 'scheduled', epoch: 3 }),
  },
  {
    set: 'session.created',
    row: session({
      id: 'ses_2' as never,
      executionId: 'exe_3' as ExecutionId,
      workflowId: OTHER,
      result: 'completed',
      endTimestamp: AT,
    }),
  },
  { set: 'run.created', row: consumerRun({ id: run(2), rootRunId: run(2), status: 'crashed', endTimestamp: AT }) },
  {
    set: 'run.created',
    row: consumerRun({
      id: run(3),
      rootRunId: run(2),
      retryOf: run(2),
      attempt: 1,
      phase: 'emitting',
      status: 'paused:transient',
      endTimestamp: AT,
    }),
  },
  {
    set: 'run.created',
    row: consumerRun({ id: run(4), rootRunId: run(4), workflowId: OTHER, status: 'failed:logic', endTimestamp: AT }),
  },
  { set: 'run.created', row: consumerRun({ id: run(5), rootRunId: run(5), workflowId: OTHER }) },
  { set: 'event.published', row: event({ id: evt(4), topic: 'booked', pendingSeq: 9 }) },
  { set: 'event.published', row: event({ id: evt(5), topic: 'booked', pendingSeq: 8 }) },
  { set: 'event.published', row: event({ id: evt(6), topic: 'gone', pendingSeq: 2 }) },
  { set: 'event.published', row: event({ id: evt(7), topic: 'parked', pendingSeq: 3 }) },
  { set: 'event.parked', event: evt(7) },
  { set: 'event.published', row: event({ id: evt(8), workflowId: OTHER, messageId: 'evt_1' }) },
  { set: 'event.published', row: event({ id: evt(9), workflowId: OTHER }) },
  { set: 'events.reserved', run: RUN, events: [evt(1), evt(3)] },
  { set: 'events.reserved', run: run(5), events: [evt(9)] },
  { set: 'input.registered', row: input() },
  { set: 'input.registered', row: input({ id: 'inp_2' as InputId }) },
  { set: 'event.caused', event: evt(1), inputs: [input().id, 'inp_2' as InputId] },
  { set: 'event.caused', event: evt(2), inputs: [input().id] },
  { set: 'mutation.recorded', row: mutation() },
  {
    set: 'mutation.recorded',
    row: unknown({
      id: 'mut_2' as MutationId,
      rootRunId: run(2),
      handlerRunId: run(2),
      setAsideAt: AT,
      reconcileOwner: WORKER,
      reconcileUntil: AT,
      eventIds: [evt(1), evt(2)],
    }),
  },
  {
    set: 'mutation.recorded',
    row: mutation({
      id: 'mut_3' as MutationId,
      rootRunId: run(4),
      handlerRunId: run(4),
      workflowId: OTHER,
      status: 'applied',
      result: '{}',
      resolvedBy: 'provider',
      resolvedAt: AT,
      firstEventId: evt(8),
    }),
  },
  {
    set: 'mutation.recorded',
    row: awaiting({
      id: 'mut_4' as MutationId,
      rootRunId: run(5),
      handlerRunId: run(5),
      workflowId: OTHER,
      firstEventId: evt(9),
    }),
  },
  { set: 'handler.kept', row: handlerState() },
  { set: 'handler.kept', row: handlerState({ handlerName: 'poll', nextAt: AT, repaired: true }) },
  { set: 'handler.kept', row: handlerState({ workflowId: OTHER }) },
  { set: 'delivery.accepted', row: delivery({ id: 'dlv_1' as DeliveryId }) },
  { set: 'delivery.done', delivery: 'dlv_1' as DeliveryId, run: RUN },
  { set: 'delivery.accepted', row: delivery({ id: 'dlv_2' as DeliveryId }) },
  { set: 'delivery.accepted', row: delivery({ id: 'dlv_3' as DeliveryId }) },
  { set: 'delivery.accepted', row: delivery({ id: 'dlv_4' as DeliveryId }) },
  { set: 'task.opened', row: task() },
  { set: 'evidence.recorded', row: evidence({ mutationId: MUT }) },
  { set: 'task.opened', row: task({ id: 'tsk_2' as TaskId, kind: 'evidence' }) },
  {
    set: 'task.opened',
    row: task({ id: 'tsk_3' as TaskId, runId: run(2), status: 'closed', closedAt: AT, closedBy: 'ada' }),
  },
  { set: 'connection.created', row: { name: 'shop', version: 4, refusedAt: null, refusedReason: null } },
  { set: 'token.created', row: token() },
  { set: 'secret.created', row: secret() },
  { set: 'grant.given', row: grant() },
  { set: 'grant.given', row: grant({ method: 'put' }) },
  { set: 'allowance.given', row: allowance() },
  { set: 'permission.asked', row: request({ id: 'req_0' as never }) },
  { set: 'permission.answered', request: 'req_0' as never, answer: 'replaced', at: AT, by: 'ada' },
  { set: 'permission.asked', row: request() },
  { set: 'limit.set', row: { name: 'pool:heavy', slotsMax: 2, setAt: AT } },
  { set: 'slot.taken', row: { limitName: 'pool:heavy', executionId: EXE } },
  { set: 'notice.opened', row: notice() },
  { set: 'notice.opened', row: notice({ id: 'ntc_2' as never, channel: 'desk' }) },
  { set: 'message.sent', row: message() },
  {
    set: 'run.created',
    row: producerRun({
      id: run(6),
      rootRunId: run(6),
      deliveryId: 'dlv_2' as DeliveryId,
      status: 'crashed',
      endTimestamp: AT,
    }),
  },
  { set: 'event.published', row: event({ id: evt('a'), publishedByRunId: RUN }) },
  { set: 'event.published', row: event({ id: evt('b'), redoOf: evt(8) }) },
  // Of these only the keys are left.
  { set: 'event.published', row: event({ id: evt('c'), messageId: 'past' }) },
  { set: 'event.skipped', event: evt('c'), from: 'pending' },
  { set: 'events.remembered', events: [evt('c')] },
  { set: 'events.removed', events: [evt('c')] },
  { set: 'delivery.accepted', row: delivery({ id: 'dlv_5' as DeliveryId, deliveryId: 'past' }) },
  { set: 'delivery.done', delivery: 'dlv_5' as DeliveryId, run: RUN },
  { set: 'deliveries.remembered', deliveries: ['dlv_5' as DeliveryId] },
  { set: 'deliveries.removed', deliveries: ['dlv_5' as DeliveryId] },
];

/** What to ask of each lookup: always something that is there, mostly also something that is not. */
const QUESTIONS: { readonly [N in LookupName]: readonly Lookups[N]['by'][] } = {
  workflow: [[WF], [OTHER], [NOBODY]],
  workflowNamed: [['orders'], ['nobody']],
  workflowsHeldBy: [['shop'], ['mail'], ['ma']],
  script: [[SCRIPT], ['scr_404' as never]],
  scriptsOf: [[WF], [OTHER], [NOBODY]],
  execution: [[EXE], ['exe_404' as ExecutionId]],
  openExecutions: [[WF], [OTHER], [NOBODY]],
  limit: [['pool:heavy'], ['pool:none']],
  slotsOf: [['pool:heavy'], ['pool:none']],
  session: [[SES], ['ses_404' as never]],
  openSession: [[WF], [OTHER]],
  run: [[RUN], [run(3)], [run(404)]],
  activeRun: [[WF], [OTHER], [NOBODY]],
  lastRun: [[RUN], [run(2)], [run(404)]],
  mutation: [[MUT], ['mut_404' as MutationId]],
  ledger: [[RUN], [run(2)], [run(404)]],
  openLedger: [[WF], [OTHER], [NOBODY]],
  ledgerOfEvent: [[evt(1)], [evt(2)]],
  lookUpsOf: [[WORKER], ['wrk_404' as WorkerId]],
  evidenceOf: [[MUT], ['mut_404' as MutationId]],
  event: [[evt(1)], [evt(404)]],
  eventKeyed: [
    [WF, 'placed', 'evt_1'],
    [OTHER, 'placed', 'evt_1'],
    [WF, 'booked', 'evt_1'],
    [WF, 'placed', 'past'],
    [OTHER, 'placed', 'past'],
  ],
  reserved: [[RUN], [run(2)], [run(404)]],
  anyReserved: [[WF], [OTHER], [NOBODY]],
  heads: [[WF], [OTHER], [NOBODY]],
  inputKeyed: [
    [WF, 'shop', 'order', 'inp_2'],
    [OTHER, 'shop', 'order', 'inp_2'],
  ],
  inputsOf: [[evt(1)], [evt(2)], [evt(3)]],
  handlerStates: [[WF], [OTHER], [NOBODY]],
  delivery: [[delivery().id], ['dlv_404' as DeliveryId]],
  deliveryKeyed: [
    [WF, 'hook', 'dlv_2'],
    [WF, 'other', 'dlv_2'],
    [WF, 'hook', 'past'],
    [OTHER, 'hook', 'past'],
  ],
  oldestDelivery: [[WF], [OTHER]],
  deliveriesTo: [
    [WF, 'hook'],
    [WF, 'other'],
    [OTHER, 'hook'],
  ],
  task: [[task().id], ['tsk_404' as TaskId]],
  openTasks: [[WF], [OTHER]],
  worker: [[WORKER], ['wrk_404' as never]],
  connection: [['shop'], ['mail']],
  token: [[TOKEN], ['tok_404' as never]],
  tokenHashed: [['f'.repeat(64)], ['0'.repeat(64)]],
  secret: [['shop'], ['mail']],
  grantsOf: [[WF], [OTHER]],
  permissionRequest: [[request().id], ['req_404' as never]],
  openRequests: [[WF], [OTHER]],
  notice: [[notice().id], ['ntc_404' as never]],
  noticesOf: [['unknown mut_1'], ['unknown mut_2']],
  chain: [
    [WF, run(2)],
    [WF, run(3)],
  ],
  takenBy: [
    [WF, RUN],
    [WF, run(2)],
  ],
  publishedBy: [
    [WF, RUN],
    [WF, run(404)],
  ],
  redosOf: [
    [WF, evt(8)],
    [WF, evt(9)],
  ],
  runsOfDelivery: [
    [WF, 'dlv_2' as DeliveryId],
    [WF, 'dlv_3' as DeliveryId],
  ],
  runsOfSession: [
    [WF, SES],
    [WF, 'ses_2' as never],
  ],
  sessionsOf: [
    [WF, EXE],
    [WF, 'exe_4' as ExecutionId],
  ],
  messagesOf: [
    [WF, EXE],
    [WF, 'exe_4' as ExecutionId],
  ],
  inputNamed: [
    [WF, input().id],
    [WF, 'inp_404' as InputId],
  ],
  causedBy: [
    [WF, input().id],
    [WF, 'inp_404' as InputId],
  ],
  allowancesOf: [[WF], [OTHER]],
};

/** Where a store need not give everything that matches, what it must give at least, and may give at most. */
const ENOUGH: { readonly [N in LookupName]?: (draft: Draft, by: Lookups[N]['by']) => readonly object[] } = {
  lastRun: (draft, [root]) => listed(draft.lastRunOf(root)),
  anyReserved: (draft, [workflow]) => draft.find('anyReserved', workflow).slice(0, 1),
  oldestDelivery: (draft, [workflow]) => draft.find('oldestDelivery', workflow).sort(byId).slice(0, 2),
  deliveriesTo: (draft, by) =>
    draft
      .find('deliveriesTo', ...by)
      .sort(byId)
      .slice(0, 2),
  heads: (draft, [id]) => listed(draft.one('workflow', id)).flatMap((found) => draft.headsOf(found)),
};

const NO_IDS: IdSource = {
  next: () => {
    throw new Error('a lookup makes no ids');
  },
};

for (const name of Object.keys(QUESTIONS) as LookupName[]) {
  test(`${name} finds in the database what it finds in memory`, async (t) => {
    const { reader, store } = await openAnyWorld(t, ...WORLD);
    const rows = new Rows();
    for (const write of WORLD) applyWrite(rows, write);
    let found = 0;
    for (const by of QUESTIONS[name]) {
      const expected = expectedRows(new Draft(AT, NO_IDS, null, rows), name, by);
      const actual = await reader.fetch(name, ...(by as [never, never, never, never]));
      assert.deepEqual(sorted(actual), sorted(expected), by.join(' '));
      assert.deepEqual(sorted(await fetched(store, name, by)), sorted(expected), `by the store: ${by.join(' ')}`);
      found += expected.length;
    }
    assert.ok(found > 0, 'a question nobody has an answer to proves nothing');
  });
}

/** As a rule asks it, on the connection that writes. */
async function fetched(
  store: StoreWorld['store'],
  name: LookupName,
  by: Lookups[LookupName]['by'],
): Promise<readonly object[]> {
  let rows: readonly object[] = [];
  const asks: Unit = {
    decide: (source) => {
      rows = source.fetch(name, ...(by as [never, never, never, never]));
      return [];
    },
  };
  await store.commit([asks]);
  return rows;
}

function expectedRows(draft: Draft, name: LookupName, by: Lookups[LookupName]['by']): readonly object[] {
  const enough = ENOUGH[name] as ((draft: Draft, by: unknown) => readonly object[]) | undefined;
  return enough ? enough(draft, by) : draft.find(name, ...(by as [never, never, never, never]));
}

function listed<R>(row: R | undefined): R[] {
  return row === undefined ? [] : [row];
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

function sorted(rows: readonly object[]): object[] {
  return [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
