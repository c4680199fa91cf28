import type { LookupName, Lookups, WriteName, WriteOf } from '#model';
import type { Kind, TableOf } from '../columns.ts';
import type { Dialect } from '../dialect.ts';

/** One SQL text with `:named` parameters; a function where the databases differ in more than a word. */
export type SqlText = string | ((dialect: Dialect) => string);

/** The one guarded statement of a write. Its parameters are the write's own fields. */
export interface WriteStatement<N extends WriteName> {
  readonly sql: SqlText;
  /** Where the parameters are, if not on the write itself. */
  readonly of?: (write: WriteOf<N>) => object;
  /** How parameters are kept that are neither text nor number. */
  readonly kinds?: Readonly<Record<string, Kind>>;
  /** How many rows it must change; one, unless said. `any`: the same write twice is no mistake. */
  readonly rows?: (write: WriteOf<N>) => number | 'any';
  /** The same for one of its rows by the key, where the writes of many are one statement: one row of parameters for each. */
  readonly each?: { readonly sql: string; readonly of: (write: WriteOf<N>) => readonly object[] };
}

export type WriteStatements<N extends WriteName = WriteName> = { readonly [M in N]: WriteStatement<M> };

/** The one SELECT of a lookup, its parameters named in the order the lookup takes them. */
export interface LookupStatement<N extends LookupName> {
  readonly sql: SqlText;
  readonly by: readonly string[];
  readonly rows: Pick<TableOf<Lookups[N]['gives']>, 'parse'>;
}

export type LookupStatements<N extends LookupName = LookupName> = { readonly [M in N]: LookupStatement<M> };

export interface InsertStatement<R> {
  readonly sql: string;
  readonly of: (write: { readonly row: R }) => object;
  readonly kinds: Readonly<Record<string, Kind>>;
}

export function inserted<R extends object>(table: TableOf<R>): InsertStatement<R> {
  return {
    sql: `INSERT INTO ${table.name} (${table.columnList()}) VALUES (${table.parameterList})`,
    of: (write) => write.row,
    kinds: table.kinds,
  };
}

export interface SelectStatement<R> {
  readonly sql: string;
  readonly by: readonly string[];
  readonly rows: TableOf<R>;
}

export function selected<R>(table: TableOf<R>, by: readonly string[], where: string): SelectStatement<R> {
  return { sql: `SELECT ${table.columnList()} FROM ${table.name} ${where}`, by, rows: table };
}

/** Rendered as comparisons: SQLite builds a tree for a list of three or more, at every row it checks. */
export function oneOf(expression: string, words: readonly string[]): string {
  return `(${words.map((word) => `${expression} = '${word}'`).join(' OR ')})`;
}
