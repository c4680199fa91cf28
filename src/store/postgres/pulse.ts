import type { PostgresConnection } from './connection.ts';
import { postgresError, shownUrl } from './failures.ts';
import { openSession } from './session.ts';

/** The write `worker.renewed`, by the database's own clock. */
const BEAT = `UPDATE workers SET lease_until = floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + $2
  WHERE id = $1 AND ended_at IS NULL RETURNING status`;

/**
 * The sign of life of one incarnation, on a connection of its own: whatever the store of its process waits for, a lock or a long
 * queue, does not make it look dead.
 */
export class PostgresPulse {
  readonly #url: string;
  #connection: PostgresConnection | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** So that the first sign takes no longer than any other. */
  async open(): Promise<void> {
    try {
      await this.#connected();
    } catch (error) {
      throw postgresError(error, shownUrl(this.#url));
    }
  }

  /** What people want of this worker; undefined when it was declared over. */
  async beat(worker: string, leaseMs: number): Promise<string | undefined> {
    try {
      const connection = await this.#connected();
      const [answer] = await connection.flight([{ name: 'beat', text: BEAT, values: [worker, leaseMs] }]);
      const status = answer?.rows[0]?.[0];
      return status === undefined ? undefined : String(status);
    } catch (error) {
      this.#connection?.destroy();
      this.#connection = undefined;
      throw postgresError(error, shownUrl(this.#url));
    }
  }

  async close(): Promise<void> {
    await this.#connection?.close();
  }

  async #connected(): Promise<PostgresConnection> {
    if (!this.#connection?.isOpen) this.#connection = await openSession(this.#url);
    return this.#connection;
  }
}
