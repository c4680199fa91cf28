import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyWrite, Rows, type Write, type WriteName, type WriteOf } from '#model';
import { GuardError, type TableName } from '#store';
import {
  AT,
  allowance,
  awaiting,
  consumerRun,
  delivery,
  EXE,
  enforcement,
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
  worker,
  workflow,
} from './rows.ts';
import { AT_WORK, commit, openAnyWorld, RUNNING, type StoreWorld } from './world.ts';

interface Case<N extends WriteName> {
  readonly given: readonly Write[];
  readonly write: WriteOf<N>;
}

const CREATED: readonly Write[] = [{ set: 'workflow.created', row: workflow() }];
const LIMITED: readonly Write[] = [{ set: 'limit.set', row: { name: 'pool:heavy', slotsMax: 2, setAt: AT } }];
const RESERVED: readonly Write[] = [...AT_WORK, { set: 'events.reserved', run: RUN, events: [evt(1), evt(2)] }];
const STOPPED: readonly Write[] = [
  ...RESERVED,
  {
    set: 'run.stopped',
    run: RUN,
    status: 'crashed',
    error: 'the process died',
    errorType: null,
    suspects: [],
    cost: 0,
    at: AT + 1,
  },
];
const SENT: readonly Write[] = [...RESERVED, { set: 'mutation.recorded', row: mutation() }];
const ANSWER = { mutation: MUT, resolvedByName: null, callEndedAt: AT + 1, at: AT + 1 } as const;

const APPLIED: readonly Write[] = [
  ...SENT,
  { set: 'mutation.applied', ...ANSWER, from: 'in_flight', result: '{}', resolvedBy: 'provider' },
];
const SKIPPED: readonly Write[] = [
  ...AT_WORK,
  { set: 'event.skipped', event: evt(1), from: 'pending' },
  { set: 'event.skipped', event: evt(2), from: 'pending' },
];
const DELIVERED: readonly Write[] = [
  ...STOPPED,
  { set: 'delivery.accepted', row: delivery() },
  {
    set: 'run.created',
    row: producerRun({
      id: run(2),
      rootRunId: run(2),
      deliveryId: delivery().id,
      phase: 'committed',
      status: 'committed',
      endTimestamp: AT,
    }),
  },
  { set: 'delivery.done', delivery: delivery().id, run: run(2) },
];

