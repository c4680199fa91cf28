import type { LookupName, Question, Write } from '#model';
import type { TableName } from '../statements/all.ts';
import type { Statement } from './flight.ts';

/**
 * What must be held so that the answer of a lookup stays true until the commit: the workflow it is asked about; the workflow a
 * row of that table leads to; each workflow it finds; the row itself; or nothing, because what it says never changes or a key
 * refuses the second. A new lookup does not compile until it says so.
 */
const HOLDS = {
  workflow: 'workflow',
  scriptsOf: 'workflow',
  openExecutions: 'workflow',
  openSession: 'workflow',
  activeRun: 'workflow',
  openLedger: 'workflow',
  eventKeyed: 'workflow',
  anyReserved: 'workflow',
  heads: 'workflow',
  inputKeyed: 'workflow',
  handlerStates: 'workflow',
  deliveryKeyed: 'workflow',
  oldestDelivery: 'workflow',
  deliveriesTo: 'workflow',
  openTasks: 'workflow',
  grantsOf: 'workflow',
  openRequests: 'workflow',
  chain: 'workflow',
  takenBy: 'workflow',
  publishedBy: 'workflow',
  redosOf: 'workflow',
  runsOfDelivery: 'workflow',
  runsOfSession: 'workflow',
  sessionsOf: 'workflow',
  messagesOf: 'workflow',
  inputNamed: 'workflow',
  causedBy: 'workflow',
  allowancesOf: 'workflow',

  execution: { leads: 'executions' },
  session: { leads: 'script_runs' },
  run: { leads: 'handler_runs' },
  lastRun: { leads: 'handler_runs' },
  ledger: { leads: 'handler_runs' },
  reserved: { leads: 'handler_runs' },
  mutation: { leads: 'mutations' },
  evidenceOf: { leads: 'mutations' },
  event: { leads: 'events' },
  inputsOf: { leads: 'events' },
  ledgerOfEvent: { leads: 'events' },
  delivery: { leads: 'deliveries' },
  task: { leads: 'maintenance_tasks' },
  permissionRequest: { leads: 'permission_requests' },

  workflowsHeldBy: 'found',
  lookUpsOf: 'found',

  connection: { row: 'connections', key: 'name' },
  secret: { row: 'secrets', key: 'name' },
  token: { row: 'tokens', key: 'id' },
  notice: { row: 'notices', key: 'id' },
  worker: { row: 'workers', key: 'id' },
  limit: { row: 'limits', key: 'name' },
  slotsOf: { row: 'limits', key: 'name' },

  script: 'nothing',
  workflowNamed: 'nothing',
  tokenHashed: 'nothing',
  noticesOf: 'nothing',
} as const satisfies Readonly<
  Record<
    LookupName,
    'workflow' | 'found' | 'nothing' | { readonly leads: TableName } | { readonly row: TableName; readonly key: string }
  >
>;

/** Tables whose rows lead to their workflow, each with the lookups that are asked by the id of such a row. */
export const LEADS: readonly { readonly table: TableName; readonly names: readonly LookupName[] }[] = leads();

function leads() {
  const tables = new Map<TableName, LookupName[]>();
  for (const name of Object.keys(HOLDS) as LookupName[]) {
    const hold = HOLDS[name];
    if (typeof hold === 'string' || !('leads' in hold)) continue;
    tables.set(hold.leads, [...(tables.get(hold.leads) ?? []), name]);
  }
  return [...tables].map(([table, names]) => ({ table, names }));
}

export function isByWorkflow(name: LookupName): boolean {
  return HOLDS[name] === 'workflow';
}

/** The workflows that must be held for an answer. One that does not exist has nothing to hold. */
export function workflowsHeldFor({ name, by }: Question, rows: readonly unknown[]): readonly string[] {
  const hold = HOLDS[name];
  if (hold === 'nothing') return [];
  if (name === 'workflow' || name === 'workflowsHeldBy') return rows.map((row) => (row as { readonly id: string }).id);
  if (hold === 'workflow') return [by[0]];
  return rows.flatMap((row) => {
    const { workflowId } = row as { readonly workflowId?: string };
    return workflowId === undefined ? [] : [workflowId];
  });
}

/** What belongs to no workflow and is held by itself, as one word. */
export function rowHeldFor({ name, by }: Question): string | undefined {
  const hold = HOLDS[name];
  return typeof hold === 'object' && 'row' in hold ? `${hold.row} ${by[0]}` : undefined;
}

/**
 * Whether a unit that used this, and wrote these, may have changed it. A worker's row is changed by what is said of the worker: whoever claims
 * only looks at it, and many claims of one worker fit in a commit.
 */
export function mayChange(used: string, writes: readonly Write[]): boolean {
  return !used.startsWith('workers ') || writes.some(({ set }) => set.startsWith('worker.'));
}

/** Locks on such rows: table by table in this order, each in the order of its keys, so that nobody waits in a circle. */
export function rowLocks(questions: readonly Question[]): Statement[] {
  return (Object.keys(HOLDS) as LookupName[]).flatMap((name) => {
    const hold = HOLDS[name];
    if (typeof hold === 'string' || !('row' in hold)) return [];
    const keys = questions.filter((question) => question.name === name).map(({ by }) => by[0]);
    if (keys.length === 0) return [];
    const text = `SELECT ${hold.key} FROM ${hold.row} WHERE ${hold.key} = ANY ($1::text[])
      ORDER BY ${hold.key} FOR NO KEY UPDATE`;
    return [{ name: `lock ${hold.row}`, text, values: [keys] }];
  });
}
