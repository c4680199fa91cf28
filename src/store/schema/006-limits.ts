import type { Dialect } from '../dialect.ts';

/** How much may be under way at once, what takes a place, and what waits for one. */
export function tablesOfLimits(d: Dialect): string[] {
  const { integer } = d;
  return [
    `CREATE TABLE limits (
      name TEXT NOT NULL PRIMARY KEY,
      slots_max ${integer} CHECK (slots_max >= 1),
      set_at ${integer} NOT NULL
    ) ${d.tableEnd}`,
    `CREATE TABLE slots (
      limit_name TEXT NOT NULL REFERENCES limits (name),
      execution_id TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
      PRIMARY KEY (limit_name, execution_id)
    ) ${d.clusteredTableEnd}`,
    // Without a check: a process of before, which schedules such a request, knows nothing of it.
    'ALTER TABLE executions ADD COLUMN waits_for TEXT',
    `ALTER TABLE executions ADD COLUMN slots TEXT NOT NULL DEFAULT '[]'`,
    'CREATE INDEX executions_waiting ON executions (waits_for, id) WHERE waits_for IS NOT NULL',
  ];
}
