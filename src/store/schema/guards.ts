import {
  CONSUMER_PHASE_STEPS,
  DELIVERY_STEPS,
  EVENT_STEPS,
  EXECUTION_STEPS,
  MUTATION_STEPS,
  NOTICE_STEPS,
  PRODUCER_PHASE_STEPS,
  RUN_STATUS_STEPS,
  TASK_STEPS,
  WORKER_STEPS,
  WORKFLOW_STATUS_STEPS,
} from '#model';
import type { Guard } from '../dialect.ts';
import { TABLES, type TableName } from '../statements/all.ts';
import { isLegalStep } from './words.ts';

/**
 * What may become of each row, whoever asks. `changes` are the columns a write may set; the others are fixed for the row's life.
 * A guard on named columns costs nothing where a statement sets others.
 */
interface Lifecycle {
  readonly changes: readonly string[];
  /** Rows may go, except those of which this is true; without a word none may. */
  readonly deletable?: true | { readonly unless: string; readonly says: string };
  readonly guards?: readonly Pick<Guard, 'columns' | 'when' | 'says'>[];
}

/** Several steps in one write, where the row shows what each of them leaves behind: a store that is far away writes them so. */
const SENDING = `OLD.phase = 'preparing' AND NEW.phase = 'mutating' AND NEW.prepare_result IS NOT NULL`;
const DONE = `OLD.phase = 'mutating' AND NEW.phase = 'committed' AND NEW.status = 'committed'
    AND OLD.mutation_outcome = '' AND NEW.mutation_outcome = 'success'`;

const LIFECYCLES: { readonly [T in TableName]: Lifecycle } = {
  workflows: {
    changes: [
      'status',
      'holds',
      'error_reason',
      'held_connections',
      'grant_missing',
      'maintenance',
      'maintenance_run_id',
      'pending_retry_run_id',
      'event_seq',
      'quiet',
      'due_at',
      'active_script_id',
    ],
    guards: [
      {
        columns: ['status'],
        when: `NEW.status <> OLD.status AND NOT ${isLegalStep('status', WORKFLOW_STATUS_STEPS, false)}`,
        says: 'a workflow cannot take this step',
      },
    ],
  },
  scripts: { changes: [] },
  enforcements: { changes: [], deletable: true },
  executions: {
    deletable: { unless: 'OLD.ended_at IS NULL', says: 'an execution that has not ended is never deleted' },
    changes: [
      'status',
      'trigger',
      'epoch',
      'owner',
      'cancel_requested_at',
      'cancel_requested_by',
      'scheduling_until',
      'started_at',
      'ended_at',
      'waits_for',
      'slots',
    ],
    guards: [
      {
        when: `NOT ${isLegalStep('status', EXECUTION_STEPS, true)} OR NEW.epoch < OLD.epoch`,
        says: 'an execution cannot take this step, and one that has ended never changes',
      },
    ],
  },
  limits: { changes: ['slots_max', 'set_at'] },
  slots: { changes: [], deletable: true },
  script_runs: {
    deletable: { unless: 'OLD.end_timestamp IS NULL', says: 'a session that is open is never deleted' },
    changes: ['result', 'error', 'cost', 'handler_run_count', 'end_timestamp'],
    guards: [
      {
        columns: ['result', 'error', 'end_timestamp'],
        when: `OLD.result <> ''`,
        says: 'a session that has ended changes only its count and cost',
      },
    ],
  },
  handler_runs: {
    deletable: { unless: `OLD.status = 'active'`, says: 'a run that is active is never deleted' },
    changes: [
      'phase',
      'status',
      'prepare_result',
      'mutation_outcome',
      'output_state',
      'error',
      'error_type',
      'suspects',
      'cost',
      'end_timestamp',
      'delivery_id',
    ],
    guards: [
      {
        columns: columnsBut('handler_runs', 'delivery_id'),
        when: `NOT (${isLegalStep('status', RUN_STATUS_STEPS, true)} AND (NEW.phase = OLD.phase OR ${isLegalPhaseStep()}))`,
        says: 'a run moves one phase at a time while it is active, stops once, and never changes once it is committed',
      },
      {
        // Only before both go: what a delivery led to is no reason to keep it.
        columns: ['delivery_id'],
        when: `NEW.delivery_id IS NOT NULL OR OLD.status = 'active'`,
        says: 'what a run was called with never changes',
      },
    ],
  },
  events: {
    deletable: {
      unless: `NOT (OLD.status = 'consumed' OR OLD.status = 'skipped')`,
      says: 'an event that was not handled is never deleted',
    },
    changes: ['payload', 'title', 'status', 'reserved_by_run_id', 'pending_seq'],
    guards: [
      {
        when: `NOT ${isLegalStep('status', EVENT_STEPS, true)}`,
        says: 'an event cannot take this step, and one that is consumed or skipped never changes',
      },
      {
        columns: ['payload', 'title'],
        when: `OLD.status <> 'pending'`,
        says: 'only a pending event can be changed',
      },
    ],
  },
  mutations: {
    deletable: {
      unless: 'OLD.resolved_at IS NULL OR OLD.set_aside_at IS NOT NULL',
      says: 'a call without an answer, or one that is set aside, is never deleted',
    },
    changes: [
      'status',
      'result',
      'error',
      'call_deadline',
      'call_ended_at',
      'approved_at',
      'approved_by',
      'reconcile_at',
      'reconcile_owner',
      'reconcile_until',
      'reconcile_count',
      'set_aside_at',
      'resolved_by',
      'resolved_by_name',
      'resolved_at',
    ],
    guards: [
      {
        // A chain that has its answer may still be set aside behind another, and taken up again.
        columns: columnsBut('mutations', 'set_aside_at'),
        when: `NOT ${isLegalStep('status', MUTATION_STEPS, true)}`,
        says: 'a mutation cannot take this step, and an answer never changes',
      },
    ],
  },
  handler_states: { changes: columnsBut('handler_states', 'workflow_id', 'handler_name') },
  inputs: { changes: [], deletable: true },
  event_inputs: { changes: [], deletable: true },
  deliveries: {
    deletable: { unless: `OLD.status = 'pending'`, says: 'a delivery that waits is never deleted' },
    changes: ['status', 'run_id'],
    guards: [
      { when: `NOT ${isLegalStep('status', DELIVERY_STEPS, true)}`, says: 'a delivery that is done never changes' },
    ],
  },
  messages: { changes: [], deletable: true },
  maintenance_tasks: {
    deletable: { unless: `OLD.status = 'open'`, says: 'a task that is open is never deleted' },
    changes: ['status', 'closed_at', 'closed_by'],
    guards: [{ when: `NOT ${isLegalStep('status', TASK_STEPS, true)}`, says: 'a task that is closed never changes' }],
  },
  workers: {
    changes: ['status', 'lease_until', 'lacks', 'ended_at'],
    guards: [
      { when: 'OLD.ended_at IS NOT NULL', says: 'a worker that has ended never changes' },
      {
        columns: ['status'],
        when: `NOT ${isLegalStep('status', WORKER_STEPS, true)}`,
        says: 'a worker that drains ends: it takes nothing ever again',
      },
    ],
  },
  evidence: { changes: [], deletable: true },
  connections: {
    changes: ['version', 'refused_at', 'refused_reason'],
    guards: [{ when: 'NEW.version < OLD.version', says: 'the version of a connection only rises' }],
  },
  run_logs: { changes: [], deletable: true },
  run_reads: { changes: [], deletable: true },
  audit_log: { changes: [] },
  tokens: {
    changes: ['revoked_at', 'revoked_by'],
    guards: [{ when: 'OLD.revoked_at IS NOT NULL', says: 'a token that was revoked never changes' }],
  },
  secrets: {
    changes: ['version', 'box', 'changed_at', 'changed_by'],
    guards: [{ when: 'NEW.version <= OLD.version', says: 'the version of a secret only rises' }],
  },
  grants: { changes: ['targets', 'cap_per_hour', 'allowed_at', 'allowed_by'], deletable: true },
  allowances: { changes: [] },
  permission_requests: {
    changes: ['answer', 'answered_at', 'answered_by'],
    guards: [{ when: `OLD.answer <> ''`, says: 'an answer to a request never changes' }],
  },
  notices: {
    changes: ['status', 'tries', 'due_at', 'error', 'settled_at'],
    guards: [
      { when: `NOT ${isLegalStep('status', NOTICE_STEPS, true)}`, says: 'a notice that is settled never changes' },
    ],
  },
  pruned_events: { changes: [] },
  pruned_deliveries: { changes: [] },
  kept_approvals: { changes: [] },
};

