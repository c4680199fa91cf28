import { PawlError, type WorkflowId } from '#base';
import type { ImportedRows, ImportedScript } from '#model';
import type { Kind, SqlValue, TableOf } from './columns.ts';
import { MIGRATIONS } from './schema/migrations.ts';
import { TABLES, type TableName } from './statements/all.ts';

/** The rows of one table that belong to one workflow, as they are kept. */
export interface TableRows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
}

/** Which version of the tables rows are of. */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/** What both databases take for a limit. */
export const ROWS_MAX = 1_000_000_000;

const OF_WORKFLOW = 'workflow_id = :workflow';
const OF_RUNS = 'run_id IN (SELECT id FROM handler_runs WHERE workflow_id = :workflow)';

/**
 * What goes with a workflow, and how its rows are found. Not with it: what people allow it and hold here (grants, allowances,
 * tokens, secrets), messages, and the audit log, of which only what was done to the workflow itself is told.
 */
const PARTS = {
  workflows: 'id = :workflow',
  scripts: OF_WORKFLOW,
  executions: OF_WORKFLOW,
  enforcements: OF_WORKFLOW,
  script_runs: OF_WORKFLOW,
  deliveries: OF_WORKFLOW,
  handler_runs: OF_WORKFLOW,
  events: OF_WORKFLOW,
  mutations: OF_WORKFLOW,
  evidence: 'mutation_id IN (SELECT id FROM mutations WHERE workflow_id = :workflow)',
  inputs: OF_WORKFLOW,
  event_inputs: 'event_id IN (SELECT id FROM events WHERE workflow_id = :workflow)',
  handler_states: OF_WORKFLOW,
  maintenance_tasks: OF_WORKFLOW,
  run_logs: OF_RUNS,
  run_reads: OF_RUNS,
  pruned_events: OF_WORKFLOW,
  pruned_deliveries: OF_WORKFLOW,
} as const satisfies Partial<Record<TableName, string>>;

type Part = keyof typeof PARTS;

/** Told, and never put in anywhere: a chain of hashes cannot be cut. */
const ACTS = { table: 'acts', columns: ['at', 'actor', 'act', 'detail'] } as const;

export interface PartStatement {
  readonly table: string;
  readonly columns: readonly string[];
  readonly sql: string;
}

/** One statement a table; each stops past so many rows. */
export function partStatements(): readonly PartStatement[] {
  const parts = (Object.keys(PARTS) as Part[]).map((table): PartStatement => {
    const columns = columnsOf(table);
    // The first two columns are, or begin with, every table's key.
    const order = columns.slice(0, 2).join(', ');
    const sql = `SELECT ${columns.join(', ')} FROM ${table} WHERE ${PARTS[table]} ORDER BY ${order} LIMIT :limit`;
    return { table, columns, sql };
  });
  const sql = `SELECT ${ACTS.columns.join(', ')} FROM audit_log WHERE subject = :workflow ORDER BY seq LIMIT :limit`;
  return [...parts, { ...ACTS, sql }];
}

/** What each of those statements found, or a refusal where it is more than can be put in again at once. */
export function whole(
  workflow: WorkflowId,
  answers: readonly (readonly (readonly SqlValue[])[])[],
  rowsMax: number,
): readonly TableRows[] {
  const tables = partStatements().map(({ table, columns }, i) => ({ table, columns, rows: answers[i] ?? [] }));
  if (tables.reduce((sum, { rows }) => sum + rows.length, 0) > rowsMax) throw tooMany(workflow, rowsMax);
  return tables;
}

function tooMany(workflow: WorkflowId, rowsMax: number): PawlError {
  return new PawlError({
    code: 'too-many-rows',
    message: `workflow ${workflow} has more than ${rowsMax.toLocaleString('en')} rows`,
    why: 'an import is one transaction, and holds up the engine it comes to',
    next: [
      { label: 'remove old history first', argv: ['pawl', 'retention', '--dry-run'] },
      { label: 'or move all of the engine, with pawl backup or pawl migrate-store' },
    ],
  });
}

/** Kept with a version, and no part of its row. */
const BESIDE_SCRIPTS = ['code', 'manifest'];

