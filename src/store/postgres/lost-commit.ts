import { randomUUID } from 'node:crypto';
import { StoreFailedError } from '#base';
import type { PostgresConnection } from './connection.ts';
import { postgresError, shownUrl } from './failures.ts';
import type { Statement } from './flight.ts';
import { openSession } from './session.ts';

/** While nobody knows, nothing may go outside. A process that waits longer than this ends: what it held is then recovered. */
const UNKNOWN_MS_MAX = 10 * 60_000;
const AGAIN_MS_MIN = 20;
const AGAIN_MS_MAX = 1_000;
/** Marks of processes that are long gone. */
const KEPT_FOR = '30 days';

/** One row for each process that writes: the number of its last batch that was kept. */
export const MARKS_TABLE = `CREATE TABLE commit_marks (
    writer TEXT NOT NULL PRIMARY KEY,
    batch BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE NOT NULL
  )`;

/** With the guards, so that databases made before it get it too. */
export const CLOSED_MARKS = 'ALTER TABLE commit_marks ADD COLUMN IF NOT EXISTS closed BIGINT NOT NULL DEFAULT 0';

/** Fails where somebody has asked what became of this batch, or of a later one. */
const MARK = `WITH marked AS (INSERT INTO commit_marks (writer, batch, at) VALUES ($1, $2, now())
    ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = excluded.at
    WHERE commit_marks.closed < excluded.batch RETURNING 1)
  SELECT pawl_expect(count(*), 1) FROM marked`;

/**
 * Waits for a transaction of the same writer that is still under way, whatever becomes of it, and then says how far it came. From
 * here on none of its batches up to this one can begin: what was sent in one piece may reach the server long after its process gave it up.
 */
const ASK = `INSERT INTO commit_marks (writer, batch, at, closed) VALUES ($1, 0, now(), $2)
  ON CONFLICT (writer) DO UPDATE SET at = excluded.at, closed = excluded.closed RETURNING batch`;

/**
 * The answer to a COMMIT can be lost. So every transaction begins with a mark of its own: finding it again means that everything
 * was kept. Because the mark is the first thing it writes, whoever asks for it waits until that transaction has ended, even if
 * the server is only getting to the rest of it. The number of a transaction would not do: a server that crashes gives it away
 * again.
 */
export class CommitMarks {
  readonly #url: string;
  readonly #writer: string = randomUUID();
  #batch = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** Of the transaction that begins. */
  next(): Statement {
    this.#batch += 1;
    return { name: 'mark', text: MARK, values: [this.#writer, this.#batch] };
  }

  /** Asked for as long as it takes. What was not kept is decided again, with the same ids. */
  async isKept(): Promise<boolean> {
    const giveUpAt = performance.now() + UNKNOWN_MS_MAX;
    let last: unknown;
    for (let delayMs = AGAIN_MS_MIN; performance.now() < giveUpAt; delayMs = Math.min(delayMs * 2, AGAIN_MS_MAX)) {
      try {
        return (await this.#lastKept()) === this.#batch;
      } catch (error) {
        const failure = postgresError(error, shownUrl(this.#url));
        if (failure instanceof StoreFailedError) throw failure;
        last = error;
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    throw new StoreFailedError({
      code: 'store-unknown',
      message: `whether the last commit to ${shownUrl(this.#url)} was kept could not be found out`,
      why: `its answer was lost, and the server did not say for ${UNKNOWN_MS_MAX / 60_000} minutes`,
      next: [{ label: 'see that PostgreSQL runs there, and start again: what was interrupted is recovered' }],
      cause: last,
    });
  }

  /** Nobody will ask any more. What was closed stays so. */
  forget(): readonly Statement[] {
    return [
      { text: 'DELETE FROM commit_marks WHERE writer = $1 AND closed = 0', values: [this.#writer] },
      { text: `DELETE FROM commit_marks WHERE at < now() - interval '${KEPT_FOR}'` },
    ];
  }

  async #lastKept(): Promise<number> {
    let connection: PostgresConnection | undefined;
    try {
      connection = await openSession(this.#url);
      const [answer] = await connection.flight([{ text: ASK, values: [this.#writer, this.#batch] }]);
      return Number(answer?.rows[0]?.[0]);
    } finally {
      await connection?.close();
    }
  }
}
