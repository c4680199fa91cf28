import { StoreFailedError } from '#base';
import type { TableName } from '../statements/all.ts';
import type { PostgresConnection } from './connection.ts';

/**
 * The account of the database that executors act as. It cannot log in: whoever may (the owner of the tables, or a user that was made a
 * member of it) takes it on with SET ROLE, so that a mistake in an executor is refused by the server itself.
 */
const ROLE = 'pawl_executor';

/**
 * What an executor writes, and nothing else: runs, sessions and calls are begun, and executions owned, by workers alone. What it may change of
 * those is what a person decides through its API (a skip, an answer, the end of a run without its next), and what is over it may remove.
 * Of a table where workers work it may change named columns, never any: by that the guards know an executor from a worker.
 */
const MAY: { readonly [T in TableName]: readonly string[] } = {
  workflows: ['INSERT', 'UPDATE'],
  scripts: ['INSERT'],
  enforcements: ['INSERT', 'DELETE'],
  executions: [
    'INSERT',
    'DELETE',
    `UPDATE (status, trigger, epoch, cancel_requested_at, cancel_requested_by, scheduling_until, ended_at, waits_for, slots)`,
  ],
  limits: ['INSERT', 'UPDATE'],
  slots: ['INSERT', 'DELETE'],
  script_runs: ['INSERT', 'UPDATE (result, error, cost, handler_run_count, end_timestamp)', 'DELETE'],
  handler_runs: [
    'INSERT',
    'UPDATE (phase, status, mutation_outcome, error, error_type, suspects, cost, end_timestamp, delivery_id)',
    'DELETE',
  ],
  events: ['INSERT', 'UPDATE (payload, title, status, reserved_by_run_id, pending_seq)', 'DELETE'],
  mutations: [
    'INSERT',
    `UPDATE (status, result, error, call_ended_at, approved_at, approved_by, reconcile_at, reconcile_owner, reconcile_until, reconcile_count,
      set_aside_at, resolved_by, resolved_by_name, resolved_at)`,
    'DELETE',
  ],
  handler_states: ['INSERT', 'UPDATE'],
  inputs: ['INSERT', 'DELETE'],
  event_inputs: ['INSERT', 'DELETE'],
  deliveries: ['INSERT', 'UPDATE', 'DELETE'],
  messages: ['INSERT', 'DELETE'],
  maintenance_tasks: ['INSERT', 'UPDATE', 'DELETE'],
  workers: ['INSERT', 'UPDATE'],
  evidence: ['INSERT', 'DELETE'],
  connections: ['INSERT', 'UPDATE'],
  run_logs: ['INSERT', 'DELETE'],
  run_reads: ['INSERT', 'DELETE'],
  pruned_events: ['INSERT'],
  pruned_deliveries: ['INSERT'],
  kept_approvals: ['INSERT'],
  audit_log: ['INSERT'],
  tokens: ['INSERT', 'UPDATE'],
  secrets: ['INSERT', 'UPDATE'],
  grants: ['INSERT', 'UPDATE', 'DELETE'],
  allowances: ['INSERT'],
  permission_requests: ['INSERT', 'UPDATE'],
  notices: ['INSERT', 'UPDATE'],
};

/** Tables that are the store's own. */
const OWN = {
  commit_marks: ['INSERT', 'UPDATE', 'DELETE'],
  workflow_revisions: ['INSERT', 'UPDATE'],
  cluster_origin: ['UPDATE'],
  database_origin: ['UPDATE'],
  schema_version: ['UPDATE (probe)'],
} as const;

/**
 * Made with the guards, where the user of the database may make roles; where not, a setting of the session stands in for it. Several
 * databases of a server share the role, and may come to it at the same time.
 */
export function executorRole(): string {
  const grants = Object.entries({ ...MAY, ...OWN }).flatMap(([table, rights]) => [
    `REVOKE ALL ON ${table} FROM ${ROLE}`,
    `GRANT ${['SELECT', ...rights].join(', ')} ON ${table} TO ${ROLE}`,
  ]);
  return `DO $$ BEGIN
    IF to_regrole('${ROLE}') IS NULL THEN
      CREATE ROLE ${ROLE} NOLOGIN;
    END IF;
    IF NOT pg_has_role(current_user, '${ROLE}', 'MEMBER') THEN
      GRANT ${ROLE} TO CURRENT_USER;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO ${ROLE}', current_schema());
    ${grants.join(';\n    ')};
    GRANT SELECT ON SEQUENCE pawl_guarded TO ${ROLE};
  EXCEPTION
    WHEN insufficient_privilege THEN RAISE NOTICE 'executors act as %', current_user;
  END $$`;
}

/** A role that another database of the server made says nothing of the tables here. */
const TAKE = `SELECT set_config('role', CASE WHEN EXISTS (SELECT 1 FROM pg_roles
      WHERE rolname = '${ROLE}' AND pg_has_role(oid, 'MEMBER') AND has_table_privilege(oid, 'messages', 'INSERT'))
    THEN '${ROLE}' ELSE 'none' END, false)`;

/** From here on the connection is what its process is. */
export async function takeRole(
  connection: PostgresConnection,
  role: 'executor' | 'worker' | undefined,
): Promise<PostgresConnection> {
  if (role === undefined) return connection;
  await connection.flight([{ text: `SET pawl.role = '${role}'` }, ...(role === 'executor' ? [{ text: TAKE }] : [])]);
  return connection;
}

/** A user that was made for executors can claim nothing: better said at the start than at every handoff. */
export async function refuseExecutorsUser(connection: PostgresConnection, where: string): Promise<void> {
  const [answer] = await connection.flight([
    { text: `SELECT has_column_privilege('executions', 'owner', 'UPDATE')::int` },
  ]);
  if (answer?.rows[0]?.[0] === 1) return;
  throw new StoreFailedError({
    code: 'store-cannot-open',
    message: `the user of ${where} may only be an executor`,
    why: 'it has no right to make anybody the owner of an execution, which is what a worker does first',
    next: [{ label: 'give workers a DATABASE_URL of their own, with the user that owns the tables' }],
  });
}
