import type { WorkflowId } from '#base';
import type { LookupName, Lookups, Question } from '#model';
import { positional, postgresDialect } from '../dialect.ts';
import type { History } from '../history.ts';
import type { Later, LaterHistory, LaterReader } from '../later.ts';
import { pageOf } from '../lists.ts';
import { PAST } from '../past.ts';
import { type Asked, type Listed, READS, type Read, wholeTable } from '../reads.ts';
import type { SqlText } from '../statements/statement.ts';
import { partStatements, ROWS_MAX, type TableRows, whole } from '../workflow-rows.ts';
import { isKeepable } from './answers.ts';
import { FlightError, type PostgresConnection } from './connection.ts';
import { isLost, postgresError, shownUrl } from './failures.ts';
import type { Answer, Statement } from './flight.ts';
import { type Shared, type Told, takeTogether, type Waiting } from './read-together.ts';
import { openSession } from './session.ts';

/** A connection of its own that cannot write, whatever it is asked to. Reads that are under way at once share its round trips. */
export async function openPostgresReader(url: string): Promise<LaterReader> {
  const connections = await ReadConnections.open(url);
  return {
    ...(connections.reading(READS) as Later<Listed>),
    fetch: (name, ...by) => connections.fetch(name, ...by),
    table: (name) => connections.read(wholeTable(name)),
    offenders: async (sql) => {
      const { rows, columns } = await connections.ask({ sql, params: {} });
      return rows.map((row) => Object.fromEntries(row.map((value, i) => [columns[i] ?? '', value])));
    },
    workflowRows: (workflow, rowsMax) => workflowRows(url, workflow, rowsMax),
    close: () => connections.close(),
  };
}

/** A connection of its own for as long as it takes: one moment for all tables, whatever is committed meanwhile. */
async function workflowRows(url: string, workflow: WorkflowId, rowsMax: number): Promise<readonly TableRows[]> {
  const limit = Math.min(rowsMax, ROWS_MAX) + 1;
  let connection: PostgresConnection | undefined;
  try {
    connection = await openSession(url);
    const statements = partStatements().map(({ sql }) => {
      const { text, names } = positional(postgresDialect, sql);
      return { text, values: names.map((name) => (name === 'limit' ? limit : workflow)) };
    });
    const begin = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' };
    const [, ...answers] = await connection.flight([begin, ...statements, { text: 'COMMIT' }]);
    return whole(
      workflow,
      answers.map(({ rows }) => rows),
      rowsMax,
    );
  } catch (error) {
    throw postgresError(error, shownUrl(url));
  } finally {
    connection?.destroy();
  }
}

/** The past on a connection of its own: a long look keeps nobody else waiting. */
export async function openPostgresHistory(url: string): Promise<LaterHistory> {
  const connections = await ReadConnections.open(url);
  return {
    ...(connections.reading(PAST) as Later<Omit<History, 'fetch' | 'list' | 'close'>>),
    fetch: (name, ...by) => connections.fetch(name, ...by),
    list: (name, filter) => connections.read(pageOf(name, filter)),
    close: () => connections.close(),
  };
}

const NO_ANSWER: Answer = { rows: [], columns: [], command: '' };

class ReadConnections {
  readonly #url: string;
  readonly #statements = new Map<SqlText, Omit<Statement, 'values'> & { readonly names: readonly string[] }>();
  #connection: PostgresConnection | undefined;
  #opening: Promise<PostgresConnection> | undefined;
  #waiting: Waiting[] = [];
  #isFlying = false;

  private constructor(url: string) {
    this.#url = url;
  }

  static async open(url: string): Promise<ReadConnections> {
    const connections = new ReadConnections(url);
    await connections.current();
    return connections;
  }

  /** Each question of a list of them, as something to be waited for. */
  reading(questions: object): object {
    const reads = Object.entries(questions as Readonly<Record<string, (...args: unknown[]) => Read<unknown>>>);
    return Object.fromEntries(reads.map(([name, ask]) => [name, (...args: unknown[]) => this.read(ask(...args))]));
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

  ask(asked: Asked): Promise<Answer> {
    return this.#answer(asked);
  }

  /** One lookup, as the rules ask it; what no row can hold finds none. */
  async fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): Promise<readonly Lookups[N]['gives'][]> {
    if (!by.every(isKeepable)) return [];
    const { found = [] } = await this.#answer({ name, by } as unknown as Question);
    return found as readonly Lookups[N]['gives'][];
  }

  async #answer(asks: Waiting['asks']): Promise<Told> {
    try {
      return await this.#send(asks);
    } catch (error) {
      if (!isLost(error)) throw postgresError(error, shownUrl(this.#url));
    }
    // Reading twice does no harm, and the server may only have been restarted since we last asked.
    return this.#send(asks).catch((error: unknown) => {
      throw postgresError(error, shownUrl(this.#url));
    });
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#connection?.close();
  }

  #send(asks: Waiting['asks']): Promise<Told> {
    const { promise, resolve, reject } = Promise.withResolvers<Told>();
    this.#waiting.push({ asks, resolve, reject });
    if (!this.#isFlying) this.#fly();
    return promise;
  }

  /** Not in the same tick: whatever this one asks goes with it, and whatever is asked while it is under way with the next one. */
  #fly(): void {
    this.#isFlying = true;
    setImmediate(() => void this.#flyAll());
  }

  async #flyAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const together = takeTogether(this.#waiting, (asked) => this.#alone(asked));
      try {
        const connection = await this.current();
        const answers = await connection.flight(together.map(({ statement }) => statement));
        for (const [i, each] of together.entries()) each.tell(answers[i] ?? NO_ANSWER);
      } catch (error) {
        this.#failed(together, error);
      }
    }
    this.#isFlying = false;
  }

  /** One that fails fails alone: the others, all of them only reads, are asked again, and those who shared its statement by themselves. */
  #failed(together: readonly Shared[], error: unknown): void {
    const isOne = error instanceof FlightError && !isLost(error);
    const failed = isOne ? together.slice(error.position, error.position + 1) : together;
    const others = together.filter((each) => !failed.includes(each)).flatMap(({ waiting }) => waiting);
    for (const { waiting } of failed) {
      if (isOne && waiting.length > 1) others.push(...waiting.map((each) => ({ ...each, isAlone: true })));
      else for (const { reject } of waiting) reject(error);
    }
    this.#waiting.unshift(...others);
  }

  #alone({ sql, params }: Asked): Statement {
    const { names, ...statement } = this.#prepared(sql);
    return { ...statement, values: names.map((name) => params[name] ?? null) };
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
    let connection: PostgresConnection | undefined;
    try {
      connection = await openSession(this.#url);
      await connection.flight([{ text: 'SET default_transaction_read_only = on' }]);
      this.#connection = connection;
      return connection;
    } catch (error) {
      connection?.destroy();
      throw postgresError(error, shownUrl(this.#url));
    }
  }
}
