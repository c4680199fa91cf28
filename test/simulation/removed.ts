import { Rows } from '#model';

type Table = { readonly [T in keyof Rows]: Rows[T] extends (...args: never[]) => unknown ? never : T }[keyof Rows];
type Row = { readonly id?: string; readonly eventId?: string; readonly inputId?: string };

/** Where rows may go, and when: not while anything may still come of them. Nothing of any other table ever goes. */
const IS_OVER: Partial<{ readonly [T in Table]: (row: never, rows: Rows) => boolean }> = {
  events: ({ status }: Of<'events'>) => status === 'consumed' || status === 'skipped',
  eventInputs: () => true,
  inputs: () => true,
  mutations: ({ resolvedBy, setAsideAt }: Of<'mutations'>) => resolvedBy !== null && setAsideAt === null,
  evidence: () => true,
  runs: ({ id, status }: Of<'runs'>, rows) => status !== 'active' && !isNamed(rows, id),
  sessions: ({ endTimestamp }: Of<'sessions'>) => endTimestamp !== null,
  executions: ({ endedAt }: Of<'executions'>) => endedAt !== null,
  deliveries: ({ status }: Of<'deliveries'>) => status === 'done',
  tasks: ({ status }: Of<'tasks'>) => status !== 'open',
};
const NEVER_GONE: readonly Table[] = ['workflows', 'scripts', 'audit', 'prunedEvents', 'prunedDeliveries'];

type Of<T extends Table> = ReturnType<Rows[T]['values']>[number];

function isNamed(rows: Rows, run: string): boolean {
  return rows.workflows.values().some((row) => row.pendingRetryRunId === run || row.maintenanceRunId === run);
}

/** What is gone, and was still needed. */
export function wronglyGone(before: Rows, after: Rows): string[] {
  const tables = [...(Object.keys(IS_OVER) as Table[]), ...NEVER_GONE];
  return tables.flatMap((table) => {
    const isOver = IS_OVER[table] ?? (() => false);
    return gone(before, after, table)
      .filter(([, row]) => !isOver(row as never, before))
      .map(([key]) => `${key} of ${table} is gone`);
  });
}

function gone(before: Rows, after: Rows, table: Table): [string, Row][] {
  if (before[table] === after[table]) return [];
  const kept = new Set((after[table].values() as Row[]).map(keyOf));
  return (before[table].values() as Row[])
    .map((row): [string, Row] => [keyOf(row), row])
    .filter(([key]) => !kept.has(key));
}

function keyOf({ id, eventId, inputId }: Row): string {
  return id ?? `${eventId} ${inputId}`;
}

/** What was removed, as it was: the promise is about everything that ever was. */
export class Removed {
  readonly #rows = new Rows();
  #count = 0;

  keep(before: Rows, after: Rows): void {
    for (const table of Object.keys(IS_OVER) as Table[])
      for (const [key, row] of gone(before, after, table)) {
        this.#count++;
        this.#rows[table].put(key, row as never);
      }
  }

  /** As if nothing had been removed. */
  and(rows: Rows): Rows {
    if (this.#count === 0) return rows;
    const all = rows.copy();
    for (const table of Object.keys(IS_OVER) as Table[])
      for (const row of this.#rows[table].values()) all[table].load(keyOf(row as Row), row as never);
    return all;
  }
}
