import { Socket } from 'node:net';
import { Client, type CustomTypesConfig } from 'pg';
import type { SqlValue } from '../columns.ts';

/** A statement on its way. One with a name is prepared once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly (SqlValue | readonly string[])[];
}

export interface Answer {
  readonly rows: readonly SqlValue[][];
  readonly columns: readonly string[];
  /** What the server says it did: an aborted transaction answers COMMIT with ROLLBACK. */
  readonly command: string;
}

/** Something between us and the server: the cause is what the driver or the server said. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';

  constructor(doing: string, { cause }: { readonly cause: unknown }) {
    super(`${doing}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** One of the statements of a flight failed: which, and how. Those after it did nothing. */
export class FlightError extends ConnectionError {
  override readonly name = 'FlightError';
  readonly position: number;

  constructor(position: number, cause: unknown) {
    super(`statement ${position + 1} of a flight failed`, { cause });
    this.position = position;
  }
}

const CONNECT_MS_MAX = 10_000;
/** Longer than any wait the server itself allows: past this nobody is there any more. */
const FLIGHT_MS_MAX = 60_000;

const INT8 = 20;
const INT4 = 23;
const FLOAT8 = 701;
const NUMBERS: readonly number[] = [INT8, INT4, FLOAT8];

/** Our columns are text, whole numbers that fit, and reals. */
const TYPES = {
  getTypeParser: (type: number) => (NUMBERS.includes(type) ? Number : String),
} as unknown as CustomTypesConfig;

/**
 * One connection. Statements go out together as a flight and are answered together: one round trip, however many they are. It
 * never connects anew by itself: a transaction that was begun on it can only go on on it.
 */
export class PostgresConnection {
  readonly #client: Client;
  readonly #socket: Socket;
  #isOpen = true;
  #flights = 0;

  private constructor(client: Client, socket: Socket) {
    this.#client = client;
    this.#socket = socket;
    // Whoever waits for an answer is told by it; who does not wait finds the connection closed.
    const closed = () => {
      this.#isOpen = false;
    };
    client.on('error', closed);
    client.on('end', closed);
  }

  static async open(url: string): Promise<PostgresConnection> {
    const socket = new Socket();
    const client = new Client({
      connectionString: url,
      stream: () => socket,
      types: TYPES,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      fallback_application_name: 'pawl',
    });
    const connection = new PostgresConnection(client, socket);
    try {
      await client.connect();
    } catch (error) {
      connection.destroy();
      throw new ConnectionError('there is no connection', { cause: error });
    }
    return connection;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Round trips so far. */
  get flights(): number {
    return this.#flights;
  }

  /** All in one round trip, in their order. Rejects with a FlightError of the first that failed. */
  async flight(statements: readonly Statement[], msMax = FLIGHT_MS_MAX): Promise<readonly Answer[]> {
    this.#flights += 1;
    const tooLate = setTimeout(() => this.destroy(), msMax).unref();
    this.#socket.cork();
    const sent = statements.map((statement) => this.#client.query({ ...statement, rowMode: 'array' } as Sent));
    this.#socket.uncork();
    const settled = await Promise.allSettled(sent);
    clearTimeout(tooLate);
    return settled.map((answer, position) => {
      if (answer.status === 'rejected') throw new FlightError(position, answer.reason);
      const { rows, fields, command } = answer.value;
      return { rows, columns: fields.map((field) => field.name), command };
    });
  }

  listen(hear: (channel: string, payload: string) => void): void {
    this.#client.on('notification', ({ channel, payload = '' }) => hear(channel, payload));
  }

  onEnd(ended: () => void): void {
    this.#client.on('error', ended);
    this.#client.on('end', ended);
  }

  async close(): Promise<void> {
    if (this.#isOpen) await this.#client.end();
  }

  /** At once, without a word: what was sent last may have been heard or not. */
  destroy(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }
}

interface Sent {
  readonly text: string;
  readonly rowMode: 'array';
  // biome-ignore lint/suspicious/noExplicitAny: the driver's own word for parameters.
  readonly values?: any[];
}
