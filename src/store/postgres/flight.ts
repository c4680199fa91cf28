import type { Connection, Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import type { SqlValue } from '../columns.ts';
import { bindingOf, Messages } from './messages.ts';

/** A statement on its way. One with a name is prepared once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly (SqlValue | readonly SqlValue[])[];
}

export interface Answer {
  readonly rows: readonly SqlValue[][];
  readonly columns: readonly string[];
  /** What the server says it did: an aborted transaction answers COMMIT with ROLLBACK. */
  readonly command: string;
}

/** What a statement answers with. */
interface Shape {
  readonly columns: readonly string[];
  /** The places of those that are numbers: the rest stays the text it came as. */
  readonly numbers: readonly number[];
}

const NO_VALUES: readonly SqlValue[] = [];
const NOTHING: Shape = { columns: [], numbers: [] };

/** A statement the server has a name for; its shape is missing until it has answered once. */
interface Known {
  readonly serverName: string;
  readonly binding: Uint8Array;
  shape?: Shape;
}

/** What a connection has prepared so far. Its flights go one after the other. */
export class PreparedStatements {
  readonly messages = new Messages();
  readonly #known = new Map<string, Known>();
  readonly #forgotten: string[] = [];
  #count = 0;

  find(name: string): Known | undefined {
    return this.#known.get(name);
  }

  /** Never by a name that was used before: one that failed may be there all the same. */
  add(name: string): Known {
    const serverName = `${++this.#count} ${name}`;
    const known = { serverName, binding: bindingOf(serverName) };
    this.#known.set(name, known);
    return known;
  }

  forgetUnlessAnswered(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined || known.shape !== undefined) return;
    this.#known.delete(name);
    this.#forgotten.push(known.serverName);
  }

  /** What the server may still have, and is to drop. */
  forgotten(): readonly string[] {
    return this.#forgotten.splice(0);
  }
}

/** The unnamed statement: replaced by the next one. */
const UNNAMED: Known = { serverName: '', binding: bindingOf('') };

const INT8 = 20;
const INT4 = 23;
const FLOAT8 = 701;
const NUMBERS: readonly number[] = [INT8, INT4, FLOAT8];

/** The messages of the server, as the driver hands them on. */
interface RowDescription {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}
interface DataRow {
  readonly fields: (string | null)[];
}
interface CommandComplete {
  readonly text: string;
}

/**
 * Statements that go out in one piece and are answered in one piece. The driver would end each with a Sync of its own, at which
 * the server sends what it has: here there is one, at the end. When one of them fails, the server skips those behind it.
 */
export class Flight implements Submittable {
  readonly #statements: readonly Statement[];
  readonly #prepared: PreparedStatements;
  /** What this flight prepares. */
  readonly #first: string[] = [];
  readonly #known: (Known | undefined)[] = [];
  readonly #answers: Answer[] = [];
  readonly #end = Promise.withResolvers<readonly Answer[]>();
  #rows: SqlValue[][] = [];
  #shape: Shape | undefined;

  constructor(statements: readonly Statement[], prepared: PreparedStatements) {
    this.#statements = statements;
    this.#prepared = prepared;
  }

  /** Rejects with what the server or the driver said of the first statement that has no answer. */
  get answers(): Promise<readonly Answer[]> {
    return this.#end.promise;
  }

  /** How many were answered. */
  get answered(): number {
    return this.#answers.length;
  }

  submit(connection: Connection): void {
    const { messages } = this.#prepared;
    messages.begin();
    for (const name of this.#prepared.forgotten()) messages.add(serialize.close({ type: 'S', name }));
    for (const statement of this.#statements) this.#add(statement, messages);
    connection.stream.write(messages.whole());
  }

  handleRowDescription({ fields }: RowDescription): void {
    this.#shape = {
      columns: fields.map(({ name }) => name),
      numbers: fields.flatMap(({ dataTypeID }, i) => (NUMBERS.includes(dataTypeID) ? i : [])),
    };
  }

  handleDataRow({ fields }: DataRow): void {
    // The driver makes a list for each row and keeps none of them.
    const row: SqlValue[] = fields;
    for (const i of this.#shapeNow().numbers) if (row[i] !== null) row[i] = Number(row[i]);
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: CommandComplete): void {
    const shape = this.#shapeNow();
    const known = this.#known[this.#answers.length];
    if (known) known.shape ??= shape;
    const [command = ''] = text.split(' ', 1);
    this.#answers.push({ rows: this.#rows, columns: shape.columns, command });
    this.#rows = [];
    this.#shape = undefined;
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleError(error: unknown): void {
    for (const name of this.#first) this.#prepared.forgetUnlessAnswered(name);
    this.#end.reject(error);
  }

  handleReadyForQuery(): void {
    this.#end.resolve(this.#answers);
  }

  #shapeNow(): Shape {
    return this.#shape ?? this.#known[this.#answers.length]?.shape ?? NOTHING;
  }

  #add({ name, text, values = NO_VALUES }: Statement, messages: Messages): void {
    const { known, isNew } = this.#knownBy(name);
    this.#known.push(known);
    const { serverName, binding } = known ?? UNNAMED;
    if (isNew) messages.add(serialize.parse({ name: serverName, text }));
    messages.bind(binding, values);
    if (isNew) messages.add(serialize.describe({ type: 'P' }));
    messages.execute();
  }

  #knownBy(name: string | undefined): { readonly known?: Known; readonly isNew: boolean } {
    if (name === undefined) return { isNew: true };
    const known = this.#prepared.find(name);
    if (known !== undefined) return { known, isNew: false };
    this.#first.push(name);
    return { known: this.#prepared.add(name), isNew: true };
  }
}
