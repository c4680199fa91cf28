import type { Dialect } from '../dialect.ts';

/** Columns that say again what the row says that the same row refers to, or what its transaction holds anyway. */
const SAID_AGAIN = [
  // Of a workflow that the transaction holds, and workflows and versions are never deleted.
  ['events', 'workflow_id'],
  ['handler_runs', 'workflow_id'],
  ['handler_runs', 'script_id'],
  ['mutations', 'workflow_id'],
  ['mutations', 'script_id'],
  // Of a first run its own id, as its CHECK says; of a retry that of the run it retries, which it refers to.
  ['handler_runs', 'root_run_id'],
  ['mutations', 'root_run_id'],
] as const;

/**
 * A reference is a look-up for each row, and a mark in the row it finds: seven of the eleven of an event, a tenth of what it cost PostgreSQL. What they
 * said is an invariant (model/belonging.ts). The references that keep history whole while it is removed stay.
 */
export function fewerReferences(dialect: Dialect): string[] {
  return SAID_AGAIN.flatMap(([table, column]) => dialect.dropReference(table, column));
}
