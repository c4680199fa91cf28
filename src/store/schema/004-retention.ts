import type { Dialect } from '../dialect.ts';
import { oneOf } from '../statements/statement.ts';

/** What stays of history that was removed. */
export function tablesOfRetention(d: Dialect): string[] {
  const { integer } = d;
  return [
    `CREATE TABLE pruned_events (
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      topic TEXT NOT NULL,
      message_id TEXT NOT NULL,
      id TEXT NOT NULL,
      status TEXT NOT NULL CHECK (${oneOf('status', ['consumed', 'skipped'])}),
      created_at ${integer} NOT NULL,
      PRIMARY KEY (workflow_id, topic, message_id)
    ) ${d.clusteredTableEnd}`,
    `CREATE TABLE pruned_deliveries (
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      handler_name TEXT NOT NULL,
      delivery_id TEXT NOT NULL,
      id TEXT NOT NULL,
      received_at ${integer} NOT NULL,
      PRIMARY KEY (workflow_id, handler_name, delivery_id)
    ) ${d.clusteredTableEnd}`,
    `CREATE TABLE kept_approvals (
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      connection TEXT NOT NULL,
      method TEXT NOT NULL,
      approved_at ${integer} NOT NULL,
      approved_by TEXT NOT NULL,
      PRIMARY KEY (workflow_id, connection, method)
    ) ${d.clusteredTableEnd}`,
  ];
}

/**
 * Which rows refer to one that goes. Every commit would pay for these, so they are made only where history is ever removed, by
 * the first engine whose config says so.
 */
export const RETENTION_INDEXES: readonly string[] = [
  'CREATE INDEX IF NOT EXISTS events_taken ON events (reserved_by_run_id) WHERE reserved_by_run_id IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS mutations_run ON mutations (handler_run_id)',
  'CREATE INDEX IF NOT EXISTS handler_runs_delivery ON handler_runs (delivery_id) WHERE delivery_id IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS deliveries_run ON deliveries (run_id) WHERE run_id IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS maintenance_tasks_run ON maintenance_tasks (run_id)',
  'CREATE INDEX IF NOT EXISTS workflows_retry ON workflows (pending_retry_run_id) WHERE pending_retry_run_id IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS handler_states_crash ON handler_states (crash_event_id) WHERE crash_event_id IS NOT NULL',
  'CREATE INDEX IF NOT EXISTS script_runs_execution ON script_runs (execution_id)',
  'CREATE INDEX IF NOT EXISTS enforcements_execution ON enforcements (execution_id)',
  'CREATE INDEX IF NOT EXISTS messages_execution ON messages (execution_id)',
];
