import {
  CONSUMER_PHASE_STEPS,
  DELIVERY_STEPS,
  EVENT_STEPS,
  EXECUTION_STEPS,
  HANDLER_TYPES,
  LIVE_WORKFLOW,
  MESSAGE_TYPES,
  MUTATION_OUTCOMES,
  MUTATION_STEPS,
  PRODUCER_PHASE_STEPS,
  RESOLVERS,
  RUN_STATUS_STEPS,
  SESSION_RESULTS,
  statusOf,
  TASK_KINDS,
  TASK_STEPS,
  TRIGGERS,
  WORKFLOW_STATUS_STEPS,
} from '#model';
import type { Dialect } from '../dialect.ts';
import { oneOf } from '../statements/statement.ts';
import { finalWords, holdTexts, isWord } from './words.ts';

const ENDED_EXECUTION = oneOf('status', finalWords(EXECUTION_STEPS));
const RESOLVED_MUTATION = oneOf('status', finalWords(MUTATION_STEPS));

/** What a live workflow's status must be for its holds; one that is not live has none. */
function standing(): string {
  const fits = LIVE_WORKFLOW.map(
    (status) =>
      `(status = '${status}' AND ${oneOf(
        'holds',
        holdTexts((holds) => statusOf(holds) === status),
      )})`,
  );
  return `(NOT ${oneOf('status', LIVE_WORKFLOW)} AND holds = '') OR ${fits.join(' OR ')}`;
}

function connectionHold(): string {
  const held = oneOf(
    'holds',
    holdTexts((holds) => holds.includes('connection')),
  );
  return `NOT ${oneOf('status', LIVE_WORKFLOW)} OR (held_connections <> '[]') = ${held}`;
}

/**
 * The tables of the model. A CHECK is what is true of one row by itself, whoever wrote it; what is true of a change is in
 * guards.ts, what is true among rows in 001-indexes.ts.
 */
