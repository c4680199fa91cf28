import type { Workflow } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const WORKFLOWS = table<Workflow>('workflows', {
  id: 'text',
  name: 'text',
  status: 'text',
  holds: 'words',
  errorReason: 'text',
  heldConnections: 'list',
  grantMissing: 'flag',
  maintenance: 'flag',
  maintenanceRunId: 'text',
  pendingRetryRunId: 'text',
  eventSeq: 'integer',
  quiet: 'flag',
  dueAt: 'integer',
  activeScriptId: 'text',
  createdAt: 'integer',
});

type Name =
  | 'workflow.created'
  | 'workflow.script'
  | 'workflow.standing'
  | 'workflow.maintenance'
  | 'workflow.retry'
  | 'workflow.seq'
  | 'workflow.quiet'
  | 'workflow.due';

export const WORKFLOW_WRITES: WriteStatements<Name> = {
  'workflow.created': inserted(WORKFLOWS),
  'workflow.script': {
    sql: `UPDATE workflows SET active_script_id = :to
      WHERE id = :workflow AND active_script_id IS NOT DISTINCT FROM :from`,
  },
  'workflow.standing': {
    sql: `UPDATE workflows SET status = :to, holds = :holds, error_reason = :errorReason,
        held_connections = :heldConnections, grant_missing = :grantMissing
      WHERE id = :workflow AND status = :from`,
    kinds: WORKFLOWS.kinds,
  },
  'workflow.maintenance': {
    sql: `UPDATE workflows SET maintenance = :maintenance, maintenance_run_id = :to
      WHERE id = :workflow AND maintenance_run_id IS NOT DISTINCT FROM :from`,
    of: (write) => ({ ...write, maintenance: write.to !== null }),
  },
  'workflow.retry': {
    sql: `UPDATE workflows SET pending_retry_run_id = :to
      WHERE id = :workflow AND pending_retry_run_id IS NOT DISTINCT FROM :from`,
  },
  'workflow.seq': { sql: 'UPDATE workflows SET event_seq = :to WHERE id = :workflow AND event_seq = :from' },
  'workflow.quiet': { sql: 'UPDATE workflows SET quiet = :quiet WHERE id = :workflow' },
  'workflow.due': { sql: 'UPDATE workflows SET due_at = :at WHERE id = :workflow' },
};

export const WORKFLOW_LOOKUPS: LookupStatements<'workflow' | 'workflowNamed' | 'workflowsHeldBy'> = {
  workflow: selected(WORKFLOWS, ['workflow'], 'WHERE id = :workflow'),
  workflowNamed: selected(WORKFLOWS, ['name'], 'WHERE name = :name'),
  workflowsHeldBy: {
    // Only workflows that wait for a connection are in the index this walks.
    sql: (dialect) => `SELECT ${WORKFLOWS.columnList()} FROM workflows
      WHERE held_connections <> '[]'
        AND EXISTS (SELECT 1 FROM ${dialect.elements('held_connections', 'held')} WHERE held.value = :connection)`,
    by: ['connection'],
    rows: WORKFLOWS,
  },
};
