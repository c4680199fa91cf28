import { assert, sha256 } from '#base';
import { change, insert } from './change-row.ts';
import { MEANING_OF_EXECUTIONS } from './meaning-of-executions.ts';
import { HISTORY_MEANING } from './meaning-of-history.ts';
import type { AuditEntry, Event, Mutation, Run, Session, Workflow } from './rows.ts';
import type { Grant } from './rows-of-people.ts';
import type { Rows } from './table.ts';
import type { Write, WriteOf } from './write.ts';

/**
 * What each write means, on rows. The store's statements say the same in SQL with the same guards; the conformance test holds
 * the two together. A guard that does not hold here is a bug in a rule.
 */
export function applyWrite(rows: Rows, write: Write): void {
  const apply = MEANING[write.set] as (rows: Rows, write: Write) => void;
  apply(rows, write);
}

const MEANING: { readonly [N in Write['set']]: (rows: Rows, write: WriteOf<N>) => void } = {
  'workflow.created': (rows, { row }) => insert(rows.workflows, row.id, row),
  'workflow.script': (rows, { workflow, from, to }) =>
    workflowRow(rows, workflow, (w) => w.activeScriptId === from, { activeScriptId: to }),
  'workflow.standing': (rows, { workflow, from, to, holds, errorReason, heldConnections, grantMissing }) =>
    workflowRow(rows, workflow, (w) => w.status === from, {
      status: to,
      holds,
      errorReason,
      heldConnections,
      grantMissing,
    }),
  'workflow.maintenance': (rows, { workflow, from, to }) =>
    workflowRow(rows, workflow, (w) => w.maintenanceRunId === from, { maintenance: to !== null, maintenanceRunId: to }),
  'workflow.retry': (rows, { workflow, from, to }) =>
    workflowRow(rows, workflow, (w) => w.pendingRetryRunId === from, { pendingRetryRunId: to }),
  'workflow.seq': (rows, { workflow, from, to }) =>
    workflowRow(rows, workflow, (w) => w.eventSeq === from, { eventSeq: to }),
  'workflow.quiet': (rows, { workflow, quiet }) => workflowRow(rows, workflow, () => true, { quiet }),
  'workflow.due': (rows, { workflow, at }) => workflowRow(rows, workflow, () => true, { dueAt: at }),
  'script.added': (rows, { row }) => insert(rows.scripts, row.id, row),

  ...MEANING_OF_EXECUTIONS,

  'session.created': (rows, { row }) => insert(rows.sessions, row.id, row),
  'session.counted': (rows, { session, cost }) =>
    change(
      rows.sessions,
      session,
      () => true,
      (s: Session) => ({
        ...s,
        handlerRunCount: s.handlerRunCount + 1,
        cost: s.cost + cost,
      }),
    ),
  'session.failed': (rows, { session, error, cost, at }) =>
    change(
      rows.sessions,
      session,
      (s: Session) => s.endTimestamp === null,
      (s) => ({
        ...s,
        result: 'failed' as const,
        error,
        cost: s.cost + cost,
        endTimestamp: at,
      }),
    ),
  'session.completed': (rows, { session, at }) =>
    change(
      rows.sessions,
      session,
      (s: Session) => s.endTimestamp === null,
      (s) => ({
        ...s,
        result: 'completed' as const,
        endTimestamp: at,
      }),
    ),

  'run.created': (rows, { row }) => insert(rows.runs, row.id, row),
  'run.prepared': (rows, { run, prepareResult }) =>
    runRow(rows, run, (r) => r.status === 'active' && r.phase === 'preparing', { phase: 'prepared', prepareResult }),
  'run.phase': (rows, { run, from, to }) =>
    runRow(rows, run, (r) => r.status === 'active' && r.phase === from, { phase: to }),
  'run.mutated': (rows, { run }) =>
    runRow(rows, run, (r) => r.status === 'active' && r.phase === 'mutating', {
      phase: 'mutated',
      mutationOutcome: 'success',
    }),
  'run.outcome': (rows, { run, outcome }) => runRow(rows, run, () => true, { mutationOutcome: outcome }),
  'run.stopped': (rows, { run, status, error, errorType, suspects, cost, at }) =>
    runRow(rows, run, (r) => r.status === 'active', { status, error, errorType, suspects, cost, endTimestamp: at }),
  'run.committed': (rows, { run, from, outputState, cost, at }) =>
    runRow(rows, run, (r) => r.status === 'active' && r.phase === from, {
      phase: 'committed',
      status: 'committed',
      outputState,
      cost,
      endTimestamp: at,
    }),
  'run.finished': (rows, { run, from, status, at }) =>
    runRow(rows, run, (r) => r.phase === from && r.status === status && status !== 'active', {
      phase: 'committed',
      status: 'committed',
      endTimestamp: at,
    }),

  'run.logged': (rows, { row }) => insert(rows.runLogs, `${row.runId} ${row.position}`, row),
  'run.read': (rows, { row }) => insert(rows.runReads, `${row.runId} ${row.position}`, row),

  'event.published': (rows, { row }) => insert(rows.events, row.id, row),
  'event.changed': (rows, { event, payload, title, pendingSeq }) =>
    eventRow(rows, event, (e) => e.status === 'pending', { payload, title, pendingSeq }),
  'events.reserved': (rows, { run, events }) => {
    for (const event of events) {
      eventRow(rows, event, (e) => e.status === 'pending', { status: 'reserved', reservedByRunId: run });
    }
  },
  'events.released': (rows, { run, count, pendingSeq }) =>
    eventsOf(rows, run, count, { status: 'pending', reservedByRunId: null, pendingSeq }),
  'events.consumed': (rows, { run, count }) => eventsOf(rows, run, count, { status: 'consumed' }),
  'events.skipped': (rows, { run, count }) => eventsOf(rows, run, count, { status: 'skipped' }),
  'events.parked': (rows, { run, count }) => eventsOf(rows, run, count, { status: 'parked', reservedByRunId: null }),
  'events.transferred': (rows, { from, to, count }) => eventsOf(rows, from, count, { reservedByRunId: to }),
  'event.skipped': (rows, { event, from }) => eventRow(rows, event, (e) => e.status === from, { status: 'skipped' }),
  'event.parked': (rows, { event }) => eventRow(rows, event, (e) => e.status === 'pending', { status: 'parked' }),
  'topic.skipped': (rows, { workflow, topic }) => {
    const dropped = rows.events
      .values()
      .filter((e) => e.workflowId === workflow && e.topic === topic && e.status === 'pending');
    for (const event of dropped) rows.events.put(event.id, { ...event, status: 'skipped' });
  },
  'event.unparked': (rows, { event, pendingSeq }) =>
    eventRow(rows, event, (e) => e.status === 'parked', { status: 'pending', pendingSeq }),
  'event.caused': (rows, { event, inputs }) => {
    for (const input of inputs) rows.eventInputs.put(`${event} ${input}`, { eventId: event, inputId: input });
  },
  'input.registered': (rows, { row }) => insert(rows.inputs, row.id, row),

  'mutation.recorded': (rows, { row }) => insert(rows.mutations, row.id, row),
  'mutation.sent': (rows, { mutation, deadline }) =>
    mutationRow(rows, mutation, (m) => m.status === 'pending' && m.approvedAt !== null, {
      status: 'in_flight',
      callDeadline: deadline,
    }),
  'mutation.applied': (rows, { mutation, from, result, resolvedBy, resolvedByName, callEndedAt, at }) =>
    mutationRow(rows, mutation, (m) => m.status === from, {
      status: 'applied',
      result,
      resolvedBy,
      resolvedByName,
      resolvedAt: at,
      callEndedAt,
      ...NO_RECONCILE,
    }),
  'mutation.failed': (rows, { mutation, from, error, resolvedBy, resolvedByName, callEndedAt, at }) =>
    mutationRow(rows, mutation, (m) => m.status === from, {
      status: 'failed',
      error,
      resolvedBy,
      resolvedByName,
      resolvedAt: at,
      callEndedAt,
      ...NO_RECONCILE,
    }),
  'mutation.unknown': (rows, { mutation, from, to, error, callEndedAt, reconcileAt, reconcileCount }) =>
    mutationRow(rows, mutation, (m) => m.status === from, {
      status: to,
      error,
      callEndedAt,
      ...NO_RECONCILE,
      reconcileAt,
      reconcileCount,
    }),
  'mutation.approved': (rows, { mutation, at, by }) =>
    mutationRow(rows, mutation, (m) => m.status === 'pending' && m.approvedAt === null, {
      approvedAt: at,
      approvedBy: by,
    }),
  'mutation.setAside': (rows, { mutation, from, to }) =>
    mutationRow(rows, mutation, (m) => m.setAsideAt === from, { setAsideAt: to }),
  'mutation.reconcileClaimed': (rows, { mutation, owner, until }) =>
    mutationRow(rows, mutation, (m) => m.status === 'needs_reconcile', {
      reconcileOwner: owner,
      reconcileUntil: until,
    }),
  'mutation.reconcilePostponed': (rows, { mutation, at, count }) =>
    mutationRow(rows, mutation, (m) => m.status === 'needs_reconcile', {
      reconcileAt: at,
      reconcileCount: count,
      reconcileOwner: null,
      reconcileUntil: null,
    }),
  'evidence.recorded': (rows, { row }) => insert(rows.evidence, row.id, row),

  'handler.kept': (rows, { row }) => rows.handlerStates.put(`${row.workflowId} ${row.handlerName}`, row),
  'delivery.accepted': (rows, { row }) => insert(rows.deliveries, row.id, row),
  'delivery.done': (rows, { delivery, run }) =>
    change(
      rows.deliveries,
      delivery,
      (d) => d.status === 'pending',
      (d) => ({ ...d, status: 'done' as const, runId: run }),
    ),
  'task.opened': (rows, { row }) => insert(rows.tasks, row.id, row),
  'task.closed': (rows, { task, at, by }) =>
    change(
      rows.tasks,
      task,
      (t) => t.status === 'open',
      (t) => ({ ...t, status: 'closed' as const, closedAt: at, closedBy: by }),
    ),
  'worker.registered': (rows, { row }) => insert(rows.workers, row.id, row),
  'worker.status': (rows, { worker, from, to }) =>
    change(
      rows.workers,
      worker,
      (w) => w.endedAt === null && w.status === from,
      (w) => ({ ...w, status: to }),
    ),
  'worker.renewed': (rows, { worker, leaseUntil }) =>
    change(
      rows.workers,
      worker,
      (w) => w.endedAt === null,
      (w) => ({ ...w, leaseUntil }),
    ),
  'worker.lacks': (rows, { worker, lacks }) =>
    change(
      rows.workers,
      worker,
      (w) => w.endedAt === null,
      (w) => ({ ...w, lacks }),
    ),
  'worker.ended': (rows, { worker, at }) =>
    change(
      rows.workers,
      worker,
      (w) => w.endedAt === null,
      (w) => ({ ...w, endedAt: at }),
    ),
  'connection.created': (rows, { row }) => insert(rows.connections, row.name, row),
  'connection.changed': (rows, { name, from, to, refusedAt, refusedReason }) =>
    change(
      rows.connections,
      name,
      (c) => c.version === from,
      (c) => ({ ...c, version: to, refusedAt, refusedReason }),
    ),
  'token.created': (rows, { row }) => insert(rows.tokens, row.id, row),
  'token.revoked': (rows, { token, at, by }) =>
    change(
      rows.tokens,
      token,
      (t) => t.revokedAt === null,
      (t) => ({ ...t, revokedAt: at, revokedBy: by }),
    ),
  'secret.created': (rows, { row }) => insert(rows.secrets, row.name, row),
  'secret.changed': (rows, { name, from, box, at, by }) =>
    change(
      rows.secrets,
      name,
      (s) => s.version === from,
      (s) => ({ ...s, version: from + 1, box, changedAt: at, changedBy: by }),
    ),
  'grant.given': (rows, { row }) => rows.grants.put(grantKey(row), row),
  'grant.taken': (rows, { workflow, connection, method }) => {
    const key = grantKey({ workflowId: workflow, connection, method });
    assert(rows.grants.get(key) !== undefined, `${key} is not here`);
    rows.grants.delete(key);
  },
  'allowance.given': (rows, { row }) => insert(rows.allowances, row.id, row),
  'permission.asked': (rows, { row }) => insert(rows.requests, row.id, row),
  'permission.answered': (rows, { request, answer, at, by }) =>
    change(
      rows.requests,
      request,
      (q) => q.answer === '',
      (q) => ({ ...q, answer, answeredAt: at, answeredBy: by }),
    ),
  'notice.opened': (rows, { row }) => insert(rows.notices, row.id, row),
  'notice.tried': (rows, { notice, from, tries, to, dueAt, error, settledAt }) =>
    change(
      rows.notices,
      notice,
      (n) => n.status === 'due' && n.tries === from,
      (n) => ({ ...n, status: to, tries, dueAt, error, settledAt }),
    ),
  ...HISTORY_MEANING,
  'audit.appended': (rows, write) => {
    const entries = rows.audit.values();
    const entry = chained(entries.at(-1), write);
    insert(rows.audit, String(entry.seq), entry);
  },
};

