import type { KeptApproval, PrunedDelivery, PrunedEvent } from '#model';
import { table } from '../columns.ts';
import type { Dialect } from '../dialect.ts';
import { EVENTS } from './events.ts';
import { HANDLER_RUNS } from './handler-runs.ts';
import { EVENT_INPUTS, INPUTS } from './inputs.ts';
import { MESSAGES } from './messages.ts';
import { ALLOWANCES } from './people.ts';
import { SCRIPT_RUNS } from './script-runs.ts';
import { inserted, type LookupStatements, selected, type WriteStatement, type WriteStatements } from './statement.ts';

/** What stays of history that was removed. */
export const PRUNED_EVENTS = table<PrunedEvent>('pruned_events', {
  workflowId: 'text',
  topic: 'text',
  messageId: 'text',
  id: 'text',
  status: 'text',
  createdAt: 'integer',
});

export const PRUNED_DELIVERIES = table<PrunedDelivery>('pruned_deliveries', {
  workflowId: 'text',
  handlerName: 'text',
  deliveryId: 'text',
  id: 'text',
  receivedAt: 'integer',
});

export const KEPT_APPROVALS = table<KeptApproval>('kept_approvals', {
  workflowId: 'text',
  connection: 'text',
  method: 'text',
  approvedAt: 'integer',
  approvedBy: 'text',
});

type Name =
  | 'approval.kept'
  | 'logs.removed'
  | 'reads.removed'
  | 'evidence.removed'
  | 'mutations.removed'
  | 'events.remembered'
  | 'causes.removed'
  | 'events.removed'
  | 'tasks.removed'
  | 'runs.undelivered'
  | 'deliveries.remembered'
  | 'deliveries.removed'
  | 'runs.removed'
  | 'session.uncounted'
  | 'sessions.removed'
  | 'enforcements.removed'
  | 'executions.removed'
  | 'inputs.removed'
  | 'event.known'
  | 'delivery.known';

const among = (column: string, list: string, dialect: Dialect): string => dialect.isElement(column, `:${list}`);

/** Every row that refers to these, however many there are. */
function allOf(from: string, column: string, list: string, and = '') {
  return {
    sql: (d: Dialect) => `DELETE FROM ${from} WHERE ${among(column, list, d)} ${and}`,
    rows: () => 'any' as const,
  };
}

export const OLD_HISTORY_WRITES: WriteStatements<Name> = {
  'approval.kept': {
    ...inserted(KEPT_APPROVALS),
    sql: `${inserted(KEPT_APPROVALS).sql} ON CONFLICT DO NOTHING`,
    rows: () => 'any',
  },
  'logs.removed': allOf('run_logs', 'run_id', 'runs'),
  'reads.removed': allOf('run_reads', 'run_id', 'runs'),
  'evidence.removed': allOf('evidence', 'mutation_id', 'mutations'),
  'mutations.removed': {
    sql: (d) => `DELETE FROM mutations WHERE ${among('id', 'mutations', d)}
      AND resolved_at IS NOT NULL AND set_aside_at IS NULL`,
    rows: ({ mutations }) => mutations.length,
  },
  'events.remembered': {
    sql: (d) => `INSERT INTO pruned_events (${PRUNED_EVENTS.columnList()})
      SELECT ${PRUNED_EVENTS.columnList()} FROM events WHERE ${among('id', 'events', d)}`,
    rows: ({ events }) => events.length,
  },
  'causes.removed': allOf('event_inputs', 'event_id', 'events'),
  'events.removed': {
    sql: (d) => `DELETE FROM events WHERE ${among('id', 'events', d)} AND (status = 'consumed' OR status = 'skipped')`,
    rows: ({ events }) => events.length,
  },
  'tasks.removed': allOf('maintenance_tasks', 'run_id', 'runs', `AND status = 'closed'`),
  'runs.undelivered': {
    sql: (d) =>
      `UPDATE handler_runs SET delivery_id = NULL WHERE ${among('id', 'runs', d)} AND delivery_id IS NOT NULL`,
    rows: ({ runs }) => runs.length,
  },
  'deliveries.remembered': {
    sql: (d) => `INSERT INTO pruned_deliveries (${PRUNED_DELIVERIES.columnList()})
      SELECT ${PRUNED_DELIVERIES.columnList()} FROM deliveries WHERE ${among('id', 'deliveries', d)}`,
    rows: ({ deliveries }) => deliveries.length,
  },
  'deliveries.removed': {
    sql: (d) => `DELETE FROM deliveries WHERE ${among('id', 'deliveries', d)} AND status = 'done'`,
    rows: ({ deliveries }) => deliveries.length,
  },
  'runs.removed': {
    sql: (d) => `DELETE FROM handler_runs WHERE ${among('id', 'runs', d)} AND status <> 'active'`,
    rows: ({ runs }) => runs.length,
  },
  'session.uncounted': {
    sql: `UPDATE script_runs SET handler_run_count = handler_run_count - :count WHERE id = :session`,
  },
  'sessions.removed': {
    sql: (d) => `DELETE FROM script_runs WHERE ${among('id', 'sessions', d)} AND end_timestamp IS NOT NULL`,
    rows: ({ sessions }) => sessions.length,
  },
  'enforcements.removed': allOf('enforcements', 'execution_id', 'executions'),
  'executions.removed': {
    sql: (d) => `DELETE FROM executions WHERE ${among('id', 'executions', d)} AND ended_at IS NOT NULL`,
    rows: ({ executions }) => executions.length,
  },
  'inputs.removed': {
    sql: (d) => `DELETE FROM inputs WHERE ${among('id', 'inputs', d)}`,
    rows: ({ inputs }) => inputs.length,
  } satisfies WriteStatement<'inputs.removed'>,
  'event.known': inserted(PRUNED_EVENTS),
  'delivery.known': inserted(PRUNED_DELIVERIES),
};

/** What refers to a row. The workflow is only held for it: the row alone is found by an index. */
export const OLD_HISTORY_LOOKUPS: LookupStatements<
  | 'chain'
  | 'takenBy'
  | 'publishedBy'
  | 'redosOf'
  | 'runsOfDelivery'
  | 'runsOfSession'
  | 'sessionsOf'
  | 'messagesOf'
  | 'inputNamed'
  | 'causedBy'
  | 'allowancesOf'
> = {
  chain: selected(HANDLER_RUNS, ['workflow', 'root'], 'WHERE root_run_id = :root'),
  takenBy: selected(EVENTS, ['workflow', 'run'], 'WHERE reserved_by_run_id = :run'),
  publishedBy: selected(EVENTS, ['workflow', 'run'], 'WHERE published_by_run_id = :run'),
  redosOf: selected(EVENTS, ['workflow', 'event'], 'WHERE redo_of = :event'),
  runsOfDelivery: selected(HANDLER_RUNS, ['workflow', 'delivery'], 'WHERE delivery_id = :delivery'),
  runsOfSession: selected(HANDLER_RUNS, ['workflow', 'session'], 'WHERE script_run_id = :session'),
  sessionsOf: selected(SCRIPT_RUNS, ['workflow', 'execution'], 'WHERE execution_id = :execution'),
  messagesOf: selected(MESSAGES, ['workflow', 'execution'], 'WHERE execution_id = :execution'),
  inputNamed: selected(INPUTS, ['workflow', 'input'], 'WHERE id = :input'),
  causedBy: selected(EVENT_INPUTS, ['workflow', 'input'], 'WHERE input_id = :input'),
  allowancesOf: selected(ALLOWANCES, ['workflow'], 'WHERE workflow_id = :workflow'),
};
