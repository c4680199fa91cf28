import { type Clock, StoreFailedError } from '#base';
import { movedTo, unmarkMoved } from '../moved-mark.ts';
import { databasePath } from '../open-sqlite.ts';
import { takeProcessLock } from '../process-lock.ts';
import { SqliteDatabase } from '../sqlite-database.ts';
import { TABLES } from '../statements/all.ts';
import type { PostgresConnection } from './connection.ts';
import { isMissingTable, postgresError, shownUrl } from './failures.ts';
import { openSession } from './session.ts';

const NAMES = Object.keys(TABLES);

export interface ReturnOptions {
  readonly dataDir: string;
  /** The database that the folder was copied into. */
  readonly url: string;
  readonly clock: Clock;
}

/** Lets engines start on a folder again, unless one has worked on its copy: what was sent from there would be sent again. */
export async function returnToFolder({ dataDir, url, clock }: ReturnOptions): Promise<void> {
  const to = movedTo(dataDir);
  if (to !== shownUrl(url)) throw notThere(dataDir, to, url);
  const lock = takeProcessLock(dataDir, clock);
  let source: SqliteDatabase | undefined;
  let target: PostgresConnection | undefined;
  try {
    source = new SqliteDatabase(databasePath(dataDir), { readOnly: true });
    target = await openSession(url);
    const copied = await countsIn(target);
    const own = source;
    const more = NAMES.filter((table, i) => copied[i] !== own.rows(`SELECT count(*) FROM ${table}`)[0]?.[0]);
    // A copy that was not kept is no copy.
    if (copied.some((count) => count !== 0) && more.length > 0) throw workedOn(dataDir, url, more);
    unmarkMoved(dataDir);
    await target.close();
  } catch (error) {
    target?.destroy();
    throw postgresError(error, shownUrl(url));
  } finally {
    source?.close();
    lock.release();
  }
}

async function countsIn(target: PostgresConnection): Promise<readonly unknown[]> {
  try {
    const answers = await target.flight(NAMES.map((table) => ({ text: `SELECT count(*) FROM ${table}` })));
    return answers.map(({ rows }) => rows[0]?.[0]);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

function notThere(dataDir: string, to: string | undefined, url: string): StoreFailedError {
  return new StoreFailedError({
    code: 'store-moved',
    message: `the data of ${dataDir} was moved to ${to ?? 'no database'}, not to ${shownUrl(url)}`,
    why: 'the database to look at is the one it was copied into',
    next: [
      { label: 'name that one', argv: ['pawl', 'migrate-store', '--back', '--data', dataDir, '--to', to ?? 'URL'] },
    ],
  });
}

/** Every engine that starts writes down that it is there, so the tables differ from then on. */
function workedOn(dataDir: string, url: string, tables: readonly string[]): StoreFailedError {
  return new StoreFailedError({
    code: 'store-moved',
    message: `an engine has worked on ${shownUrl(url)}, so nobody may go back to ${dataDir}`,
    why: `what was sent from there would be sent again; it has other rows than the folder in ${tables.slice(0, 5).join(', ')}`,
    next: [{ label: 'go on with the database: DATABASE_URL=… pawl start --data ANOTHER-FOLDER' }],
  });
}
