import type { Rows, Table } from './table.ts';

/**
 * What must be true after every commit. Each is a sentence, the SQL that finds offenders in a store, and the same question asked
 * of rows in memory; a test keeps the two in agreement. `atStart` marks those an index answers, so that every start can ask.
 */
export interface Invariant {
  readonly name: string;
  readonly says: string;
  readonly atStart: boolean;
  /** Rows (workflow_id, id) that break it. */
  readonly sql: string;
  readonly offenders: (rows: Rows) => string[];
}

export const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map((row) => row.id);

export function among<R extends { readonly id: string }>(table: Table<R>, breaks: (row: R) => boolean): string[] {
  return ids(table.matching(breaks));
}
