import { ConnectionError, type PostgresConnection } from './connection.ts';
import { postgresError, shownUrl } from './failures.ts';
import type { Statement } from './flight.ts';
import { openSession } from './session.ts';

/** What processes call to each other across the database. Only hints: whatever is true is in the rows. */
const CHANNEL = 'pawl';
/** PostgreSQL takes less than 8,000 bytes. */
const CALL_CHARS_MAX = 7_000;
const RECONNECT_MS_MIN = 100;
const RECONNECT_MS_MAX = 5_000;

/** The statement that calls when its transaction commits, and never if it does not. */
export function callOnCommit(text: string): Statement {
  return { name: 'call', text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, text] };
}

export interface SwitchboardOptions {
  readonly url: string;
  /** Another process called. */
  readonly hear: (text: string) => void;
  /** Some calls may have been missed: look at everything. */
  readonly missed: () => void;
}

function noLine(url: string): unknown {
  const cause = new Error('the connection was lost, and there is no other yet');
  return postgresError(new ConnectionError('there is no connection', { cause }), shownUrl(url));
}

/** One connection that listens, and connects anew by itself; calls that came meanwhile are told as missed. */
export class Switchboard {
  readonly #options: SwitchboardOptions;
  #connection: PostgresConnection | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isConnecting = false;
  #isClosed = false;

  private constructor(options: SwitchboardOptions) {
    this.#options = options;
  }

  static async open(options: SwitchboardOptions): Promise<Switchboard> {
    const switchboard = new Switchboard(options);
    try {
      await switchboard.#connect();
    } catch (error) {
      throw postgresError(error, shownUrl(options.url));
    }
    return switchboard;
  }

  /** False from the moment the server is gone, until it is there again. */
  get isOpen(): boolean {
    return this.#connection?.isOpen === true;
  }

  /** What is too long to be called is told as something that was missed. */
  async call(text: string): Promise<void> {
    await this.#connected().flight([callOnCommit(text.length > CALL_CHARS_MAX ? '' : text)]);
  }

  /** What time it is for the database, in milliseconds since 1970. */
  async now(): Promise<number> {
    const [answer] = await this.#connected().flight([
      { text: 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint' },
    ]);
    return Number(answer?.rows[0]?.[0]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#connection?.close();
  }

  #connected(): PostgresConnection {
    if (this.#connection?.isOpen) return this.#connection;
    this.#later(RECONNECT_MS_MIN);
    throw noLine(this.#options.url);
  }

  async #connect(): Promise<void> {
    const connection = await openSession(this.#options.url);
    try {
      connection.listen((_channel, text) => (text === '' ? this.#options.missed() : this.#options.hear(text)));
      // An end may be told twice, and of a line that was replaced long ago.
      connection.onEnd(() => connection === this.#connection && this.#later(RECONNECT_MS_MIN));
      await connection.flight([{ text: `LISTEN ${CHANNEL}` }]);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    this.#connection = connection;
    // Whoever hung up while it was on its way would leave a line open that keeps the process alive.
    if (this.#isClosed) await connection.close();
    else if (!connection.isOpen) this.#later(RECONNECT_MS_MIN);
  }

  /** One attempt at a time, and none where there is a line: a second one would be heard twice and never hung up. */
  #later(delayMs: number): void {
    if (this.#isClosed || this.#isConnecting || this.#connection?.isOpen === true) return;
    this.#isConnecting = true;
    this.#retry = setTimeout(() => {
      this.#connect()
        .finally(() => {
          this.#isConnecting = false;
        })
        .then(
          () => this.#options.missed(),
          () => this.#later(Math.min(delayMs * 2, RECONNECT_MS_MAX)),
        );
    }, delayMs).unref();
  }
}