/** Every write there is, on a world where it may happen. A new one does not compile until it is here. */
const CASES: { readonly [N in WriteName]: Case<N> } = {
  'workflow.created': {
    given: [],
    write: {
      set: 'workflow.created',
      row: workflow({
        status: 'error',
        holds: ['user', 'connection', 'error'],
        errorReason: 'why',
        heldConnections: ['mail', 'shop "1"'],
        quiet: true,
        dueAt: AT,
      }),
    },
  },
  'workflow.script': { given: RUNNING, write: { set: 'workflow.script', workflow: WF, from: SCRIPT, to: SCRIPT } },
  'workflow.standing': {
    given: CREATED,
    write: {
      set: 'workflow.standing',
      workflow: WF,
      from: 'active',
      to: 'error',
      holds: ['unknown', 'connection'],
      errorReason: null,
      heldConnections: ['shop'],
      grantMissing: true,
    },
  },
  'workflow.maintenance': {
    given: AT_WORK,
    write: { set: 'workflow.maintenance', workflow: WF, from: null, to: RUN },
  },
  'workflow.retry': { given: STOPPED, write: { set: 'workflow.retry', workflow: WF, from: null, to: RUN } },
  'workflow.seq': { given: CREATED, write: { set: 'workflow.seq', workflow: WF, from: 0, to: 1 } },
  'workflow.quiet': { given: CREATED, write: { set: 'workflow.quiet', workflow: WF, quiet: true } },
  'workflow.due': { given: CREATED, write: { set: 'workflow.due', workflow: WF, at: AT + 5 } },
  'script.added': {
    given: CREATED,
    write: { set: 'script.added', row: script(), code: 'export default {}', manifest: '{}' },
  },

  'enforcement.created': {
    given: [...CREATED, { set: 'execution.requested', row: execution() }],
    write: { set: 'enforcement.created', row: enforcement() },
  },
  'execution.requested': { given: CREATED, write: { set: 'execution.requested', row: execution() } },
  'execution.folded': {
    given: [...CREATED, { set: 'execution.requested', row: execution() }],
    write: { set: 'execution.folded', execution: EXE, from: 'event', to: 'manual' },
  },
  'execution.scheduling': {
    given: [...CREATED, { set: 'execution.requested', row: execution() }],
    write: { set: 'execution.scheduling', execution: EXE, until: AT + 15, slots: ['pool:heavy'] },
  },
  'execution.waits': {
    given: [...CREATED, { set: 'execution.requested', row: execution() }],
    write: { set: 'execution.waits', execution: EXE, for: 'pool:heavy' },
  },
  'limit.set': {
    given: [{ set: 'limit.set', row: { name: 'pool:heavy', slotsMax: 2, setAt: AT } }],
    write: { set: 'limit.set', row: { name: 'pool:heavy', slotsMax: null, setAt: AT + 1 } },
  },
  'slot.taken': {
    given: [...CREATED, { set: 'execution.requested', row: execution() }, ...LIMITED],
    write: { set: 'slot.taken', row: { limitName: 'pool:heavy', executionId: EXE } },
  },
  'slot.freed': {
    given: [
      ...CREATED,
      { set: 'execution.requested', row: execution() },
      ...LIMITED,
      { set: 'slot.taken', row: { limitName: 'pool:heavy', executionId: EXE } },
    ],
    write: { set: 'slot.freed', execution: EXE, limit: 'pool:heavy' },
  },
  'execution.returned': {
    given: [...CREATED, { set: 'execution.requested', row: execution({ status: 'scheduling', schedulingUntil: AT }) }],
    write: { set: 'execution.returned', execution: EXE },
  },
  'execution.scheduled': {
    given: [...CREATED, { set: 'execution.requested', row: execution({ status: 'scheduling', schedulingUntil: AT }) }],
    write: { set: 'execution.scheduled', execution: EXE, epoch: 1 },
  },
  'execution.running': {
    given: [
      ...CREATED,
      { set: 'worker.registered', row: worker() },
      { set: 'execution.requested', row: execution({ status: 'scheduled', epoch: 1 }) },
    ],
    write: { set: 'execution.running', execution: EXE, epoch: 1, owner: WORKER, at: AT },
  },
  'execution.fenced': { given: RUNNING, write: { set: 'execution.fenced', execution: EXE, from: 1, to: 2 } },
  'execution.ended': {
    given: RUNNING,
    write: { set: 'execution.ended', execution: EXE, from: 'running', to: 'abandoned', at: AT + 9 },
  },
  'execution.cancelRequested': {
    given: RUNNING,
    write: { set: 'execution.cancelRequested', execution: EXE, at: AT + 1, by: 'ada' },
  },
  'message.sent': { given: RUNNING, write: { set: 'message.sent', row: message() } },
  'message.deleted': {
    given: [...RUNNING, { set: 'message.sent', row: message() }],
    write: { set: 'message.deleted', message: message().id },
  },

  'session.created': {
    given: RUNNING.filter((write) => write.set !== 'session.created'),
    write: { set: 'session.created', row: session() },
  },
  'session.counted': { given: RUNNING, write: { set: 'session.counted', session: SES, cost: 0.1 } },
  'session.failed': {
    given: [...RUNNING, { set: 'session.counted', session: SES, cost: 0.2 }],
    write: { set: 'session.failed', session: SES, error: 'no', cost: 0.1, at: AT + 2 },
  },
  'session.completed': { given: RUNNING, write: { set: 'session.completed', session: SES, at: AT + 2 } },

  'run.created': {
    given: [...RUNNING, { set: 'delivery.accepted', row: delivery() }],
    write: { set: 'run.created', row: producerRun({ deliveryId: delivery().id, cost: 1.5 }) },
  },
  'run.prepared': { given: AT_WORK, write: { set: 'run.prepared', run: RUN, prepareResult: '{"data":1}' } },
  'run.phase': {
    given: [...AT_WORK, { set: 'run.prepared', run: RUN, prepareResult: null }],
    write: { set: 'run.phase', run: RUN, from: 'prepared', to: 'emitting' },
  },
  'run.mutated': {
    given: [...RUNNING, { set: 'run.created', row: consumerRun({ phase: 'mutating' }) }],
    write: { set: 'run.mutated', run: RUN },
  },
  'run.logged': {
    given: AT_WORK,
    write: { set: 'run.logged', row: { runId: RUN, position: 0, at: AT, message: 'hello', data: '{"a":1}' } },
  },
  'run.read': {
    given: AT_WORK,
    write: {
      set: 'run.read',
      row: {
        runId: RUN,
        position: 0,
        at: AT,
        connection: 'shop',
        method: 'get',
        request: '{}',
        answer: '{"status":200}',
      },
    },
  },
  'run.outcome': { given: STOPPED, write: { set: 'run.outcome', run: RUN, outcome: 'success' } },
  'run.stopped': {
    given: AT_WORK,
    write: {
      set: 'run.stopped',
      run: RUN,
      status: 'failed:logic',
      error: 'x is undefined',
      errorType: 'TypeError',
      suspects: [evt(1), evt(2)],
      cost: 0.25,
      at: AT + 1,
    },
  },
  'run.committed': {
    given: [...RUNNING, { set: 'run.created', row: producerRun() }],
    write: { set: 'run.committed', run: RUN, from: 'executing', outputState: '{"n":1}', cost: 2, at: AT + 1 },
  },
  'run.finished': {
    given: STOPPED,
    write: { set: 'run.finished', run: RUN, from: 'preparing', status: 'crashed', at: AT + 5 },
  },

  'event.published': {
    given: [...AT_WORK],
    write: {
      set: 'event.published',
      row: event({ id: evt(4), title: 'Order ☃ 4', redoOf: evt(1), publishedByRunId: RUN, pendingSeq: 9 }),
    },
  },
  'event.changed': {
    given: AT_WORK,
    write: { set: 'event.changed', event: evt(2), payload: '{"b":2}', title: 't', pendingSeq: 7 },
  },
  'events.reserved': { given: AT_WORK, write: { set: 'events.reserved', run: RUN, events: [evt(1), evt(3)] } },
  'events.released': { given: RESERVED, write: { set: 'events.released', run: RUN, count: 2, pendingSeq: 8 } },
  'events.consumed': { given: RESERVED, write: { set: 'events.consumed', run: RUN, count: 2 } },
  'events.skipped': { given: RESERVED, write: { set: 'events.skipped', run: RUN, count: 2 } },
  'events.parked': { given: RESERVED, write: { set: 'events.parked', run: RUN, count: 2 } },
  'events.transferred': {
    given: [
      ...STOPPED,
      {
        set: 'run.created',
        row: consumerRun({ id: run(2), rootRunId: RUN, retryOf: RUN, attempt: 1, phase: 'emitting' }),
      },
    ],
    write: { set: 'events.transferred', from: RUN, to: run(2), count: 2 },
  },
  'event.skipped': { given: AT_WORK, write: { set: 'event.skipped', event: evt(1), from: 'pending' } },
  'event.parked': { given: AT_WORK, write: { set: 'event.parked', event: evt(1) } },
  'topic.skipped': { given: RESERVED, write: { set: 'topic.skipped', workflow: WF, topic: 'placed' } },
  'event.unparked': {
    given: [...AT_WORK, { set: 'event.parked', event: evt(1) }],
    write: { set: 'event.unparked', event: evt(1), pendingSeq: 12 },
  },
  'event.caused': {
    given: [
      ...AT_WORK,
      { set: 'input.registered', row: input() },
      { set: 'input.registered', row: input({ id: 'inp_2' as never }) },
      { set: 'event.caused', event: evt(1), inputs: [input().id] },
    ],
    write: { set: 'event.caused', event: evt(1), inputs: [input().id, 'inp_2' as never] },
  },
  'input.registered': { given: CREATED, write: { set: 'input.registered', row: input() } },

  'mutation.recorded': { given: RESERVED, write: { set: 'mutation.recorded', row: mutation({ uiTitle: null }) } },
  'mutation.sent': {
    given: [
      ...RESERVED,
      { set: 'mutation.recorded', row: awaiting() },
      { set: 'mutation.approved', mutation: MUT, at: AT, by: 'ada' },
    ],
    write: { set: 'mutation.sent', mutation: MUT, deadline: AT + 77 },
  },
  'mutation.applied': {
    given: SENT,
    write: { set: 'mutation.applied', from: 'in_flight', result: '{"ref":1}', resolvedBy: 'provider', ...ANSWER },
  },
  'mutation.failed': {
    given: [...RESERVED, { set: 'mutation.recorded', row: unknown({ reconcileOwner: WORKER, reconcileUntil: AT }) }],
    write: { set: 'mutation.failed', from: 'needs_reconcile', error: 'not there', resolvedBy: 'reconcile', ...ANSWER },
  },
  'mutation.unknown': {
    given: SENT,
    write: {
      set: 'mutation.unknown',
      mutation: MUT,
      from: 'in_flight',
      to: 'needs_reconcile',
      error: 'timeout',
      callEndedAt: AT + 1,
      reconcileAt: AT + 2,
      reconcileCount: 0,
    },
  },
  'mutation.approved': {
    given: [...RESERVED, { set: 'mutation.recorded', row: awaiting() }],
    write: { set: 'mutation.approved', mutation: MUT, at: AT + 3, by: 'ada' },
  },
  'mutation.setAside': {
    given: [...RESERVED, { set: 'mutation.recorded', row: unknown() }],
    write: { set: 'mutation.setAside', mutation: MUT, from: null, to: AT + 4 },
  },
  'mutation.reconcileClaimed': {
    given: [...RESERVED, { set: 'mutation.recorded', row: unknown() }],
    write: { set: 'mutation.reconcileClaimed', mutation: MUT, owner: WORKER, until: AT + 6 },
  },
  'mutation.reconcilePostponed': {
    given: [...RESERVED, { set: 'mutation.recorded', row: unknown() }],
    write: { set: 'mutation.reconcilePostponed', mutation: MUT, at: AT + 6, count: 1 },
  },
  'evidence.recorded': { given: SENT, write: { set: 'evidence.recorded', row: evidence() } },

  'handler.kept': {
    given: [...AT_WORK, { set: 'handler.kept', row: handlerState() }],
    write: {
      set: 'handler.kept',
      row: handlerState({ state: null, restedSeq: null, nextAt: AT, wakeAt: AT, repaired: true, crashEventId: evt(1) }),
    },
  },
  'delivery.accepted': { given: CREATED, write: { set: 'delivery.accepted', row: delivery() } },
  'delivery.done': {
    given: [...AT_WORK, { set: 'delivery.accepted', row: delivery() }],
    write: { set: 'delivery.done', delivery: delivery().id, run: RUN },
  },
  'task.opened': { given: AT_WORK, write: { set: 'task.opened', row: task() } },
  'task.closed': {
    given: [...AT_WORK, { set: 'task.opened', row: task() }],
    write: { set: 'task.closed', task: task().id, at: AT + 1, by: 'ada' },
  },
  'worker.registered': { given: [], write: { set: 'worker.registered', row: worker() } },
  'worker.status': {
    given: [{ set: 'worker.registered', row: worker() }],
    write: { set: 'worker.status', worker: WORKER, from: 'open', to: 'draining' },
  },
  'worker.renewed': {
    given: [{ set: 'worker.registered', row: worker() }],
    write: { set: 'worker.renewed', worker: WORKER, leaseUntil: AT + 99 },
  },
  'worker.lacks': {
    given: [{ set: 'worker.registered', row: worker() }],
    write: {
      set: 'worker.lacks',
      worker: WORKER,
      lacks: [{ workflow: 'orders', connection: 'shop', why: 'has none' }],
    },
  },
  'worker.ended': {
    given: [{ set: 'worker.registered', row: worker() }],
    write: { set: 'worker.ended', worker: WORKER, at: AT + 9 },
  },
  'connection.created': {
    given: [],
    write: {
      set: 'connection.created',
      row: { name: 'shop', version: 1, refusedAt: AT, refusedReason: 'expired' },
    },
  },
  'connection.changed': {
    given: [{ set: 'connection.created', row: { name: 'shop', version: 1, refusedAt: AT, refusedReason: 'expired' } }],
    write: { set: 'connection.changed', name: 'shop', from: 1, to: 2, refusedAt: null, refusedReason: null },
  },
  'token.created': { given: [], write: { set: 'token.created', row: token() } },
  'token.revoked': {
    given: [{ set: 'token.created', row: token() }],
    write: { set: 'token.revoked', token: TOKEN, at: AT + 1, by: 'bob' },
  },
  'secret.created': { given: [], write: { set: 'secret.created', row: secret() } },
  'secret.changed': {
    given: [{ set: 'secret.created', row: secret() }],
    write: { set: 'secret.changed', name: 'shop', from: 1, box: null, at: AT + 1, by: 'bob' },
  },
  'grant.given': {
    given: [...CREATED, { set: 'grant.given', row: grant() }],
    write: { set: 'grant.given', row: grant({ targets: ['*'], capPerHour: null, allowedBy: 'bob' }) },
  },
  'grant.taken': {
    given: [...CREATED, { set: 'grant.given', row: grant() }, { set: 'grant.given', row: grant({ method: 'put' }) }],
    write: { set: 'grant.taken', workflow: WF, connection: 'shop', method: 'post' },
  },
  'allowance.given': { given: CREATED, write: { set: 'allowance.given', row: allowance() } },
  'permission.asked': { given: RUNNING, write: { set: 'permission.asked', row: request() } },
  'permission.answered': {
    given: [...RUNNING, { set: 'permission.asked', row: request() }],
    write: { set: 'permission.answered', request: request().id, answer: 'allowed', at: AT + 1, by: 'bob' },
  },
  'notice.opened': { given: [], write: { set: 'notice.opened', row: notice() } },
  'notice.tried': {
    given: [{ set: 'notice.opened', row: notice() }],
    write: {
      set: 'notice.tried',
      notice: notice().id,
      from: 0,
      tries: 1,
      to: 'due',
      dueAt: AT + 9,
      error: 'no answer',
      settledAt: null,
    },
  },
  'approval.kept': {
    given: CREATED,
    write: {
      set: 'approval.kept',
      row: { workflowId: WF, connection: 'shop', method: 'post', approvedAt: AT, approvedBy: 'ada' },
    },
  },
  'logs.removed': {
    given: [
      ...AT_WORK,
      { set: 'run.logged', row: { runId: RUN, position: 0, at: AT, message: 'hello', data: null } },
      { set: 'run.logged', row: { runId: RUN, position: 1, at: AT, message: 'hello', data: null } },
    ],
    write: { set: 'logs.removed', runs: [RUN] },
  },
  'reads.removed': {
    given: [
      ...AT_WORK,
      {
        set: 'run.read',
        row: { runId: RUN, position: 0, at: AT, connection: 'shop', method: 'get', request: '{}', answer: '{}' },
      },
    ],
    write: { set: 'reads.removed', runs: [RUN] },
  },
  'evidence.removed': {
    given: [...SENT, { set: 'evidence.recorded', row: evidence() }],
    write: { set: 'evidence.removed', mutations: [MUT] },
  },
  'mutations.removed': { given: APPLIED, write: { set: 'mutations.removed', mutations: [MUT] } },
  'events.remembered': { given: SKIPPED, write: { set: 'events.remembered', events: [evt(1), evt(2)] } },
  'causes.removed': {
    given: [
      ...SKIPPED,
      { set: 'input.registered', row: input() },
      { set: 'event.caused', event: evt(1), inputs: [input().id] },
    ],
    write: { set: 'causes.removed', events: [evt(1)] },
  },
  'events.removed': { given: SKIPPED, write: { set: 'events.removed', events: [evt(1), evt(2)] } },
  'tasks.removed': {
    given: [
      ...STOPPED,
      { set: 'task.opened', row: task({ status: 'closed', closedAt: AT, closedBy: 'ada' }) },
      { set: 'task.opened', row: task({ id: 'tsk_2' as never }) },
    ],
    write: { set: 'tasks.removed', runs: [RUN] },
  },
  'runs.undelivered': { given: DELIVERED, write: { set: 'runs.undelivered', runs: [run(2)] } },
  'deliveries.remembered': {
    given: DELIVERED,
    write: { set: 'deliveries.remembered', deliveries: [delivery().id] },
  },
  'deliveries.removed': {
    given: [...DELIVERED, { set: 'runs.undelivered', runs: [run(2)] }],
    write: { set: 'deliveries.removed', deliveries: [delivery().id] },
  },
  'runs.removed': {
    given: [
      ...AT_WORK,
      { set: 'run.created', row: consumerRun({ id: run(2), rootRunId: run(2), status: 'crashed', endTimestamp: AT }) },
    ],
    write: { set: 'runs.removed', runs: [run(2)] },
  },
  'session.uncounted': {
    given: [...RUNNING, { set: 'session.counted', session: SES, cost: 1 }],
    write: { set: 'session.uncounted', session: SES, count: 1 },
  },
  'sessions.removed': {
    given: [...RUNNING, { set: 'session.completed', session: SES, at: AT + 1 }],
    write: { set: 'sessions.removed', sessions: [SES] },
  },
  'enforcements.removed': {
    given: [...RUNNING, { set: 'enforcement.created', row: enforcement() }],
    write: { set: 'enforcements.removed', executions: [EXE] },
  },
  'executions.removed': {
    given: [
      { set: 'workflow.created', row: workflow() },
      { set: 'execution.requested', row: execution({ status: 'cancelled', endedAt: AT }) },
    ],
    write: { set: 'executions.removed', executions: [EXE] },
  },
  'inputs.removed': {
    given: [...CREATED, { set: 'input.registered', row: input() }],
    write: { set: 'inputs.removed', inputs: [input().id] },
  },
  'event.known': {
    given: CREATED,
    write: {
      set: 'event.known',
      row: { workflowId: WF, topic: 'placed', messageId: 'm', id: evt(1), status: 'consumed', createdAt: AT },
    },
  },
  'delivery.known': {
    given: CREATED,
    write: {
      set: 'delivery.known',
      row: { workflowId: WF, handlerName: 'hook', deliveryId: 'd', id: delivery().id, receivedAt: AT },
    },
  },
  'audit.appended': {
    given: [{ set: 'audit.appended', at: AT, actor: 'ada', act: 'pause', subject: WF, detail: '' }],
    write: { set: 'audit.appended', at: AT + 1, actor: 'bob', act: 'resume', subject: WF, detail: '{"ä":1}' },
  },
};

