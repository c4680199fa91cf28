import { MESSAGE_VERSION } from '#model';
import { EVENTS, PENDING_TOPICS } from './events.ts';
import { EXECUTIONS, IS_BUSY } from './executions.ts';
import { MESSAGES } from './messages.ts';
import { MUTATIONS } from './mutations.ts';
import { ALLOWANCES, NOTICES } from './people.ts';
import { WORKERS } from './workers.ts';

/**
 * What the rooms above ask for to find their work and to show it. They list candidates, each page bounded by `:limit`: whoever acts
 * on one decides again, on the writing connection.
 */
export const LISTINGS = {
  /** Handed off and not ended. A workflow has at most one, so they are paged in the order of an index that exists anyway. */
  unfinishedExecutions: `SELECT id, epoch, status, owner,
      (SELECT count(*) FROM handler_runs WHERE workflow_id = executions.workflow_id AND status = 'active')
    FROM executions
    WHERE ${IS_BUSY} AND status <> 'scheduling'
      AND workflow_id > coalesce((SELECT workflow_id FROM executions WHERE id = :after), '')
    ORDER BY workflow_id LIMIT :limit`,

  /** Places under a limit that are taken. */
  slotsTaken: `SELECT count(*) FROM slots JOIN executions ON executions.id = slots.execution_id
    WHERE slots.limit_name = :limit AND executions.ended_at IS NULL`,
  /** Requests that wait for room under a limit, oldest first; not those of a workflow that something else holds. */
  slotWaiters: `SELECT executions.workflow_id, executions.requested_at
    FROM executions JOIN workflows ON workflows.id = executions.workflow_id
    WHERE executions.waits_for = :name AND executions.status = 'requested' AND workflows.due_at IS NOT NULL ORDER BY executions.id LIMIT :limit`,

  dueWorkflows: 'SELECT id, due_at FROM workflows WHERE due_at <= :now ORDER BY due_at, id LIMIT :limit',
  nextDueAt: 'SELECT min(due_at) FROM workflows WHERE due_at IS NOT NULL',
  /** The earliest of all that is waited for. A look-up that is claimed is due again when its claim runs out: whoever claimed it may be dead. */
  nextWakeAt: `SELECT min(at) FROM (SELECT min(due_at) AS at FROM workflows WHERE due_at IS NOT NULL
    UNION ALL SELECT min(coalesce(reconcile_until, reconcile_at)) FROM mutations WHERE status = 'needs_reconcile'
    UNION ALL SELECT min(approval_expires_at) FROM mutations WHERE status = 'pending' AND approved_at IS NULL) AS times`,
  wasApproved: `SELECT 1 FROM mutations
    WHERE workflow_id = :workflow AND connection = :connection AND method = :method AND approved_at IS NOT NULL
    UNION ALL SELECT 1 FROM kept_approvals
    WHERE workflow_id = :workflow AND connection = :connection AND method = :method LIMIT 1`,

  dueReconciles: `SELECT ${MUTATIONS.columnList()} FROM mutations
    WHERE status = 'needs_reconcile' AND reconcile_at <= :now AND (reconcile_until IS NULL OR reconcile_until <= :now)
    ORDER BY reconcile_at LIMIT :limit`,
  expiredApprovals: `SELECT ${MUTATIONS.columnList()} FROM mutations
    WHERE status = 'pending' AND approval_expires_at <= :now AND approved_at IS NULL
    ORDER BY approval_expires_at LIMIT :limit`,
  expiredScheduling: `SELECT ${EXECUTIONS.columnList()} FROM executions
    WHERE status = 'scheduling' AND scheduling_until <= :now ORDER BY scheduling_until LIMIT :limit`,

  /** Incarnations that have not said goodbye: this one, and those that died. */
  unendedWorkers: `SELECT ${WORKERS.columnList()} FROM workers WHERE ended_at IS NULL`,

  maintenanceWithoutTask: `SELECT id FROM workflows
    WHERE maintenance_run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM maintenance_tasks
      WHERE run_id = workflows.maintenance_run_id AND status = 'open' AND kind = 'repair')
    ORDER BY maintenance_run_id LIMIT :limit`,

  /** Reserved for a run that is neither active, nor pending retry, nor the set-aside end of its chain: only a bug makes any. */
  orphanedReservedEvents: `SELECT ${EVENTS.columnList('events')}
    FROM events
      JOIN workflows ON workflows.id = events.workflow_id
      JOIN handler_runs ON handler_runs.id = events.reserved_by_run_id
    WHERE events.status = 'reserved' AND (handler_runs.workflow_id <> workflows.id OR NOT (
        handler_runs.status = 'active'
        OR workflows.pending_retry_run_id IS NOT DISTINCT FROM handler_runs.id
        OR handler_runs.status <> 'committed'
          AND NOT EXISTS (SELECT 1 FROM handler_runs AS later WHERE later.retry_of = handler_runs.id)
          AND EXISTS (SELECT 1 FROM mutations
            WHERE mutations.root_run_id = handler_runs.root_run_id AND mutations.set_aside_at IS NOT NULL)))
    ORDER BY events.workflow_id, events.reserved_by_run_id LIMIT :limit`,

  /** Those that nobody has to act on any more: hints, and handoffs that were taken or overtaken. */
  messages: `SELECT id FROM messages WHERE version = ${MESSAGE_VERSION} AND (type <> 'execution.scheduled'
      OR NOT EXISTS (SELECT 1 FROM executions
        WHERE id = messages.execution_id AND status = 'scheduled' AND epoch = messages.epoch))
    ORDER BY id LIMIT :limit`,
  messageRows: `SELECT ${MESSAGES.columnList()} FROM messages ORDER BY id LIMIT :limit`,
  /** Handoffs that nobody has taken yet, oldest first. */
  handOffs: `SELECT messages.id, messages.execution_id, messages.workflow_id, messages.epoch, workflows.active_script_id
    FROM messages JOIN executions ON executions.id = messages.execution_id
      JOIN workflows ON workflows.id = messages.workflow_id
    WHERE messages.type = 'execution.scheduled' AND messages.version = ${MESSAGE_VERSION}
      AND executions.status = 'scheduled' AND executions.epoch = messages.epoch
    ORDER BY messages.id LIMIT :limit`,
  strangeMessages: `SELECT id FROM messages WHERE version <> ${MESSAGE_VERSION} ORDER BY id LIMIT :limit`,

  allowances: `SELECT ${ALLOWANCES.columnList()} FROM allowances WHERE workflow_id = :workflow AND until > :now
    ORDER BY until LIMIT :limit`,
  dueNotices: `SELECT ${NOTICES.columnList()} FROM notices WHERE status = 'due' AND due_at <= :now
    ORDER BY due_at LIMIT :limit`,
  nextNoticeAt: `SELECT min(due_at) FROM notices WHERE status = 'due'`,

  /** Below a place among the ids, latest first; whether they may go the rule decides. */
  agedRuns: `SELECT id, workflow_id FROM handler_runs
    WHERE id < :below AND root_run_id = id AND end_timestamp <= :before ORDER BY id DESC LIMIT :limit`,
  agedEvents: `SELECT id, workflow_id FROM events
    WHERE id < :below AND status = 'skipped' AND reserved_by_run_id IS NULL ORDER BY id DESC LIMIT :limit`,
  agedSessions: `SELECT id, workflow_id FROM script_runs WHERE id < :below AND end_timestamp <= :before
      AND NOT EXISTS (SELECT 1 FROM handler_runs WHERE script_run_id = script_runs.id) ORDER BY id DESC LIMIT :limit`,
  agedExecutions: `SELECT id, workflow_id FROM executions WHERE id < :below AND ended_at <= :before
      AND NOT EXISTS (SELECT 1 FROM script_runs WHERE execution_id = executions.id) ORDER BY id DESC LIMIT :limit`,
  agedInputs: `SELECT id, workflow_id FROM inputs WHERE id < :below
      AND NOT EXISTS (SELECT 1 FROM event_inputs WHERE input_id = inputs.id) ORDER BY id DESC LIMIT :limit`,

  scriptCode: 'SELECT code, manifest FROM scripts WHERE id = :script',
} as const;