export function tables(d: Dialect): string[] {
  const { integer, real } = d;
  return [
    `CREATE TABLE workflows (
      id TEXT NOT NULL PRIMARY KEY,
      name TEXT NOT NULL,
      status TEXT NOT NULL CHECK (${isWord('status', WORKFLOW_STATUS_STEPS)}),
      holds TEXT NOT NULL CHECK (${oneOf(
        'holds',
        holdTexts(() => true),
      )}),
      error_reason TEXT,
      held_connections TEXT NOT NULL,
      grant_missing ${integer} NOT NULL CHECK (${oneBit('grant_missing')}),
      maintenance ${integer} NOT NULL CHECK (${oneBit('maintenance')}),
      maintenance_run_id TEXT ${d.forward('handler_runs')},
      pending_retry_run_id TEXT ${d.forward('handler_runs')},
      event_seq ${integer} NOT NULL CHECK (event_seq >= 0),
      quiet ${integer} NOT NULL CHECK (${oneBit('quiet')}),
      due_at ${integer},
      active_script_id TEXT ${d.forward('scripts')},
      created_at ${integer} NOT NULL,
      CHECK ((maintenance = 1) = (maintenance_run_id IS NOT NULL)),
      CHECK (${standing()}),
      CHECK (${connectionHold()})
    ) ${d.tableEnd}`,
    `CREATE TABLE scripts (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      major ${integer} NOT NULL CHECK (major >= 0),
      minor ${integer} NOT NULL CHECK (minor >= 0),
      content_hash TEXT NOT NULL,
      handlers TEXT NOT NULL,
      created_at ${integer} NOT NULL,
      created_by TEXT NOT NULL,
      code TEXT NOT NULL,
      manifest TEXT NOT NULL
    ) ${d.tableEnd}`,
    `CREATE TABLE workers (
      id TEXT NOT NULL PRIMARY KEY,
      name TEXT NOT NULL,
      pool TEXT NOT NULL,
      lease_until ${integer} NOT NULL,
      started_at ${integer} NOT NULL,
      ended_at ${integer}
    ) ${d.tableEnd}`,
    `CREATE TABLE executions (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      status TEXT NOT NULL CHECK (${isWord('status', EXECUTION_STEPS)}),
      trigger TEXT NOT NULL CHECK (${oneOf('trigger', TRIGGERS)}),
      epoch ${integer} NOT NULL CHECK (epoch >= 0),
      owner TEXT REFERENCES workers (id),
      cancel_requested_at ${integer},
      cancel_requested_by TEXT,
      scheduling_until ${integer},
      requested_at ${integer} NOT NULL,
      started_at ${integer},
      ended_at ${integer},
      CHECK (${ENDED_EXECUTION} = (ended_at IS NOT NULL)),
      CHECK ((status = 'scheduling') = (scheduling_until IS NOT NULL)),
      CHECK (status <> 'running' OR (owner IS NOT NULL AND started_at IS NOT NULL)),
      CHECK ((cancel_requested_at IS NULL) = (cancel_requested_by IS NULL))
    ) ${d.tableEnd}`,
    `CREATE TABLE enforcements (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      execution_id TEXT NOT NULL REFERENCES executions (id),
      trigger TEXT NOT NULL CHECK (${oneOf('trigger', TRIGGERS)}),
      created_at ${integer} NOT NULL
    ) ${d.tableEnd}`,
    `CREATE TABLE script_runs (
      id TEXT NOT NULL PRIMARY KEY,
      execution_id TEXT NOT NULL REFERENCES executions (id),
      script_id TEXT NOT NULL REFERENCES scripts (id),
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      trigger TEXT NOT NULL CHECK (${oneOf('trigger', TRIGGERS)}),
      result TEXT NOT NULL CHECK (${oneOf('result', SESSION_RESULTS)}),
      error TEXT,
      cost ${real} NOT NULL,
      handler_run_count ${integer} NOT NULL CHECK (handler_run_count >= 0),
      start_timestamp ${integer} NOT NULL,
      end_timestamp ${integer},
      CHECK ((result = '') = (end_timestamp IS NULL)),
      CHECK ((result = 'failed') = (error IS NOT NULL))
    ) ${d.tableEnd}`,
    `CREATE TABLE deliveries (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      handler_name TEXT NOT NULL,
      delivery_id TEXT NOT NULL,
      headers TEXT NOT NULL,
      body TEXT NOT NULL,
      status TEXT NOT NULL CHECK (${isWord('status', DELIVERY_STEPS)}),
      run_id TEXT ${d.forward('handler_runs')},
      received_at ${integer} NOT NULL,
      CHECK ((status = 'done') = (run_id IS NOT NULL))
    ) ${d.tableEnd}`,
    `CREATE TABLE handler_runs (
      id TEXT NOT NULL PRIMARY KEY,
      script_run_id TEXT NOT NULL REFERENCES script_runs (id),
      script_id TEXT NOT NULL REFERENCES scripts (id),
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      root_run_id TEXT NOT NULL REFERENCES handler_runs (id),
      retry_of TEXT REFERENCES handler_runs (id),
      attempt ${integer} NOT NULL CHECK (attempt >= 0),
      handler_type TEXT NOT NULL CHECK (${oneOf('handler_type', HANDLER_TYPES)}),
      handler_name TEXT NOT NULL,
      phase TEXT NOT NULL,
      status TEXT NOT NULL CHECK (${isWord('status', RUN_STATUS_STEPS)}),
      prepare_result TEXT,
      mutation_outcome TEXT NOT NULL CHECK (${oneOf('mutation_outcome', MUTATION_OUTCOMES)}),
      output_state TEXT,
      error TEXT,
      error_type TEXT,
      suspects TEXT NOT NULL,
      cost ${real} NOT NULL,
      start_seq ${integer} NOT NULL CHECK (start_seq >= 0),
      delivery_id TEXT REFERENCES deliveries (id),
      start_timestamp ${integer} NOT NULL,
      end_timestamp ${integer},
      CHECK (handler_type = 'producer' AND ${isWord('phase', PRODUCER_PHASE_STEPS)} AND prepare_result IS NULL
        OR handler_type = 'consumer' AND ${isWord('phase', CONSUMER_PHASE_STEPS)} AND delivery_id IS NULL),
      CHECK (phase <> 'preparing' OR prepare_result IS NULL),
      CHECK ((status = 'committed') = (phase = 'committed')),
      CHECK ((status = 'active') = (end_timestamp IS NULL)),
      CHECK ((attempt = 0) = (retry_of IS NULL)),
      CHECK ((attempt = 0) = (root_run_id = id))
    ) ${d.tableEnd}`,
    `CREATE TABLE events (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      topic TEXT NOT NULL,
      message_id TEXT NOT NULL,
      payload TEXT NOT NULL,
      title TEXT,
      status TEXT NOT NULL CHECK (${isWord('status', EVENT_STEPS)}),
      reserved_by_run_id TEXT REFERENCES handler_runs (id),
      redo_of TEXT REFERENCES events (id),
      pending_seq ${integer} NOT NULL CHECK (pending_seq >= 0),
      published_by_run_id TEXT REFERENCES handler_runs (id),
      created_at ${integer} NOT NULL,
      CHECK (status = 'skipped' OR (reserved_by_run_id IS NOT NULL) = (status = 'reserved' OR status = 'consumed'))
    ) ${d.tableEnd}`,
    `CREATE TABLE mutations (
      id TEXT NOT NULL PRIMARY KEY,
      handler_run_id TEXT NOT NULL REFERENCES handler_runs (id),
      root_run_id TEXT NOT NULL REFERENCES handler_runs (id),
      script_id TEXT NOT NULL REFERENCES scripts (id),
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      status TEXT NOT NULL CHECK (${isWord('status', MUTATION_STEPS)}),
      connection TEXT NOT NULL,
      method TEXT NOT NULL,
      params TEXT NOT NULL,
      effect_hash TEXT NOT NULL,
      event_ids TEXT NOT NULL,
      first_event_id TEXT NOT NULL REFERENCES events (id),
      idempotency_key TEXT NOT NULL,
      ui_title TEXT,
      preview TEXT NOT NULL,
      result TEXT,
      error TEXT,
      can_reconcile ${integer} NOT NULL CHECK (${oneBit('can_reconcile')}),
      visibility_ms ${integer} NOT NULL CHECK (visibility_ms >= 0),
      call_timeout_ms ${integer} NOT NULL CHECK (call_timeout_ms > 0),
      call_deadline ${integer},
      call_ended_at ${integer},
      approved_at ${integer},
      approved_by TEXT,
      approval_expires_at ${integer},
      reconcile_at ${integer},
      reconcile_owner TEXT REFERENCES workers (id),
      reconcile_until ${integer},
      reconcile_count ${integer} NOT NULL CHECK (reconcile_count >= 0),
      set_aside_at ${integer},
      resolved_by TEXT CHECK (resolved_by IS NULL OR ${oneOf('resolved_by', RESOLVERS)}),
      resolved_by_name TEXT,
      resolved_at ${integer},
      created_at ${integer} NOT NULL,
      CHECK (${RESOLVED_MUTATION} = (resolved_at IS NOT NULL)),
      CHECK ((resolved_by IS NULL) = (resolved_at IS NULL)),
      CHECK ((status = 'needs_reconcile') = (reconcile_at IS NOT NULL)),
      CHECK (status <> 'needs_reconcile' OR can_reconcile = 1),
      CHECK ((reconcile_owner IS NULL) = (reconcile_until IS NULL)),
      CHECK (status <> 'pending' OR call_deadline IS NULL),
      CHECK (status <> 'in_flight' OR call_deadline IS NOT NULL),
      CHECK ((approved_at IS NULL) = (approved_by IS NULL))
    ) ${d.tableEnd}`,
    `CREATE TABLE handler_states (
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      handler_name TEXT NOT NULL,
      state TEXT,
      next_at ${integer},
      wake_at ${integer},
      rested_seq ${integer},
      backoff_until ${integer},
      transient_since ${integer},
      transient_count ${integer} NOT NULL CHECK (transient_count >= 0),
      repaired ${integer} NOT NULL CHECK (${oneBit('repaired')}),
      failed_repairs ${integer} NOT NULL CHECK (failed_repairs >= 0),
      crash_count ${integer} NOT NULL CHECK (crash_count >= 0),
      crash_event_id TEXT REFERENCES events (id),
      PRIMARY KEY (workflow_id, handler_name)
    ) ${d.clusteredTableEnd}`,
    `CREATE TABLE inputs (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      source TEXT NOT NULL,
      type TEXT NOT NULL,
      external_id TEXT NOT NULL,
      title TEXT NOT NULL,
      created_at ${integer} NOT NULL
    ) ${d.tableEnd}`,
    `CREATE TABLE event_inputs (
      event_id TEXT NOT NULL REFERENCES events (id),
      input_id TEXT NOT NULL REFERENCES inputs (id),
      PRIMARY KEY (event_id, input_id)
    ) ${d.clusteredTableEnd}`,
    `CREATE TABLE messages (
      id TEXT NOT NULL PRIMARY KEY,
      type TEXT NOT NULL CHECK (${oneOf('type', MESSAGE_TYPES)}),
      execution_id TEXT NOT NULL REFERENCES executions (id),
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      epoch ${integer} NOT NULL,
      version ${integer} NOT NULL,
      created_at ${integer} NOT NULL
    ) ${d.tableEnd}`,
    `CREATE TABLE maintenance_tasks (
      id TEXT NOT NULL PRIMARY KEY,
      workflow_id TEXT NOT NULL REFERENCES workflows (id),
      run_id TEXT NOT NULL REFERENCES handler_runs (id),
      kind TEXT NOT NULL CHECK (${oneOf('kind', TASK_KINDS)}),
      status TEXT NOT NULL CHECK (${isWord('status', TASK_STEPS)}),
      detail TEXT NOT NULL,
      created_at ${integer} NOT NULL,
      closed_at ${integer},
      closed_by TEXT,
      CHECK ((status = 'closed') = (closed_at IS NOT NULL)),
      CHECK ((closed_at IS NULL) = (closed_by IS NULL))
    ) ${d.tableEnd}`,
    `CREATE TABLE evidence (
      id TEXT NOT NULL PRIMARY KEY,
      mutation_id TEXT NOT NULL REFERENCES mutations (id),
      says TEXT NOT NULL CHECK (${oneOf('says', ['applied', 'failed', 'uncertain'])}),
      detail TEXT NOT NULL,
      source TEXT NOT NULL,
      created_at ${integer} NOT NULL
    ) ${d.tableEnd}`,
    `CREATE TABLE connections (
      name TEXT NOT NULL PRIMARY KEY,
      version ${integer} NOT NULL,
      refused_at ${integer},
      refused_reason TEXT,
      CHECK ((refused_at IS NULL) = (refused_reason IS NULL))
    ) ${d.tableEnd}`,
    `CREATE TABLE run_logs (
      run_id TEXT NOT NULL REFERENCES handler_runs (id),
      position ${integer} NOT NULL,
      at ${integer} NOT NULL,
      message TEXT NOT NULL,
      data TEXT,
      PRIMARY KEY (run_id, position)
    ) ${d.tableEnd}`,
    `CREATE TABLE run_reads (
      run_id TEXT NOT NULL REFERENCES handler_runs (id),
      position ${integer} NOT NULL,
      at ${integer} NOT NULL,
      connection TEXT NOT NULL,
      method TEXT NOT NULL,
      request TEXT NOT NULL,
      answer TEXT NOT NULL,
      PRIMARY KEY (run_id, position)
    ) ${d.tableEnd}`,
    `CREATE TABLE audit_log (
      seq ${integer} NOT NULL PRIMARY KEY,
      at ${integer} NOT NULL,
      actor TEXT NOT NULL,
      act TEXT NOT NULL,
      subject TEXT NOT NULL,
      detail TEXT NOT NULL,
      previous_hash TEXT NOT NULL,
      hash TEXT NOT NULL
    ) ${d.tableEnd}`,
    ...d.addForward('workflows', 'maintenance_run_id', 'handler_runs'),
    ...d.addForward('workflows', 'pending_retry_run_id', 'handler_runs'),
    ...d.addForward('workflows', 'active_script_id', 'scripts'),
    ...d.addForward('deliveries', 'run_id', 'handler_runs'),
  ];
}

function oneBit(column: string): string {
  return `${column} = 0 OR ${column} = 1`;
}