const IN_MEMORY: { readonly [T in TableName]: (rows: Rows) => readonly object[] } = {
  workflows: (rows) => rows.workflows.values(),
  scripts: (rows) => rows.scripts.values(),
  enforcements: (rows) => rows.enforcements.values(),
  executions: (rows) => rows.executions.values(),
  limits: (rows) => rows.limits.values(),
  slots: (rows) => rows.slots.values(),
  script_runs: (rows) => rows.sessions.values(),
  handler_runs: (rows) => rows.runs.values(),
  events: (rows) => rows.events.values(),
  mutations: (rows) => rows.mutations.values(),
  handler_states: (rows) => rows.handlerStates.values(),
  inputs: (rows) => rows.inputs.values(),
  event_inputs: (rows) => rows.eventInputs.values(),
  deliveries: (rows) => rows.deliveries.values(),
  messages: (rows) => rows.messages.values(),
  maintenance_tasks: (rows) => rows.tasks.values(),
  workers: (rows) => rows.workers.values(),
  evidence: (rows) => rows.evidence.values(),
  connections: (rows) => rows.connections.values(),
  run_logs: (rows) => rows.runLogs.values(),
  run_reads: (rows) => rows.runReads.values(),
  audit_log: (rows) => rows.audit.values(),
  tokens: (rows) => rows.tokens.values(),
  secrets: (rows) => rows.secrets.values(),
  grants: (rows) => rows.grants.values(),
  allowances: (rows) => rows.allowances.values(),
  permission_requests: (rows) => rows.requests.values(),
  notices: (rows) => rows.notices.values(),
  pruned_events: (rows) => rows.prunedEvents.values(),
  pruned_deliveries: (rows) => rows.prunedDeliveries.values(),
  kept_approvals: (rows) => rows.keptApprovals.values(),
};

