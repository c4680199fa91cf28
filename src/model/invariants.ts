import { BELONGING } from './belonging.ts';
import { among, type Invariant, ids } from './invariant.ts';
import type { Event, Mutation, Run } from './rows.ts';
import { boundaryOf } from './rule/boundary.ts';
import { statusOf } from './rule/standing.ts';
import {
  BUSY_EXECUTION,
  type ExecutionStatus,
  isLiveStatus,
  type MutationStatus,
  UNKNOWN_LEDGER,
  UNRESOLVED_LEDGER,
} from './states.ts';
import type { Rows } from './table.ts';

const UNKNOWN = UNKNOWN_LEDGER.map((status) => `'${status}'`).join(', ');
/** The very words of the index over open questions, so that it answers. */
const UNRESOLVED = `(${UNRESOLVED_LEDGER.map((status) => `m.status = '${status}'`).join(' OR ')})`;
const BUSY = `(${BUSY_EXECUTION.map((status) => `e.status = '${status}'`).join(' OR ')})`;
const LAST_RUN = 'NOT EXISTS (SELECT 1 FROM handler_runs later WHERE later.retry_of = r.id)';
/** In sound rows a chain has one last run and at most one call. In broken ones there may be more: then each is asked, as a join does. */
function lastRuns(rows: Rows, root: string): Run[] {
  return rows.runs.matching((run) => run.rootRunId === root && isLast(rows, run));
}

function isLast(rows: Rows, run: Run): boolean {
  return rows.runs.matching((later) => later.retryOf === run.id).length === 0;
}

function callsOf(rows: Rows, root: string): Mutation[] {
  return rows.mutations.matching((row) => row.rootRunId === root);
}

/** Without an answer, and nobody is awaiting one. */
function waits({ status }: Mutation): boolean {
  return status === 'pending' || status === 'needs_reconcile' || status === 'indeterminate';
}

function mayHaveHappened({ status }: Mutation): boolean {
  return status === 'applied' || (UNKNOWN_LEDGER as readonly MutationStatus[]).includes(status);
}

