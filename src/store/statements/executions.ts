import { BUSY_EXECUTION, type Enforcement, type Execution, type Limit, type Slot } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, oneOf, selected, type WriteStatements } from './statement.ts';

export const ENFORCEMENTS = table<Enforcement>('enforcements', {
  id: 'text',
  workflowId: 'text',
  executionId: 'text',
  trigger: 'text',
  createdAt: 'integer',
});

export const EXECUTIONS = table<Execution>('executions', {
  id: 'text',
  workflowId: 'text',
  status: 'text',
  trigger: 'text',
  epoch: 'integer',
  owner: 'text',
  cancelRequestedAt: 'integer',
  cancelRequestedBy: 'text',
  schedulingUntil: 'integer',
  requestedAt: 'integer',
  startedAt: 'integer',
  endedAt: 'integer',
  waitsFor: 'text',
  slots: 'list',
});

export const LIMITS = table<Limit>('limits', { name: 'text', slotsMax: 'integer', setAt: 'integer' });

export const SLOTS = table<Slot>('slots', { limitName: 'text', executionId: 'text' });

/** The words of the partial index; a query that is to use it must say them the same way. */
export const IS_BUSY = oneOf('status', BUSY_EXECUTION);

type Name =
  | 'enforcement.created'
  | 'execution.requested'
  | 'execution.folded'
  | 'execution.waits'
  | 'execution.scheduling'
  | 'execution.returned'
  | 'execution.scheduled'
  | 'execution.running'
  | 'execution.fenced'
  | 'execution.ended'
  | 'execution.cancelRequested'
  | 'limit.set'
  | 'slot.taken'
  | 'slot.freed';

export const EXECUTION_WRITES: WriteStatements<Name> = {
  'enforcement.created': inserted(ENFORCEMENTS),
  'execution.requested': inserted(EXECUTIONS),
  'execution.folded': {
    sql: `UPDATE executions SET trigger = :to WHERE id = :execution AND status = 'requested' AND trigger = :from`,
  },
  'execution.waits': {
    sql: `UPDATE executions SET waits_for = :for WHERE id = :execution AND status = 'requested'`,
  },
  'execution.scheduling': {
    sql: `UPDATE executions SET status = 'scheduling', scheduling_until = :until, waits_for = NULL, slots = :slots
      WHERE id = :execution AND status = 'requested'`,
    kinds: { slots: 'list' },
  },
  'execution.returned': {
    sql: `UPDATE executions SET status = 'requested', scheduling_until = NULL, slots = '[]'
      WHERE id = :execution AND status = 'scheduling'`,
  },
  'execution.scheduled': {
    sql: `UPDATE executions SET status = 'scheduled', epoch = :epoch, scheduling_until = NULL
      WHERE id = :execution AND status = 'scheduling' AND epoch = :epoch - 1`,
  },
  'execution.running': {
    sql: `UPDATE executions SET status = 'running', owner = :owner, started_at = :at
      WHERE id = :execution AND status = 'scheduled' AND epoch = :epoch`,
  },
  'execution.fenced': {
    sql: 'UPDATE executions SET epoch = :to WHERE id = :execution AND epoch = :from AND ended_at IS NULL',
  },
  'execution.ended': {
    sql: `UPDATE executions SET status = :to, ended_at = :at, scheduling_until = NULL, waits_for = NULL, slots = '[]'
      WHERE id = :execution AND status = :from`,
  },
  'execution.cancelRequested': {
    sql: `UPDATE executions SET cancel_requested_at = :at, cancel_requested_by = :by
      WHERE id = :execution AND cancel_requested_at IS NULL AND ended_at IS NULL`,
  },
  'limit.set': {
    ...inserted(LIMITS),
    sql: `${inserted(LIMITS).sql} ON CONFLICT (name) DO UPDATE SET slots_max = excluded.slots_max, set_at = excluded.set_at`,
  },
  'slot.taken': inserted(SLOTS),
  // An execution must be able to end, whatever is there.
  'slot.freed': {
    sql: 'DELETE FROM slots WHERE limit_name = :limit AND execution_id = :execution',
    rows: () => 'any',
  },
};

export const EXECUTION_LOOKUPS: LookupStatements<'execution' | 'openExecutions' | 'limit' | 'slotsOf'> = {
  limit: selected(LIMITS, ['name'], 'WHERE name = :name'),
  // What a process of an earlier version ended, it did not free: that is not counted.
  slotsOf: {
    sql: `SELECT ${SLOTS.columnList('slots')} FROM slots JOIN executions ON executions.id = slots.execution_id
      WHERE slots.limit_name = :limitName AND executions.ended_at IS NULL`,
    by: ['limitName'],
    rows: SLOTS,
  },
  execution: selected(EXECUTIONS, ['execution'], 'WHERE id = :execution'),
  openExecutions: {
    // Two unique indexes answer it, one row each; a third for both would be paid by every session.
    sql: `SELECT ${EXECUTIONS.columnList()} FROM executions WHERE workflow_id = :workflow AND ${IS_BUSY}
      UNION ALL
      SELECT ${EXECUTIONS.columnList()} FROM executions WHERE workflow_id = :workflow AND status = 'requested'`,
    by: ['workflow'],
    rows: EXECUTIONS,
  },
};
