import { IS_BUSY } from '../statements/executions.ts';
import { IS_OPEN_QUESTION } from '../statements/mutations.ts';

/**
 * What is true among rows, and what every statement needs to find its rows without reading a table. Partial ones hold only rows
 * that are still of interest, so that history costs nothing.
 */
export const INDEXES: readonly string[] = [
  'CREATE UNIQUE INDEX workflows_name ON workflows (name)',
  'CREATE INDEX workflows_due ON workflows (due_at, id) WHERE due_at IS NOT NULL',
  'CREATE INDEX workflows_repair ON workflows (maintenance_run_id) WHERE maintenance_run_id IS NOT NULL',
  `CREATE INDEX workflows_held ON workflows (held_connections) WHERE held_connections <> '[]'`,
  `CREATE INDEX workflows_troubled ON workflows (id) WHERE holds <> '' OR maintenance = 1`,

  'CREATE UNIQUE INDEX scripts_version ON scripts (workflow_id, major, minor)',

  `CREATE UNIQUE INDEX executions_busy ON executions (workflow_id) WHERE ${IS_BUSY}`,
  `CREATE UNIQUE INDEX executions_requested ON executions (workflow_id) WHERE status = 'requested'`,
  `CREATE INDEX executions_scheduling ON executions (scheduling_until) WHERE status = 'scheduling'`,

  'CREATE UNIQUE INDEX script_runs_open ON script_runs (workflow_id) WHERE end_timestamp IS NULL',
  'CREATE INDEX script_runs_workflow ON script_runs (workflow_id, id)',

  `CREATE UNIQUE INDEX handler_runs_active ON handler_runs (workflow_id) WHERE status = 'active'`,
  'CREATE UNIQUE INDEX handler_runs_chain ON handler_runs (root_run_id, attempt)',
  'CREATE INDEX handler_runs_workflow ON handler_runs (workflow_id, id)',
  'CREATE INDEX handler_runs_session ON handler_runs (script_run_id, id)',
  // A run is active and then committed, nearly always: only what went otherwise is listed by its status.
  `CREATE INDEX handler_runs_stopped ON handler_runs (workflow_id, status, id)
    WHERE status <> 'committed' AND status <> 'active'`,
  'CREATE UNIQUE INDEX handler_runs_retry ON handler_runs (retry_of) WHERE retry_of IS NOT NULL',

  'CREATE UNIQUE INDEX events_key ON events (workflow_id, topic, message_id)',
  'CREATE INDEX events_workflow ON events (workflow_id, id)',
  `CREATE INDEX events_pending ON events (workflow_id, topic, id) WHERE status = 'pending'`,
  `CREATE INDEX events_pending_seq ON events (workflow_id, topic, pending_seq) WHERE status = 'pending'`,
  `CREATE INDEX events_reserved ON events (workflow_id, reserved_by_run_id) WHERE status = 'reserved'`,
  `CREATE INDEX events_aside ON events (workflow_id, status, id) WHERE status = 'parked' OR status = 'skipped'`,
  'CREATE INDEX events_published ON events (published_by_run_id, id) WHERE published_by_run_id IS NOT NULL',
  'CREATE INDEX events_redo ON events (redo_of, id) WHERE redo_of IS NOT NULL',

  'CREATE UNIQUE INDEX mutations_chain ON mutations (root_run_id)',
  `CREATE UNIQUE INDEX mutations_open ON mutations (workflow_id) WHERE ${IS_OPEN_QUESTION}`,
  'CREATE INDEX mutations_aside ON mutations (workflow_id, set_aside_at) WHERE set_aside_at IS NOT NULL',
  'CREATE INDEX mutations_workflow ON mutations (workflow_id, id)',
  `CREATE INDEX mutations_troubled ON mutations (workflow_id, status, id)
    WHERE status <> 'applied' AND status <> 'in_flight'`,
  'CREATE INDEX mutations_event ON mutations (first_event_id)',
  `CREATE INDEX mutations_reconcile ON mutations (reconcile_at) WHERE status = 'needs_reconcile'`,
  `CREATE INDEX mutations_approval ON mutations (approval_expires_at) WHERE status = 'pending'`,
  'CREATE INDEX mutations_approved ON mutations (workflow_id, connection, method) WHERE approved_at IS NOT NULL',

  'CREATE INDEX evidence_mutation ON evidence (mutation_id, id)',

  'CREATE UNIQUE INDEX inputs_key ON inputs (workflow_id, source, type, external_id)',
  'CREATE INDEX inputs_workflow ON inputs (workflow_id, id)',
  'CREATE INDEX event_inputs_input ON event_inputs (input_id, event_id)',

  'CREATE UNIQUE INDEX deliveries_key ON deliveries (workflow_id, handler_name, delivery_id)',
  `CREATE INDEX deliveries_pending ON deliveries (workflow_id, id) WHERE status = 'pending'`,

  `CREATE UNIQUE INDEX maintenance_tasks_repair ON maintenance_tasks (run_id) WHERE status = 'open' AND kind = 'repair'`,
  `CREATE INDEX maintenance_tasks_open ON maintenance_tasks (workflow_id) WHERE status = 'open'`,

  'CREATE INDEX audit_log_subject ON audit_log (subject, seq)',
];