export const INVARIANTS: readonly Invariant[] = [
  {
    name: 'reserved events have an owner',
    says: 'A reserved event belongs to an active run, to the pending retry, or to a set-aside run of its workflow.',
    atStart: true,
    sql: `SELECT e.workflow_id, e.id FROM events e
      LEFT JOIN handler_runs r ON r.id = e.reserved_by_run_id
      LEFT JOIN workflows w ON w.id = e.workflow_id
      LEFT JOIN mutations m ON m.root_run_id = r.root_run_id
      WHERE e.status = 'reserved' AND (r.id IS NULL OR r.workflow_id <> e.workflow_id OR NOT (
        r.status = 'active' OR (w.pending_retry_run_id IS NOT NULL AND w.pending_retry_run_id = r.id)
        OR (m.set_aside_at IS NOT NULL AND r.status <> 'committed' AND ${LAST_RUN})))`,
    offenders: (rows) =>
      among(rows.events, (event) => {
        if (event.status !== 'reserved') return false;
        const run = event.reservedByRunId === null ? undefined : rows.runs.get(event.reservedByRunId);
        if (!run || run.workflowId !== event.workflowId) return true;
        if (run.status === 'active' || rows.workflows.get(event.workflowId)?.pendingRetryRunId === run.id) return false;
        const calls = callsOf(rows, run.rootRunId);
        const aside = calls.length > 0 && calls.every((row) => row.setAsideAt !== null);
        return !(aside && run.status !== 'committed' && isLast(rows, run));
      }),
  },
  {
    name: 'reservations fit the status',
    says: 'A pending or parked event names no run; a reserved or consumed one does.',
    atStart: false,
    sql: `SELECT workflow_id, id FROM events WHERE (status IN ('pending', 'parked') AND reserved_by_run_id IS NOT NULL)
      OR (status IN ('reserved', 'consumed') AND reserved_by_run_id IS NULL)`,
    offenders: (rows) =>
      among(rows.events, (event) => {
        const named = event.reservedByRunId !== null;
        if (event.status === 'pending' || event.status === 'parked') return named;
        return (event.status === 'reserved' || event.status === 'consumed') && !named;
      }),
  },
  {
    name: 'consumed by a committed run',
    says: 'A consumed event was consumed by a run that committed.',
    atStart: false,
    sql: `SELECT e.workflow_id, e.id FROM events e LEFT JOIN handler_runs r ON r.id = e.reserved_by_run_id
      WHERE e.status = 'consumed' AND (r.id IS NULL OR r.status <> 'committed')`,
    offenders: (rows) =>
      among(rows.events, (event) => {
        if (event.status !== 'consumed') return false;
        return event.reservedByRunId === null || rows.runs.get(event.reservedByRunId)?.status !== 'committed';
      }),
  },
  {
    name: 'one effect an event',
    says: 'No event is behind two calls that were applied or may have been: not even when one of them is still unknown.',
    atStart: false,
    sql: `SELECT a.workflow_id, a.id FROM mutations a JOIN mutations b ON b.first_event_id = a.first_event_id AND b.id <> a.id
      WHERE a.status IN ('applied', ${UNKNOWN}) AND b.status IN ('applied', ${UNKNOWN})`,
    offenders: (rows) => {
      const counted = rows.mutations.matching(mayHaveHappened);
      const repeats = (row: Mutation) =>
        counted.some((other) => other !== row && other.firstEventId === row.firstEventId);
      return ids(counted.filter(repeats));
    },
  },
  {
    name: 'open calls hold their events',
    says: 'Every event of a call without an answer is reserved by a run of its chain, so that no other call can be made for it.',
    atStart: false,
    // Ids hold no quotes, so two of them in the list stand for one event.
    sql: `SELECT m.workflow_id, m.id FROM mutations m WHERE ${UNRESOLVED}
      AND (length(m.event_ids) - length(replace(m.event_ids, '"', ''))) / 2 <> (SELECT count(*) FROM events e
        JOIN handler_runs r ON r.id = e.reserved_by_run_id WHERE e.workflow_id = m.workflow_id AND e.status = 'reserved'
        AND r.root_run_id = m.root_run_id AND m.event_ids LIKE '%"' || e.id || '"%')`,
    offenders: (rows) => {
      const holds = (row: Mutation, event: Event) =>
        event.status === 'reserved' &&
        event.workflowId === row.workflowId &&
        rows.runs.get(event.reservedByRunId ?? '')?.rootRunId === row.rootRunId &&
        row.eventIds.includes(event.id);
      return among(rows.mutations, (row) => {
        if (!waits(row) && row.status !== 'in_flight') return false;
        return rows.events.matching((event) => holds(row, event)).length !== row.eventIds.length;
      });
    },
  },
  {
    name: 'calls in flight have their run',
    says: 'A call in flight belongs to an active run that is mutating; no other unresolved call has an active run.',
    atStart: true,
    sql: `SELECT m.workflow_id, m.id FROM mutations m
      LEFT JOIN handler_runs r ON r.workflow_id = m.workflow_id AND r.root_run_id = m.root_run_id AND r.status = 'active'
      WHERE m.set_aside_at IS NULL AND ${UNRESOLVED}
        AND ((m.status = 'in_flight' AND (r.id IS NULL OR r.phase <> 'mutating')) OR (m.status <> 'in_flight' AND r.id IS NOT NULL))
      UNION ALL SELECT m.workflow_id, m.id FROM mutations m
      LEFT JOIN handler_runs r ON r.workflow_id = m.workflow_id AND r.root_run_id = m.root_run_id AND r.status = 'active'
      WHERE m.set_aside_at IS NOT NULL AND (m.status = 'in_flight' AND (r.id IS NULL OR r.phase <> 'mutating')
        OR m.status IN ('pending', 'needs_reconcile', 'indeterminate') AND r.id IS NOT NULL)`,
    offenders: (rows) =>
      among(rows.mutations, (row) => {
        const active = rows.runs.matching(
          (run) => run.status === 'active' && run.rootRunId === row.rootRunId && run.workflowId === row.workflowId,
        );
        if (row.status !== 'in_flight') return waits(row) && active.length > 0;
        return active.length === 0 || active.some((run) => run.phase !== 'mutating');
      }),
  },
  {
    name: 'open questions are pointed at',
    says: 'An unresolved call of a stopped run is that of the pending retry, or it is set aside.',
    atStart: true,
    sql: `SELECT m.workflow_id, m.id FROM mutations m
      JOIN handler_runs r ON r.root_run_id = m.root_run_id AND ${LAST_RUN}
      JOIN workflows w ON w.id = m.workflow_id
      WHERE m.set_aside_at IS NULL AND ${UNRESOLVED} AND m.status <> 'in_flight'
        AND (w.pending_retry_run_id IS NULL OR w.pending_retry_run_id <> r.id)`,
    offenders: (rows) =>
      among(rows.mutations, (row) => {
        if (!waits(row) || row.setAsideAt !== null) return false;
        const pointer = rows.workflows.get(row.workflowId)?.pendingRetryRunId;
        return lastRuns(rows, row.rootRunId).some((run) => run.id !== pointer);
      }),
  },
  {
    name: 'the pointer names a run that waits',
    says: 'The pending retry is a stopped run of its workflow, the last of its chain, and not before the boundary.',
    atStart: true,
    sql: `SELECT w.id AS workflow_id, w.id FROM workflows w LEFT JOIN handler_runs r ON r.id = w.pending_retry_run_id
      LEFT JOIN mutations m ON m.root_run_id = r.root_run_id
      WHERE w.pending_retry_run_id IS NOT NULL AND (r.id IS NULL OR r.workflow_id <> w.id OR r.status IN ('active', 'committed')
        OR NOT ${LAST_RUN}
        OR (m.id IS NOT NULL AND m.status = 'failed' AND m.resolved_by IS DISTINCT FROM 'user_skip')
        OR (m.id IS NULL AND (r.phase NOT IN ('mutated', 'emitting')
          OR NOT EXISTS (SELECT 1 FROM events e WHERE e.workflow_id = r.workflow_id AND e.reserved_by_run_id = r.id AND e.status = 'reserved'))))`,
    offenders: (rows) =>
      among(rows.workflows, (workflow) => {
        if (workflow.pendingRetryRunId === null) return false;
        const run = rows.runs.get(workflow.pendingRetryRunId);
        if (!run || run.workflowId !== workflow.id) return true;
        if (run.status === 'active' || run.status === 'committed' || !isLast(rows, run)) return true;
        const reserved = rows.events.matching(
          (event) =>
            event.status === 'reserved' && event.reservedByRunId === run.id && event.workflowId === run.workflowId,
        );
        const calls = callsOf(rows, run.rootRunId);
        const chain = calls.length > 0 ? calls : [undefined];
        return chain.some((call) => boundaryOf(run, call, reserved.length) === 'before');
      }),
  },
  {
    name: 'set-aside calls wait',
    says: 'A set-aside call is unknown or past the boundary, its run is stopped, and it is not the pending retry.',
    atStart: true,
    sql: `SELECT m.workflow_id, m.id FROM mutations m CROSS JOIN handler_runs r CROSS JOIN workflows w
      WHERE r.root_run_id = m.root_run_id AND ${LAST_RUN} AND w.id = m.workflow_id AND m.set_aside_at IS NOT NULL AND (r.status IN ('active', 'committed') OR w.pending_retry_run_id = r.id
        OR m.status IN ('pending', 'in_flight') OR (m.status = 'failed' AND m.resolved_by IS DISTINCT FROM 'user_skip'))`,
    offenders: (rows) =>
      among(rows.mutations, (row) => {
        if (row.setAsideAt === null) return false;
        const last = lastRuns(rows, row.rootRunId);
        const pointer = rows.workflows.get(row.workflowId)?.pendingRetryRunId;
        if (last.some((run) => run.status === 'active' || run.status === 'committed' || run.id === pointer))
          return true;
        const before = row.status === 'failed' && row.resolvedBy !== 'user_skip';
        return last.length > 0 && (before || row.status === 'pending' || row.status === 'in_flight');
      }),
  },
  {
    name: 'hold unknown follows the ledger',
    says: 'Hold unknown stands exactly while a live workflow has an unknown call of a stopped run that is not set aside.',
    atStart: false,
    sql: `SELECT w.id AS workflow_id, w.id FROM workflows w WHERE w.status IN ('active', 'paused', 'error')
      AND (w.holds LIKE '%unknown%') <> EXISTS (SELECT 1 FROM mutations m WHERE m.workflow_id = w.id
        AND m.status IN ('needs_reconcile', 'indeterminate') AND m.set_aside_at IS NULL)`,
    offenders: (rows) =>
      among(rows.workflows, (workflow) => {
        if (!isLiveStatus(workflow.status)) return false;
        const isUnknown = (row: Mutation) => waits(row) && row.status !== 'pending' && row.setAsideAt === null;
        const unknown = rows.mutations.matching((row) => row.workflowId === workflow.id && isUnknown(row));
        return unknown.length > 0 !== workflow.holds.includes('unknown');
      }),
  },
  {
    name: 'hold approval follows what waits',
    says: 'Hold approval stands exactly while a live workflow has a recorded call nobody approved, or lacks a grant.',
    atStart: false,
    sql: `SELECT w.id AS workflow_id, w.id FROM workflows w WHERE w.status IN ('active', 'paused', 'error')
      AND (w.holds LIKE '%approval%') <> (w.grant_missing = 1 OR EXISTS (SELECT 1 FROM mutations m
        WHERE m.workflow_id = w.id AND m.status = 'pending' AND m.approved_at IS NULL))`,
    offenders: (rows) =>
      among(rows.workflows, (workflow) => {
        if (!isLiveStatus(workflow.status)) return false;
        const waits = rows.mutations
          .values()
          .some((row) => row.workflowId === workflow.id && row.status === 'pending' && row.approvedAt === null);
        return (waits || workflow.grantMissing) !== workflow.holds.includes('approval');
      }),
  },
  {
    name: 'status follows holds',
    says: 'The status of a live workflow is that of its holds; a workflow that is not live has none.',
    atStart: true,
    sql: `SELECT id AS workflow_id, id FROM workflows WHERE status <> CASE
      WHEN status NOT IN ('active', 'paused', 'error') AND holds = '' THEN status
      WHEN holds LIKE '%approval%' OR holds LIKE '%connection%' OR holds LIKE '%error%' THEN 'error'
      WHEN holds <> '' THEN 'paused' ELSE 'active' END`,
    offenders: (rows) =>
      among(rows.workflows, ({ status, holds }) =>
        isLiveStatus(status) ? status !== statusOf(holds) : holds.length > 0,
      ),
  },
  {
    name: 'active runs are in a live session',
    says: 'An active run belongs to the open session of a running execution of its workflow.',
    atStart: true,
    sql: `SELECT r.workflow_id, r.id FROM handler_runs r LEFT JOIN script_runs s ON s.id = r.script_run_id
      LEFT JOIN executions e ON e.id = s.execution_id
      WHERE r.status = 'active' AND (s.id IS NULL OR s.end_timestamp IS NOT NULL OR e.id IS NULL OR e.status <> 'running'
        OR s.workflow_id <> r.workflow_id)`,
    offenders: (rows) =>
      among(rows.runs, (run) => {
        if (run.status !== 'active') return false;
        const session = rows.sessions.get(run.scriptRunId);
        if (!session || session.endTimestamp !== null || session.workflowId !== run.workflowId) return true;
        return rows.executions.get(session.executionId)?.status !== 'running';
      }),
  },
  {
    name: 'sessions and executions run together',
    says: 'A running execution has exactly one open session, and an open session a running execution.',
    atStart: true,
    sql: `SELECT e.workflow_id, e.id FROM executions e LEFT JOIN script_runs s ON s.execution_id = e.id AND s.end_timestamp IS NULL
      WHERE (e.status = 'running') AND s.id IS NULL
      UNION ALL SELECT s.workflow_id, s.id FROM script_runs s LEFT JOIN executions e ON e.id = s.execution_id
      WHERE s.end_timestamp IS NULL AND (e.id IS NULL OR e.status <> 'running')`,
    offenders: (rows) => {
      const open = rows.sessions.values().filter((session) => session.endTimestamp === null);
      const running = rows.executions.values().filter((execution) => execution.status === 'running');
      return [
        ...ids(running.filter((execution) => !open.some((session) => session.executionId === execution.id))),
        ...ids(open.filter((session) => rows.executions.get(session.executionId)?.status !== 'running')),
      ];
    },
  },
  {
    name: 'commits are whole',
    says: 'A run is committed in phase and status together, and leaves no event reserved.',
    atStart: false,
    sql: `SELECT r.workflow_id, r.id FROM handler_runs r WHERE (r.phase = 'committed') <> (r.status = 'committed')
      OR (r.status = 'committed' AND EXISTS (SELECT 1 FROM events e WHERE e.reserved_by_run_id = r.id AND e.status = 'reserved'))`,
    offenders: (rows) =>
      among(rows.runs, (run) => {
        if ((run.phase === 'committed') !== (run.status === 'committed')) return true;
        if (run.status !== 'committed') return false;
        return rows.events.values().some((event) => event.status === 'reserved' && event.reservedByRunId === run.id);
      }),
  },
  {
    name: 'outcomes agree with the ledger',
    says: 'The last run of a chain whose call was applied, skipped or failed says so; one whose call is open says nothing.',
    atStart: false,
    sql: `SELECT m.workflow_id, m.id FROM mutations m JOIN handler_runs r ON r.root_run_id = m.root_run_id AND ${LAST_RUN}
      WHERE r.mutation_outcome <> CASE WHEN m.status = 'applied' THEN 'success'
        WHEN m.status = 'failed' AND m.resolved_by = 'user_skip' THEN 'skipped' WHEN m.status = 'failed' THEN 'failure' ELSE '' END`,
    offenders: (rows) =>
      among(rows.mutations, (row) => {
        const said = lastRuns(rows, row.rootRunId).map((run) => run.mutationOutcome);
        if (row.status === 'applied') return said.some((outcome) => outcome !== 'success');
        if (row.status !== 'failed') return said.some((outcome) => outcome !== '');
        const expected = row.resolvedBy === 'user_skip' ? 'skipped' : 'failure';
        return said.some((outcome) => outcome !== expected);
      }),
  },
  {
    name: 'chains are chains',
    says: 'A retry is one place after the run it retries, in the same chain, of the same consumer, and that run had stopped.',
    atStart: false,
    sql: `SELECT r.workflow_id, r.id FROM handler_runs r LEFT JOIN handler_runs p ON p.id = r.retry_of
      WHERE (r.retry_of IS NULL AND (r.root_run_id <> r.id OR r.attempt <> 0))
        OR (r.retry_of IS NOT NULL AND (p.id IS NULL OR p.root_run_id <> r.root_run_id OR r.attempt <> p.attempt + 1
          OR p.handler_name <> r.handler_name OR p.status IN ('active', 'committed')))`,
    offenders: (rows) =>
      among(rows.runs, (run) => {
        if (run.retryOf === null) return run.rootRunId !== run.id || run.attempt !== 0;
        const previous = rows.runs.get(run.retryOf);
        if (!previous || previous.rootRunId !== run.rootRunId || run.attempt !== previous.attempt + 1) return true;
        return (
          previous.handlerName !== run.handlerName || previous.status === 'active' || previous.status === 'committed'
        );
      }),
  },
  {
    name: 'sessions count their commits',
    says: 'A session counts exactly the runs of it that committed.',
    atStart: false,
    sql: `SELECT s.workflow_id, s.id FROM script_runs s WHERE s.handler_run_count <>
      (SELECT count(*) FROM handler_runs r WHERE r.script_run_id = s.id AND r.status = 'committed')`,
    offenders: (rows) =>
      among(rows.sessions, (session) => {
        const committed = rows.runs.matching((run) => run.scriptRunId === session.id && run.status === 'committed');
        return committed.length !== session.handlerRunCount;
      }),
  },
  BELONGING,
  {
    name: 'maintenance is about a failed run',
    says: 'A workflow in maintenance names a stopped run of its own that failed by its script.',
    atStart: true,
    sql: `SELECT w.id AS workflow_id, w.id FROM workflows w LEFT JOIN handler_runs r ON r.id = w.maintenance_run_id
      WHERE (w.maintenance = 1) <> (w.maintenance_run_id IS NOT NULL)
        OR (w.maintenance = 1 AND (r.id IS NULL OR r.workflow_id <> w.id OR r.status <> 'failed:logic'))`,
    offenders: (rows) =>
      among(rows.workflows, (workflow) => {
        if (workflow.maintenance !== (workflow.maintenanceRunId !== null)) return true;
        if (workflow.maintenanceRunId === null) return false;
        const run = rows.runs.get(workflow.maintenanceRunId);
        return run?.workflowId !== workflow.id || run.status !== 'failed:logic';
      }),
  },
  {
    name: 'nothing ready is forgotten',
    says: 'A workflow that could go on with a pending retry has a time at which the scheduler looks, or an execution under way.',
    atStart: true,
    sql: `SELECT w.id AS workflow_id, w.id FROM workflows w JOIN handler_runs r ON r.id = w.pending_retry_run_id
      LEFT JOIN mutations m ON m.root_run_id = r.root_run_id
      WHERE w.status = 'active' AND w.maintenance = 0 AND w.quiet = 0 AND w.due_at IS NULL
        AND (m.id IS NULL OR m.status IN ('applied', 'failed') OR m.approved_at IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM executions e WHERE e.workflow_id = w.id AND e.status = 'requested')
        AND NOT EXISTS (SELECT 1 FROM executions e WHERE e.workflow_id = w.id AND ${BUSY})`,
    offenders: (rows) =>
      among(rows.workflows, (workflow) => {
        if (workflow.status !== 'active' || workflow.maintenance || workflow.quiet || workflow.dueAt !== null)
          return false;
        const run = workflow.pendingRetryRunId === null ? undefined : rows.runs.get(workflow.pendingRetryRunId);
        if (!run) return false;
        const calls = callsOf(rows, run.rootRunId);
        const ready = (row: Mutation) => row.status === 'applied' || row.status === 'failed' || row.approvedAt !== null;
        if (calls.length > 0 && !calls.some(ready)) return false;
        const underWay: readonly ExecutionStatus[] = ['requested', ...BUSY_EXECUTION];
        return !rows.executions.values().some((e) => e.workflowId === workflow.id && underWay.includes(e.status));
      }),
  },
];
