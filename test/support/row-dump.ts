import { Rows, type Table } from '#model';
import type { LaterReader, Reader, TableName } from '#store';

/** Every row of every table, in the order of their keys: what two moments are compared by. */
export type Dump = Readonly<Record<string, readonly unknown[]>>;

type Row = Readonly<Record<string, unknown>>;

/** Where the rows of each table of the database belong among the rows of the model, and what they are keyed by. */
const PLACES: Readonly<Record<TableName, readonly [place: Exclude<keyof Rows, 'copy'>, ...key: string[]]>> = {
  workflows: ['workflows', 'id'],
  scripts: ['scripts', 'id'],
  enforcements: ['enforcements', 'id'],
  executions: ['executions', 'id'],
  limits: ['limits', 'name'],
  slots: ['slots', 'limitName', 'executionId'],
  script_runs: ['sessions', 'id'],
  handler_runs: ['runs', 'id'],
  events: ['events', 'id'],
  mutations: ['mutations', 'id'],
  handler_states: ['handlerStates', 'workflowId', 'handlerName'],
  inputs: ['inputs', 'id'],
  event_inputs: ['eventInputs', 'eventId', 'inputId'],
  deliveries: ['deliveries', 'id'],
  messages: ['messages', 'id'],
  maintenance_tasks: ['tasks', 'id'],
  workers: ['workers', 'id'],
  evidence: ['evidence', 'id'],
  connections: ['connections', 'name'],
  run_logs: ['runLogs', 'runId', 'position'],
  run_reads: ['runReads', 'runId', 'position'],
  audit_log: ['audit', 'seq'],
  tokens: ['tokens', 'id'],
  secrets: ['secrets', 'name'],
  grants: ['grants', 'workflowId', 'connection', 'method'],
  allowances: ['allowances', 'id'],
  permission_requests: ['requests', 'id'],
  notices: ['notices', 'id'],
  pruned_events: ['prunedEvents', 'id'],
  pruned_deliveries: ['prunedDeliveries', 'id'],
  kept_approvals: ['keptApprovals', 'workflowId', 'connection', 'method'],
};

export function rowsOf(reader: Reader): Rows {
  return rowsIn(TABLE_NAMES.map((name) => reader.table(name)));
}

/** All tables in one round trip. */
export async function rowsRead(reader: LaterReader): Promise<Rows> {
  return rowsIn(await Promise.all(TABLE_NAMES.map((name) => reader.table(name))));
}

export const TABLE_NAMES = Object.keys(PLACES) as TableName[];

function rowsIn(tables: readonly (readonly unknown[])[]): Rows {
  const rows = new Rows();
  for (const [position, name] of TABLE_NAMES.entries()) {
    const [place, ...key] = PLACES[name];
    const table = rows[place] as unknown as Table<Row>;
    for (const row of tables[position] as readonly Row[]) table.put(keyOf(row, key), row);
  }
  return rows;
}

export function dumpOf(rows: Rows): Dump {
  return Object.fromEntries(
    Object.entries(PLACES).map(([name, [place, ...key]]) => {
      const found = (rows[place] as unknown as Table<Row>).values();
      return [name, found.sort((a, b) => (sortKeyOf(a, key) < sortKeyOf(b, key) ? -1 : 1))];
    }),
  );
}

function keyOf(row: Row, key: readonly string[]): string {
  return key.map((column) => String(row[column])).join(' ');
}

function sortKeyOf(row: Row, key: readonly string[]): string {
  return keyOf(row, key).padStart(8, '0');
}