/** Every guard there is, in the words of the tables of states. They are put into the database anew when these words change. */
export function guards(): Guard[] {
  return (Object.keys(LIFECYCLES) as TableName[]).flatMap((name) => guardsOf(name, LIFECYCLES[name]));
}

function guardsOf(name: TableName, { changes, deletable, guards = [] }: Lifecycle): Guard[] {
  const fixed = columnsBut(name, ...changes);
  const says = changes.length === 0 ? `${name} never change` : `${name}: ${fixed.join(', ')} never change`;
  const columns = changes.length === 0 ? {} : { columns: fixed };
  return [
    ...guards.map((guard, i): Guard => ({ ...guard, name: `${name}_step_${i + 1}`, table: name, on: 'UPDATE' })),
    { name: `${name}_fixed`, table: name, on: 'UPDATE', ...columns, says },
    ...keptBy(name, deletable),
  ];
}

function keptBy(name: TableName, deletable: Lifecycle['deletable']): Guard[] {
  if (deletable === true) return [];
  const kept = { name: `${name}_kept`, table: name, on: 'DELETE' } as const;
  if (deletable === undefined) return [{ ...kept, says: `${name} are never deleted` }];
  return [{ ...kept, when: deletable.unless, says: deletable.says }];
}

function columnsBut(name: TableName, ...but: readonly string[]): string[] {
  return TABLES[name].columns.filter((column) => !but.includes(column));
}

/** One step at a time while active; an operator's commit takes a stopped run from any phase, phase and status together. */
function isLegalPhaseStep(): string {
  const producer = `OLD.handler_type = 'producer' AND ${isLegalStep('phase', PRODUCER_PHASE_STEPS, false)}`;
  const consumer = `OLD.handler_type = 'consumer' AND ${isLegalStep('phase', CONSUMER_PHASE_STEPS, false)}`;
  const goesOn = `OLD.status = 'active' AND (NEW.status = 'active' OR NEW.status = 'committed')`;
  const finished = `OLD.status <> 'active' AND NEW.status = 'committed'`;
  return `(${goesOn} AND (${producer} OR ${consumer} OR ${SENDING} OR ${DONE}) OR ${finished})`;
}
