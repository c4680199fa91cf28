import type { IdKind } from '#base';
import type { ImportedRows } from '../imported.ts';
import { isLiveStatus } from '../states.ts';
import { checkId, refuse } from './refusal.ts';

type Row = Readonly<Record<string, unknown>>;
type ListName = Exclude<keyof ImportedRows, 'workflow'>;

/** What each row is, and which rows of the same file its fields name. A field that is null names none. */
interface Kept {
  readonly id?: IdKind;
  readonly names: Readonly<Record<string, ListName>>;
}

const KEPT: { readonly [L in ListName]: Kept } = {
  scripts: { id: 'script', names: {} },
  executions: { id: 'execution', names: {} },
  enforcements: { id: 'enforcement', names: { executionId: 'executions' } },
  sessions: { id: 'session', names: { executionId: 'executions', scriptId: 'scripts' } },
  deliveries: { id: 'delivery', names: { runId: 'runs' } },
  runs: {
    id: 'run',
    names: {
      scriptRunId: 'sessions',
      scriptId: 'scripts',
      rootRunId: 'runs',
      retryOf: 'runs',
      deliveryId: 'deliveries',
    },
  },
  events: { id: 'event', names: { reservedByRunId: 'runs', publishedByRunId: 'runs', redoOf: 'events' } },
  mutations: {
    id: 'mutation',
    names: {
      handlerRunId: 'runs',
      rootRunId: 'runs',
      scriptId: 'scripts',
      firstEventId: 'events',
      eventIds: 'events',
    },
  },
  evidence: { id: 'evidence', names: { mutationId: 'mutations' } },
  inputs: { id: 'input', names: {} },
  eventInputs: { names: { eventId: 'events', inputId: 'inputs' } },
  handlerStates: { names: { crashEventId: 'events' } },
  tasks: { id: 'task', names: { runId: 'runs' } },
  runLogs: { names: { runId: 'runs' } },
  runReads: { names: { runId: 'runs' } },
  prunedEvents: { id: 'event', names: {} },
  prunedDeliveries: { id: 'delivery', names: {} },
};

/** Every id is one, no two rows have the same, all rows are of this workflow, and what a row names is in the file too. */
export function checkReferences(rows: ImportedRows): void {
  const { workflow } = rows;
  checkId('workflow', workflow.id);
  const lists = new Map((Object.keys(KEPT) as ListName[]).map((list) => [list, rowsOf(rows, list)]));
  const ids = new Map([...lists].map(([list, found]) => [list, idsOf(list, found)]));
  const has = (list: ListName, id: unknown): boolean => ids.get(list)?.has(id) === true;
  for (const [list, found] of lists) {
    for (const row of found) {
      if ('workflowId' in row && row.workflowId !== workflow.id) refuseRow(list, row, `it is not of ${workflow.id}`);
      for (const [field, target] of Object.entries(KEPT[list].names)) {
        const missing = namesIn(row[field]).find((id) => !has(target, id));
        if (missing !== undefined) refuseRow(list, row, `${field} names ${String(missing)}, which is not in the file`);
      }
    }
  }
  if (workflow.activeScriptId === null && isLiveStatus(workflow.status))
    refuseRow('workflow', { id: workflow.id }, `it is ${workflow.status}, and has no version`);
  const pointers = { activeScriptId: 'scripts', maintenanceRunId: 'runs', pendingRetryRunId: 'runs' } as const;
  for (const [field, target] of Object.entries(pointers) as [keyof typeof pointers, ListName][]) {
    const id = workflow[field];
    if (id !== null && !has(target, id))
      refuseRow('runs', { id: workflow.id }, `${field} names what is not in the file`);
  }
}

function rowsOf(rows: ImportedRows, list: ListName): readonly Row[] {
  const found: readonly object[] = list === 'scripts' ? rows.scripts.map(({ row }) => row) : rows[list];
  return found as readonly Row[];
}

function idsOf(list: ListName, rows: readonly Row[]): ReadonlySet<unknown> {
  const { id: kind } = KEPT[list];
  const ids = new Set<unknown>();
  if (kind === undefined) return ids;
  for (const row of rows) {
    checkId(kind, row.id);
    if (ids.has(row.id)) refuseRow(list, row, 'it is in the file twice');
    ids.add(row.id);
  }
  return ids;
}

function namesIn(value: unknown): readonly unknown[] {
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function refuseRow(list: string, row: Row, why: string): never {
  return refuse('invalid', `${String(row.id ?? `a row of ${list}`)} cannot be imported`, why, {
    next: ['export the workflow again'],
  });
}
