import type { Script } from './rows.ts';
import type { Rows, Table } from './table.ts';

export interface ImportedScript {
  readonly row: Script;
  readonly code: string;
  readonly manifest: string;
}

type ImportedTable =
  | 'executions'
  | 'enforcements'
  | 'sessions'
  | 'deliveries'
  | 'runs'
  | 'events'
  | 'mutations'
  | 'evidence'
  | 'inputs'
  | 'eventInputs'
  | 'handlerStates'
  | 'tasks'
  | 'runLogs'
  | 'runReads'
  | 'prunedEvents'
  | 'prunedDeliveries';

type RowOf<T extends keyof Rows> = Rows[T] extends Table<infer Row> ? Row : never;

/** One workflow with its history, as another engine had it. What people allow, and what they hold, is not in it. */
export type ImportedRows = { readonly [T in ImportedTable]: readonly RowOf<T>[] } & {
  readonly workflow: RowOf<'workflows'>;
  readonly scripts: readonly ImportedScript[];
};
