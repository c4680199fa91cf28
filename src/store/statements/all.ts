import type { WriteName } from '#model';
import { AUDIT_LOG } from './audit-log.ts';
import { CONNECTION_LOOKUPS, CONNECTION_WRITES, CONNECTIONS } from './connections.ts';
import { DELIVERIES, DELIVERY_LOOKUPS, DELIVERY_WRITES } from './deliveries.ts';
import { EVENT_LOOKUPS, EVENT_WRITES, EVENTS } from './events.ts';
import { ENFORCEMENTS, EXECUTION_LOOKUPS, EXECUTION_WRITES, EXECUTIONS, LIMITS, SLOTS } from './executions.ts';
import { HANDLER_RUNS, RUN_LOOKUPS, RUN_WRITES } from './handler-runs.ts';
import { HANDLER_STATE_LOOKUPS, HANDLER_STATE_WRITES, HANDLER_STATES } from './handler-states.ts';
import { EVENT_INPUTS, INPUT_LOOKUPS, INPUT_WRITES, INPUTS } from './inputs.ts';
import { MAINTENANCE_TASKS, TASK_LOOKUPS, TASK_WRITES } from './maintenance-tasks.ts';
import { MESSAGE_WRITES, MESSAGES } from './messages.ts';
import { EVIDENCE, MUTATION_LOOKUPS, MUTATION_WRITES, MUTATIONS } from './mutations.ts';
import {
  KEPT_APPROVALS,
  OLD_HISTORY_LOOKUPS,
  OLD_HISTORY_WRITES,
  PRUNED_DELIVERIES,
  PRUNED_EVENTS,
} from './old-history.ts';
import {
  ALLOWANCES,
  GRANTS,
  NOTICES,
  PEOPLE_LOOKUPS,
  PEOPLE_WRITES,
  PERMISSION_REQUESTS,
  SECRETS,
  TOKENS,
} from './people.ts';
import { RUN_LOGS, RUN_READS, RUN_RECORD_WRITES } from './run-records.ts';
import { SCRIPT_RUNS, SESSION_LOOKUPS, SESSION_WRITES } from './script-runs.ts';
import { SCRIPT_LOOKUPS, SCRIPT_WRITES, SCRIPTS } from './scripts.ts';
import type { LookupStatements, WriteStatements } from './statement.ts';
import { WORKER_LOOKUPS, WORKER_WRITES, WORKERS } from './workers.ts';
import { WORKFLOW_LOOKUPS, WORKFLOW_WRITES, WORKFLOWS } from './workflows.ts';

/** Every write but the audit log's, which needs the entry before: see apply.ts. A write without a statement does not compile. */
export const WRITE_STATEMENTS: WriteStatements<Exclude<WriteName, 'audit.appended'>> = {
  ...WORKFLOW_WRITES,
  ...SCRIPT_WRITES,
  ...EXECUTION_WRITES,
  ...SESSION_WRITES,
  ...RUN_WRITES,
  ...EVENT_WRITES,
  ...INPUT_WRITES,
  ...MUTATION_WRITES,
  ...HANDLER_STATE_WRITES,
  ...DELIVERY_WRITES,
  ...RUN_RECORD_WRITES,
  ...MESSAGE_WRITES,
  ...TASK_WRITES,
  ...WORKER_WRITES,
  ...CONNECTION_WRITES,
  ...PEOPLE_WRITES,
  ...OLD_HISTORY_WRITES,
};

export const LOOKUP_STATEMENTS: LookupStatements = {
  ...WORKFLOW_LOOKUPS,
  ...SCRIPT_LOOKUPS,
  ...EXECUTION_LOOKUPS,
  ...SESSION_LOOKUPS,
  ...RUN_LOOKUPS,
  ...EVENT_LOOKUPS,
  ...INPUT_LOOKUPS,
  ...MUTATION_LOOKUPS,
  ...HANDLER_STATE_LOOKUPS,
  ...DELIVERY_LOOKUPS,
  ...TASK_LOOKUPS,
  ...WORKER_LOOKUPS,
  ...CONNECTION_LOOKUPS,
  ...PEOPLE_LOOKUPS,
  ...OLD_HISTORY_LOOKUPS,
};

/** The tables of the model by their names in the database. */
export const TABLES = {
  workflows: WORKFLOWS,
  scripts: SCRIPTS,
  enforcements: ENFORCEMENTS,
  executions: EXECUTIONS,
  limits: LIMITS,
  slots: SLOTS,
  script_runs: SCRIPT_RUNS,
  handler_runs: HANDLER_RUNS,
  events: EVENTS,
  mutations: MUTATIONS,
  handler_states: HANDLER_STATES,
  inputs: INPUTS,
  event_inputs: EVENT_INPUTS,
  deliveries: DELIVERIES,
  messages: MESSAGES,
  maintenance_tasks: MAINTENANCE_TASKS,
  workers: WORKERS,
  evidence: EVIDENCE,
  connections: CONNECTIONS,
  run_logs: RUN_LOGS,
  run_reads: RUN_READS,
  audit_log: AUDIT_LOG,
  tokens: TOKENS,
  secrets: SECRETS,
  grants: GRANTS,
  allowances: ALLOWANCES,
  permission_requests: PERMISSION_REQUESTS,
  notices: NOTICES,
  pruned_events: PRUNED_EVENTS,
  pruned_deliveries: PRUNED_DELIVERIES,
  kept_approvals: KEPT_APPROVALS,
} as const;

export type TableName = keyof typeof TABLES;
export type RowOf<T extends TableName> = ReturnType<(typeof TABLES)[T]['parse']>;
