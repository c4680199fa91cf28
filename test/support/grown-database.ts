import { COPIED } from './old-history.ts';
import type { OwnServer } from './postgres-server.ts';

/** Years of work in a PostgreSQL database whose workflows have each been through once. */
export interface Growth {
  /** Done long ago, with their runs, calls and sessions. */
  readonly done: number;
  /** Published in the same workflows, and not yet taken. */
  readonly waiting: number;
  /** Workflows besides, with nothing to do. */
  readonly idle: number;
}

/** Sessions of so many runs each. */
const RUNS_A_SESSION = 10;

/** The same as in a data folder, and the sessions around it. */
const COPIED_WITH_SESSIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  executions: { id: 'exe' },
  enforcements: { id: 'enf', execution_id: 'exe' },
  script_runs: { id: 'ses', execution_id: 'exe' },
  ...COPIED,
  handler_runs: { ...COPIED.handler_runs, script_run_id: 'ses' },
};
const SESSION_TABLES: readonly string[] = ['executions', 'enforcements', 'script_runs'];
const SESSION_PREFIXES: readonly string[] = ['exe', 'ses'];

/** Rows in bulk, in the shapes the engine writes: a copy of the newest of every workflow, over and over. */
export async function grow(server: OwnServer, database: string, { done, waiting, idle }: Growth): Promise<void> {
  const busy = Number((await server.query(database, 'SELECT count(*) FROM workflows'))[0]?.[0]);
  const copies = Math.ceil(done / busy);
  const each = Math.ceil(waiting / busy);
  // Neither guards nor keys are asked: the rows are those of a real cycle, under other ids.
  const free = 'SET session_replication_role = replica; SET synchronous_commit = off';
  for (const table of Object.keys(COPIED_WITH_SESSIONS)) {
    const columns = await columnsOf(server, database, table);
    await server.query(database, `${free}; ${copySql(table, columns, copies)}`);
  }
  const columns = await columnsOf(server, database, 'events');
  await server.query(database, `${free}; ${waitingSql(columns, each)}`);
  await server.query(database, `${free}; UPDATE workflows SET event_seq = event_seq + ${each}`);
  for (const table of ['workflows', 'scripts', 'handler_states'])
    await server.query(database, `${free}; ${idleSql(table, await columnsOf(server, database, table), idle)}`);
  await server.query(database, 'VACUUM (ANALYZE)');
}

async function columnsOf(server: OwnServer, database: string, table: string): Promise<string[]> {
  const sql = `SELECT column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = '${table}' ORDER BY ordinal_position`;
  return (await server.query(database, sql)).map(([column]) => String(column));
}

/** The newest row of every workflow, beside its number. */
const newest = (table: string) =>
  `(SELECT DISTINCT ON (workflow_id) *, dense_rank() OVER (ORDER BY workflow_id) AS nth FROM ${table} ORDER BY workflow_id, id DESC) AS real`;

/** Zeros sort before every id that was ever made. */
const idOf = (prefix: string, n: string) =>
  `'${prefix}_0' || lpad(real.nth::text, 8, '0') || lpad((${n})::text, 15, '0')`;

function copySql(table: string, columns: readonly string[], copies: number): string {
  const isSession = SESSION_TABLES.includes(table);
  const values = columns.map((column) => {
    const prefix = COPIED_WITH_SESSIONS[table]?.[column];
    if (prefix === undefined) return `real.${column}`;
    const id = idOf(prefix, !isSession && SESSION_PREFIXES.includes(prefix) ? `n / ${RUNS_A_SESSION}` : 'n');
    return column === 'event_ids' ? `'["' || ${id} || '"]'` : id;
  });
  const last = isSession ? Math.floor(copies / RUNS_A_SESSION) : copies;
  return `INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${values.join(', ')} FROM ${newest(table)} CROSS JOIN generate_series(${isSession ? 0 : 1}, ${last}) AS n`;
}

/** Published after the newest one, and not yet taken. */
function waitingSql(columns: readonly string[], each: number): string {
  const differs: Readonly<Record<string, string>> = {
    id: `real.id || lpad(n::text, 8, '0')`,
    message_id: `'waits' || n`,
    payload: `'{"id":"waits' || n || '"}'`,
    status: `'pending'`,
    reserved_by_run_id: 'NULL',
    pending_seq: `(SELECT event_seq FROM workflows WHERE id = real.workflow_id) + n`,
  };
  return `INSERT INTO events (${columns.join(', ')})
    SELECT ${columns.map((column) => differs[column] ?? `real.${column}`).join(', ')}
    FROM ${newest('events')} CROSS JOIN generate_series(1, ${each}) AS n`;
}

/** Workflows that have run and have nothing to do; every other one waits for its schedule. */
function idleSql(table: string, columns: readonly string[], count: number): string {
  const id = (prefix: string) => `'${prefix}_idle' || lpad(n::text, 20, '0')`;
  const differs: Readonly<Record<string, string>> = {
    ...(table === 'workflows' && { id: id('wf'), name: `'idle' || n`, active_script_id: id('scr') }),
    ...(table === 'workflows' && { due_at: 'CASE WHEN n % 2 = 0 THEN 4102444800000 + n END', event_seq: '1' }),
    ...(table === 'scripts' && { id: id('scr'), workflow_id: id('wf') }),
    ...(table === 'handler_states' && { workflow_id: id('wf') }),
  };
  return `INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${columns.map((column) => differs[column] ?? `real.${column}`).join(', ')}
    FROM (SELECT * FROM ${table} LIMIT 1) AS real CROSS JOIN generate_series(1, ${count}) AS n`;
}
