import { DatabaseSync } from 'node:sqlite';

/** What differs from copy to copy; `n` counts them. Zeros sort before every id that was ever made. */
export const COPIED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  handler_runs: { id: 'run', root_run_id: 'run' },
  events: { id: 'evt', message_id: 'old', reserved_by_run_id: 'run' },
  mutations: {
    id: 'mut',
    handler_run_id: 'run',
    root_run_id: 'run',
    first_event_id: 'evt',
    event_ids: 'evt',
    idempotency_key: 'key',
  },
};

/**
 * Years of work in a data folder that nobody has open: the last run, event and call of every workflow, copied over and over. Doing it
 * through the one door would take hours for a million; the rows are those of a real cycle, under other ids.
 */
export function copyHistory(path: string, copies: number): void {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; PRAGMA foreign_keys = 0; BEGIN');
    for (const table of Object.keys(COPIED)) db.exec(copySql(db, table, copies));
    db.exec('COMMIT');
  } finally {
    db.close();
  }
}

function copySql(db: DatabaseSync, table: string, copies: number): string {
  const columns = db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => String(name));
  const values = columns.map((column) => {
    const prefix = COPIED[table]?.[column];
    if (prefix === undefined) return `real.${column}`;
    const id = `printf('${prefix}_0%08d%015d', real.rowid_of_workflow, n)`;
    return column === 'event_ids' ? `json_array(${id})` : id;
  });
  const last = `SELECT max(id) FROM ${table} WHERE ${table === 'events' ? `status = 'consumed'` : '1'} GROUP BY workflow_id`;
  return `INSERT INTO ${table} (${columns.join(', ')})
    WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${copies})
    SELECT ${values.join(', ')} FROM (
      SELECT *, dense_rank() OVER (ORDER BY workflow_id) AS rowid_of_workflow FROM ${table} WHERE id IN (${last})
    ) AS real CROSS JOIN counted`;
}
