import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Rows, Table } from '#model';
import { openSqliteStore } from '#store';

type Row = Readonly<Record<string, unknown>>;
type Place = Exclude<keyof Rows, 'copy'>;

/** The tables that invariants ask about, by the rows of the model they keep. */
const TABLE_OF = {
  workflows: 'workflows',
  scripts: 'scripts',
  executions: 'executions',
  sessions: 'script_runs',
  runs: 'handler_runs',
  events: 'events',
  mutations: 'mutations',
  handlerStates: 'handler_states',
  deliveries: 'deliveries',
  tasks: 'maintenance_tasks',
  workers: 'workers',
  connections: 'connections',
} as const satisfies Partial<Record<Place, string>>;

export type KeptPlace = keyof typeof TABLE_OF;

/** The store's own tables and indexes, in memory and without its guards: rows may be put in as no rule would write them. */
export class PlainTables {
  readonly #db: DatabaseSync;
  readonly #queries = new Map<string, StatementSync>();

  constructor(schema: readonly string[], checks: 'checked' | 'unchecked') {
    this.#db = new DatabaseSync(':memory:', { enableForeignKeyConstraints: false });
    for (const statement of schema) this.#db.exec(statement);
    if (checks === 'unchecked') this.#db.exec('PRAGMA ignore_check_constraints = ON');
  }

  load(rows: Rows): void {
    this.#db.exec('BEGIN');
    for (const [place, table] of Object.entries(TABLE_OF) as [KeptPlace, string][]) {
      this.#db.exec(`DELETE FROM ${table}`);
      for (const row of (rows[place] as unknown as Table<Row>).values()) this.#insert(table, row);
    }
    this.#db.exec('COMMIT');
  }

  /** One field as it should not be, while `ask` runs. */
  broken<T>(place: KeptPlace, id: string, field: string, value: unknown, ask: () => T): T {
    this.#db.exec('SAVEPOINT broken');
    try {
      const update = `UPDATE ${TABLE_OF[place]} SET ${snakeCase(field)} = ? WHERE id = ?`;
      this.#db.prepare(update).run(sqlOf(field, value), id);
      return ask();
    } finally {
      this.#db.exec('ROLLBACK TO broken; RELEASE broken');
    }
  }

  offenders(sql: string): Set<string> {
    const query = this.#queries.get(sql) ?? this.#db.prepare(sql);
    this.#queries.set(sql, query);
    return new Set(query.all().map((row) => String(row.id)));
  }

  close(): void {
    this.#db.close();
  }

  #insert(table: string, row: Row): void {
    const fields = Object.keys(row);
    const extra = table === 'scripts' ? { code: '', manifest: '{}' } : {};
    const columns = [...fields.map(snakeCase), ...Object.keys(extra)];
    const values = [...fields.map((field) => sqlOf(field, row[field])), ...Object.values(extra)];
    const places = columns.map(() => '?').join(', ');
    this.#db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(...values);
  }
}

/** The statements of a fresh store: tables and, if wanted, the indexes that keep rows apart. */
export async function schemaOfStore(...types: ('table' | 'index')[]): Promise<string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-schema-'));
  await openSqliteStore({ dataDir, clock: { now: () => 0 } }).close();
  const db = new DatabaseSync(join(dataDir, 'pawl.db'), { readOnly: true });
  const found = db.prepare('SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid').all();
  db.close();
  rmSync(dataDir, { recursive: true });
  const wanted = found.filter((row) => (types as string[]).includes(String(row.type)));
  return wanted.filter((row) => !String(row.name).startsWith('sqlite_')).map((row) => String(row.sql));
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function sqlOf(field: string, value: unknown): string | number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null || typeof value === 'number' || typeof value === 'string') return value;
  return field === 'holds' ? (value as string[]).join(' ') : JSON.stringify(value);
}