const NO_RECONCILE = { reconcileAt: null, reconcileOwner: null, reconcileUntil: null } as const;
const GENESIS = '0'.repeat(64);

/** The next link of the audit chain. The store calls it too, with the head it has locked. */
export function chained(
  head: Pick<AuditEntry, 'seq' | 'hash'> | undefined,
  act: WriteOf<'audit.appended'>,
): AuditEntry {
  const { at, actor, subject, detail } = act;
  const seq = (head?.seq ?? 0) + 1;
  const previousHash = head?.hash ?? GENESIS;
  const hash = sha256(JSON.stringify([previousHash, seq, at, actor, act.act, subject, detail]));
  return { seq, at, actor, act: act.act, subject, detail, previousHash, hash };
}

export function grantKey({
  workflowId,
  connection,
  method,
}: Pick<Grant, 'workflowId' | 'connection' | 'method'>): string {
  return `${workflowId} ${connection} ${method}`;
}

function workflowRow(rows: Rows, key: string, expected: (row: Workflow) => boolean, next: Partial<Workflow>): void {
  change(rows.workflows, key, expected, (row) => ({ ...row, ...next }));
}

function runRow(
  rows: Rows,
  key: string,
  expected: (row: Run) => boolean,
  next: Partial<Omit<Run, 'handlerType'>>,
): void {
  change(rows.runs, key, expected, (row) => ({ ...row, ...next }) as Run);
}

function eventRow(rows: Rows, key: string, expected: (row: Event) => boolean, next: Partial<Event>): void {
  change(rows.events, key, expected, (row) => ({ ...row, ...next }));
}

function mutationRow(rows: Rows, key: string, expected: (row: Mutation) => boolean, next: Partial<Mutation>): void {
  change(rows.mutations, key, expected, (row) => ({ ...row, ...next }));
}

function eventsOf(rows: Rows, run: string, count: number, next: Partial<Event>): void {
  const reserved = rows.events.values().filter((e) => e.reservedByRunId === run && e.status === 'reserved');
  assert(reserved.length === count, `${run} has ${reserved.length} reserved events, not ${count}`);
  for (const event of reserved) rows.events.put(event.id, { ...event, ...next });
}