async function assertSameRows(reader: StoreWorld['reader'], rows: Rows): Promise<void> {
  for (const name of Object.keys(IN_MEMORY) as TableName[]) {
    assert.deepEqual(sorted(await reader.table(name)), sorted(IN_MEMORY[name](rows)), name);
  }
}

/** As one text a row, keys in one order: a field that is missing, or undefined where it should be null, shows. */
function sorted(rows: readonly object[]): object[] {
  const text = (row: object): string => JSON.stringify(row, Object.keys(row).sort());
  return [...rows].sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

for (const [name, { given, write }] of Object.entries(CASES) as [WriteName, Case<WriteName>][]) {
  test(`${name} gives the same rows in the database as in memory`, async (t) => {
    const { store, reader } = await openAnyWorld(t, ...given, write);
    const rows = new Rows();
    for (const each of [...given, write]) applyWrite(rows, each);
    await assertSameRows(reader, rows);

    // The second time its row is in another state: both must say so, or both must be content with the same rows.
    const agreed = tryTwice(rows, write);
    if (agreed) await commit(store, write);
    else await assert.rejects(commit(store, write), GuardError);
    await assertSameRows(reader, rows);
  });
}

/** The same in another world beside: whatever is known by an id or a name is known by another one. */
function beside(writes: readonly Write[], which: string): readonly Write[] {
  const text = JSON.stringify(writes)
    .replaceAll(/"(wf|[a-z]{3})_(\w+)"/g, `"$1_$2${which}"`)
    .replaceAll(/"(name|hash|limit|limitName|caseKey)":"([^"]*)"/g, `"$1":"$2${which}"`);
  return JSON.parse(text) as readonly Write[];
}