const SELECT_EVENTS = `SELECT ${EVENTS.columnList()} FROM events`;

/** Events of a workflow in the order they were made; each filter has the index that knows its answer. */
export const EVENT_LISTINGS = {
  all: `${SELECT_EVENTS} WHERE workflow_id = :workflow AND id > :after
      AND topic = coalesce(:topic, topic) AND status = coalesce(:status, status) ORDER BY id LIMIT :limit`,
  pendingOfTopic: `${SELECT_EVENTS} WHERE workflow_id = :workflow AND topic = :topic AND status = 'pending'
      AND id > :after ORDER BY id LIMIT :limit`,
  pending: `${PENDING_TOPICS}
    SELECT ${EVENTS.columnList('events')} FROM topics JOIN events ON events.id IN (
      SELECT id FROM events AS waiting WHERE waiting.workflow_id = :workflow AND waiting.topic = topics.topic
        AND waiting.status = 'pending' AND waiting.id > :after ORDER BY waiting.id LIMIT :limit)
    ORDER BY events.id LIMIT :limit`,
  // Asked for in two steps: else SQLite walks the workflow's whole history because that is in the right order.
  reserved: `${SELECT_EVENTS} WHERE id IN (SELECT id FROM events
        WHERE workflow_id = :workflow AND status = 'reserved' AND reserved_by_run_id IS NOT NULL)
      AND id > :after AND topic = coalesce(:topic, topic) ORDER BY id LIMIT :limit`,
  aside: `${SELECT_EVENTS} WHERE workflow_id = :workflow AND status = :status
      AND (status = 'parked' OR status = 'skipped') AND id > :after
      AND topic = coalesce(:topic, topic) ORDER BY id LIMIT :limit`,
} as const;