function columnsOf(table: Part): readonly string[] {
  return table === 'scripts' ? [...TABLES.scripts.columns, ...BESIDE_SCRIPTS] : TABLES[table].columns;
}

/** Rows from outside as rows of the model; whatever is not what a column holds is refused. */
export function importedRows(tables: readonly TableRows[]): ImportedRows {
  const found = new Map(tables.map((each) => [each.table, each]));
  const rowsOf = <T extends Part>(table: T) => parsed(table, found.get(table));
  const [workflow, another] = rowsOf('workflows');
  if (workflow === undefined || another !== undefined) throw notWhole('it must hold exactly one workflow');
  return {
    workflow,
    scripts: scriptsOf(found.get('scripts')),
    executions: rowsOf('executions'),
    enforcements: rowsOf('enforcements'),
    sessions: rowsOf('script_runs'),
    deliveries: rowsOf('deliveries'),
    runs: rowsOf('handler_runs'),
    events: rowsOf('events'),
    mutations: rowsOf('mutations'),
    evidence: rowsOf('evidence'),
    inputs: rowsOf('inputs'),
    eventInputs: rowsOf('event_inputs'),
    handlerStates: rowsOf('handler_states'),
    tasks: rowsOf('maintenance_tasks'),
    runLogs: rowsOf('run_logs'),
    runReads: rowsOf('run_reads'),
    prunedEvents: rowsOf('pruned_events'),
    prunedDeliveries: rowsOf('pruned_deliveries'),
  };
}

type RowIn<T extends Part> = ReturnType<(typeof TABLES)[T]['parse']>;

function parsed<T extends Part>(table: T, given: TableRows | undefined): RowIn<T>[] {
  if (given === undefined || given.rows.length === 0) return [];
  const of = TABLES[table] as unknown as TableOf<RowIn<T>>;
  mustHaveColumns(table, given, of.columns);
  return given.rows.map((values) => of.parse(checked(table, of, values)));
}

function scriptsOf(given: TableRows | undefined): ImportedScript[] {
  if (given === undefined || given.rows.length === 0) return [];
  const of = TABLES.scripts;
  mustHaveColumns('scripts', given, columnsOf('scripts'));
  return given.rows.map((values) => {
    const [code, manifest] = values.slice(of.columns.length);
    if (typeof code !== 'string' || typeof manifest !== 'string') throw notWhole('a version has no code');
    return { row: of.parse(checked('scripts', of, values)), code, manifest };
  });
}

function mustHaveColumns(table: string, { columns }: TableRows, expected: readonly string[]): void {
  if (columns.join() !== expected.join()) throw notWhole(`${table} has other columns than here`);
}

function checked<R>(table: string, of: TableOf<R>, values: readonly SqlValue[]): readonly SqlValue[] {
  for (const [position, field] of of.fields.entries()) {
    const value = values[position];
    if (!FITS[of.kinds[field] ?? 'text'](value)) {
      throw notWhole(`${of.columns[position]} of a row of ${table} is ${String(JSON.stringify(value)).slice(0, 60)}`);
    }
  }
  return values;
}

/** Whether a field may be null the database itself says. */
const FITS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  text: (value) => value === null || typeof value === 'string',
  integer: (value) => value === null || Number.isSafeInteger(value),
  real: (value) => typeof value === 'number' && Number.isFinite(value),
  flag: (value) => value === 0 || value === 1,
  words: (value) => typeof value === 'string',
  list: (value) => isJson(value, (list) => Array.isArray(list) && list.every((each) => typeof each === 'string')),
  json: (value) => isJson(value, (found) => typeof found === 'object' && found !== null),
};

function isJson(text: unknown, fits: (value: unknown) => boolean): boolean {
  try {
    return typeof text === 'string' && fits(JSON.parse(text));
  } catch {
    return false;
  }
}

function notWhole(why: string): PawlError {
  return new PawlError({
    code: 'export-damaged',
    message: 'the rows of the export are not what a workflow is',
    why,
    next: [{ label: 'export the workflow again, with the same version of Pawl' }],
  });
}
