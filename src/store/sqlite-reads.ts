import type { LookupName, Lookups, Source } from '#model';
import type { SqlValue } from './columns.ts';
import { storeError } from './failures.ts';
import { prepareSource } from './fetch.ts';
import { databasePath } from './open-sqlite.ts';
import type { Asked, Read } from './reads.ts';
import { type Query, SqliteDatabase } from './sqlite-database.ts';
import type { SqlText } from './statements/statement.ts';

/** A connection of its own that cannot write, whatever it is asked to. */
export class SqliteReads implements Source {
  readonly #db: SqliteDatabase;
  readonly #source: Source;
  readonly #queries = new Map<SqlText, Query>();

  private constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#source = prepareSource(db);
  }

  static open(dataDir: string): SqliteReads {
    const path = databasePath(dataDir);
    let db: SqliteDatabase | undefined;
    try {
      db = new SqliteDatabase(path, { readOnly: true });
      db.exec('PRAGMA busy_timeout = 5000; PRAGMA query_only = 1');
      return new SqliteReads(db);
    } catch (error) {
      db?.close();
      throw storeError(error, path);
    }
  }

  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
    return this.#orTell(() => this.#source.fetch(name, ...by));
  }

  read<T>(reading: Read<T>): T {
    return this.#orTell(() => this.#drive(reading));
  }

  /** Each question of a list of them, as something that answers. */
  reading(questions: object): object {
    const reads = Object.entries(questions as Readonly<Record<string, (...args: unknown[]) => Read<unknown>>>);
    return Object.fromEntries(reads.map(([name, ask]) => [name, (...args: unknown[]) => this.read(ask(...args))]));
  }

  /** One moment for everything that is asked, whatever is committed meanwhile. */
  atOneMoment<T>(reading: Read<T>): T {
    return this.#orTell(() => {
      this.#db.exec('BEGIN');
      try {
        return this.#drive(reading);
      } finally {
        this.#db.exec('ROLLBACK');
      }
    });
  }

  /** Rows by the names of their columns, for SQL that nobody prepared. */
  objects(sql: string): readonly Readonly<Record<string, SqlValue>>[] {
    return this.#orTell(() => this.#db.objects(sql));
  }

  close(): void {
    this.#db.close();
  }

  #drive<T>(reading: Read<T>): T {
    let step = reading.next();
    while (!step.done) step = reading.next(this.#all(step.value));
    return step.value;
  }

  #all({ sql, params }: Asked): readonly SqlValue[][] {
    const query = this.#queries.get(sql) ?? this.#db.prepare(sql);
    this.#queries.set(sql, query);
    return query.all(query.names.map((name) => params[name] ?? null));
  }

  #orTell<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw storeError(error, this.#db.path);
    }
  }
}
