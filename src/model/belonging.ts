import { among, type Invariant } from './invariant.ts';

/**
 * A run, a call and an event say again what the row they belong to says already, so that nobody has to join to read them. PostgreSQL is not asked with every
 * row whether that is there (schema/008-references.ts): that both say the same is asked here, which is more.
 */
export const BELONGING: Invariant = {
  name: 'rows are of one workflow',
  says: 'A run is of the workflow of its session and of its version, a call of the workflow, version and chain of its run, and an event of a workflow there is.',
  atStart: false,
  sql: `SELECT r.workflow_id, r.id FROM handler_runs r LEFT JOIN script_runs s ON s.id = r.script_run_id
      LEFT JOIN scripts v ON v.id = r.script_id
      WHERE s.workflow_id IS DISTINCT FROM r.workflow_id OR v.workflow_id IS DISTINCT FROM r.workflow_id
    UNION ALL SELECT m.workflow_id, m.id FROM mutations m LEFT JOIN handler_runs r ON r.id = m.handler_run_id
      WHERE r.workflow_id IS DISTINCT FROM m.workflow_id OR r.script_id IS DISTINCT FROM m.script_id
        OR r.root_run_id IS DISTINCT FROM m.root_run_id
    UNION ALL SELECT e.workflow_id, e.id FROM events e
      WHERE NOT EXISTS (SELECT 1 FROM workflows w WHERE w.id = e.workflow_id)`,
  offenders: (rows) => [
    ...among(rows.runs, ({ workflowId, scriptRunId, scriptId }) => {
      const places = [rows.sessions.get(scriptRunId), rows.scripts.get(scriptId)];
      return places.some((place) => place?.workflowId !== workflowId);
    }),
    ...among(rows.mutations, ({ workflowId, scriptId, rootRunId, handlerRunId }) => {
      const run = rows.runs.get(handlerRunId);
      return run?.workflowId !== workflowId || run.scriptId !== scriptId || run.rootRunId !== rootRunId;
    }),
    ...among(rows.events, ({ workflowId }) => rows.workflows.get(workflowId) === undefined),
  ],
};