const BESIDE = ['a', 'b', 'c'];

for (const [name, { given, write }] of Object.entries(CASES) as [WriteName, Case<WriteName>][]) {
  test(`${name} of three units in one commit is the same as one after the other, and refused to the one that is wrong`, async (t) => {
    const { store, reader } = await openAnyWorld(t, ...BESIDE.flatMap((which) => beside(given, which)));
    const units = BESIDE.map((which) => beside([write], which));
    const rows = new Rows();
    for (const each of [...BESIDE.flatMap((which) => beside(given, which)), ...units.flat()]) applyWrite(rows, each);
    const outcomes = await store.commit(units.map((writes) => ({ decide: () => writes })));
    assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['done']));
    await assertSameRows(reader, rows);

    // Again with one beside that has not been there before: it is done, and those that were are told so or content.
    if (given.length > 0) await commit(store, ...beside(given, 'd'));
    for (const each of beside(given, 'd')) applyWrite(rows, each);
    const agreed = units.map((writes) => tryTwice(rows, writes[0] as Write));
    const next = beside([write], 'd');
    for (const each of next) applyWrite(rows, each);
    const again = await store.commit([...units, next].map((writes) => ({ decide: () => writes })));
    assert.deepEqual(
      again.map(({ kind }) => kind),
      [...agreed, true].map((isAgreed) => (isAgreed ? 'done' : 'refused')),
    );
    for (const [i, outcome] of again.entries()) {
      if (outcome.kind !== 'refused') continue;
      assert.ok(outcome.error instanceof GuardError);
      assert.deepEqual(outcome.error.write, units[i]?.[0]);
    }
    await assertSameRows(reader, rows);
  });
}

function tryTwice(rows: Rows, write: Write): boolean {
  const before = rows.copy();
  try {
    applyWrite(rows, write);
    return true;
  } catch {
    Object.assign(rows, before);
    return false;
  }
}
