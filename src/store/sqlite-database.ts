import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { SqlValue } from './columns.ts';
import { type Dialect, positional, sqliteDialect } from './dialect.ts';
import type { SqlText } from './statements/statement.ts';

/** A statement prepared once, when it is first needed, bound by position. */
export interface Query {
  readonly names: readonly string[];
  all(values: readonly SqlValue[]): readonly SqlValue[][];
  /** How many rows it changed. */
  run(values: readonly SqlValue[]): number;
}

/** One connection to one SQLite file. Rows come as arrays: half the cost of objects, and the model's rows are made from them. */
export class SqliteDatabase {
  readonly path: string;
  readonly dialect: Dialect = sqliteDialect;
  readonly #db: DatabaseSync;

  constructor(path: string, options: { readonly readOnly?: boolean } = {}) {
    this.path = path;
    this.#db = new DatabaseSync(path, { readOnly: options.readOnly ?? false });
  }

  get isOpen(): boolean {
    return this.#db.isOpen;
  }

  get isTransaction(): boolean {
    return this.#db.isTransaction;
  }

  exec(text: string): void {
    this.#db.exec(text);
  }

  prepare(sql: SqlText): Query {
    const { text, names } = positional(this.dialect, typeof sql === 'string' ? sql : sql(this.dialect));
    let statement: StatementSync | undefined;
    const prepared = () => {
      statement ??= this.#statement(text);
      return statement;
    };
    return {
      names,
      all: (values) => prepared().all(...values) as unknown as SqlValue[][],
      run: (values) => Number(prepared().run(...values).changes),
    };
  }

  /** For statements that run once: no parameters, nothing kept. */
  rows(text: string): readonly SqlValue[][] {
    return this.#statement(text).all() as unknown as SqlValue[][];
  }

  /** Rows as objects by column name, for readers that do not know the columns. */
  objects(text: string): Record<string, SqlValue>[] {
    return this.#db
      .prepare(text)
      .all()
      .map((row) => ({ ...row }) as Record<string, SqlValue>);
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  #statement(text: string): StatementSync {
    const statement = this.#db.prepare(text);
    statement.setReturnArrays(true);
    return statement;
  }
}
