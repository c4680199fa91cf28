import { Socket } from 'node:net';
import type { Client } from 'pg';
import { type AddressName, clientFor } from './address.ts';
import { type Answer, Flight, PreparedStatements, type Statement } from './flight.ts';

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

  constructor(position: number, { cause }: { readonly cause: unknown }) {
    super(`statement ${position + 1} of a flight failed`, { cause });
    this.position = position;
  }
}

const CONNECT_MS_MAX = 10_000;
/** Longer than any wait the server itself allows: past this nobody is there any more. */
const FLIGHT_MS_MAX = 60_000;

const ROLLBACK: Statement = { name: 'rollback', text: 'ROLLBACK' };

/**
 * A plan is kept as long as its connection, or until the server has counted the table anew, which it does a minute later at best. One
 * made while a table was nearly empty takes any index for as good as any other: so plans are made anew after so many flights, and again
 * each time there were so many times more.
 */
const REPLAN: Statement = { name: 'replan', text: 'DISCARD PLANS' };
const REPLANNED_FIRST = 100;
const REPLANNED_FACTOR = 2;

/**
 * One connection. Statements go out together as a flight and are answered together: one round trip, however many they are. It
 * never connects anew by itself: a transaction that was begun on it can only go on on it.
 */
export class PostgresConnection {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #prepared = new PreparedStatements();
  #isOpen = true;
  #flights = 0;
  #replanAt = REPLANNED_FIRST;
  /** Ends when the flight before has been answered: the next one may go. */
  #last: Promise<void> = Promise.resolve();

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

  static async open(url: string, named: AddressName): Promise<PostgresConnection> {
    const socket = new Socket();
    const client = clientFor(url, named, {
      stream: () => socket,
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

  /**
   * All in one round trip, in their order. Rejects with a FlightError of the first that failed; a transaction it was in, or that
   * had begun before, is then rolled back.
   */
  async flight(statements: readonly Statement[], msMax = FLIGHT_MS_MAX): Promise<readonly Answer[]> {
    const before = this.#last;
    const { promise, resolve: landed } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    this.#flights += 1;
    const flight = new Flight(statements, this.#prepared);
    const tooLate = setTimeout(() => this.destroy(), msMax).unref();
    try {
      if (this.#flights >= this.#replanAt) await this.#replan();
      return await this.#client.query(flight).answers;
    } catch (error) {
      if (this.#isOpen) await this.#client.query(new Flight([ROLLBACK], this.#prepared)).answers.catch(() => undefined);
      throw new FlightError(flight.answered, { cause: error });
    } finally {
      clearTimeout(tooLate);
      landed();
    }
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

  async #replan(): Promise<void> {
    this.#replanAt *= REPLANNED_FACTOR;
    await this.#client.query(new Flight([REPLAN], this.#prepared)).answers;
  }
}
