import { assert } from '#base';
import type { Table } from './table.ts';

/** A row that must not be there yet. */
export function insert<R>(table: Table<R>, key: string, row: R): void {
  assert(table.get(key) === undefined, `${key} exists already`);
  table.put(key, row);
}

/** A row as a write expects it, replaced by the next one. */
export function change<R>(table: Table<R>, key: string, expected: (row: R) => boolean, next: (row: R) => R): void {
  const row = table.get(key);
  assert(row !== undefined, `${key} is not here`);
  // Only then the words: a row as text costs more than the write.
  if (!expected(row)) assert(false, `${key} is not in the state a write expects: ${JSON.stringify(row)}`);
  table.put(key, next(row));
}
