import { positional, postgresDialect } from '../dialect.ts';
import type { Later, LaterReader } from '../later.ts';
import { type Asked, type Listed, lookup, READS, type Read, wholeTable } from '../reads.ts';
import type { SqlText } from '../statements/statement.ts';
import type { Answer, PostgresConnection, Statement } from './connection.ts';
import { isLost, postgresError, shownUrl } from './failures.ts';
import { openSession } from './session.ts';

/** A connection of its own that cannot write, whatever it is asked to. Reads that are under way at once share its round trips. */
export async function openPostgresReader(url: string): Promise<LaterReader> {
  const connections = new ReadConnections(url);
  await connections.current();
  const reads = Object.entries(READS as unknown as Readonly<Record<string, (...args: unknown[]) => Read<unknown>>>);
  const later = reads.map(([name, read]) => [name, (...args: unknown[]) => connections.read(read(...args))]);
  return {
    ...(Object.fromEntries(later) as Later<Listed>),
    fetch: (name, ...by) => connections.read(lookup(name, ...by)),
    table: (name) => connections.read(wholeTable(name)),
    offenders: async (sql) => {
      const { rows, columns } = await connections.ask({ sql, params: {} });
      return rows.map((row) => Object.fromEntries(row.map((value, i) => [columns[i] ?? '', value])));
    },
    close: () => connections.close(),
  };
}

class ReadConnections {
  readonly #url: string;
  readonly #statements = new Map<SqlText, Omit<Statement, 'values'> & { readonly names: readonly string[] }>();
  #connection: PostgresConnection | undefined;
  #opening: Promise<PostgresConnection> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** The connection, opened anew if the last one was lost. */
  async current(): Promise<PostgresConnection> {
    if (this.#connection?.isOpen) return this.#connection;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async read<T>(reading: Read<T>): Promise<T> {
    let step = reading.next();
    while (!step.done) step = reading.next((await this.ask(step.value)).rows);
    return step.value;
  }

  async ask({ sql, params }: Asked): Promise<Answer> {
    const { names, ...statement } = this.#prepared(sql);
    const bound = { ...statement, values: names.map((name) => params[name] ?? null) };
    try {
      return await this.#send(bound);
    } catch (error) {
      if (!isLost(error)) throw postgresError(error, shownUrl(this.#url));
    }
    // Reading twice does no harm, and the server may only have been restarted since we last asked.
    return this.#send(bound).catch((error: unknown) => {
      throw postgresError(error, shownUrl(this.#url));
    });
  }

  async close(): Promise<void> {
    await this.#opening;
    await this.#connection?.close();
  }

  async #send(statement: Statement): Promise<Answer> {
    const connection = await this.current();
    const [answer] = await connection.flight([statement]);
    return answer ?? { rows: [], columns: [], command: '' };
  }

  #prepared(sql: SqlText) {
    const known = this.#statements.get(sql);
    if (known) return known;
    const text = positional(postgresDialect, typeof sql === 'string' ? sql : sql(postgresDialect));
    const prepared = { name: `read ${this.#statements.size + 1}`, ...text };
    this.#statements.set(sql, prepared);
    return prepared;
  }

  async #open(): Promise<PostgresConnection> {
    try {
      const connection = await openSession(this.#url);
      await connection.flight([{ text: 'SET default_transaction_read_only = on' }]);
      this.#connection = connection;
      return connection;
    } catch (error) {
      throw postgresError(error, shownUrl(this.#url));
    }
  }
}
