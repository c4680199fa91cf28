import type { Clock } from '#base';
import { databasePath } from '../open-sqlite.ts';
import { takeProcessLock } from '../process-lock.ts';
import { SqliteDatabase } from '../sqlite-database.ts';
import { type AddressName, mustBeAddress } from './address.ts';
import type { PostgresConnection } from './connection.ts';
import { postgresError, shownUrl } from './failures.ts';
import { openSession } from './session.ts';

export interface FolderAndDatabase {
  readonly dataDir: string;
  readonly url: string;
  /** Where it was written. */
  readonly named?: AddressName | undefined;
  readonly clock: Clock;
}

/** Both open for one act: the folder to be read only, and locked, so that nobody works on it. It is looked at before anybody connects. */
export async function withBoth<T>(
  { dataDir, url, named = 'DATABASE_URL', clock }: FolderAndDatabase,
  look: (source: SqliteDatabase) => void,
  act: (source: SqliteDatabase, target: PostgresConnection) => Promise<T>,
): Promise<T> {
  mustBeAddress(url, named);
  const lock = takeProcessLock(dataDir, clock);
  let source: SqliteDatabase | undefined;
  let target: PostgresConnection | undefined;
  try {
    source = new SqliteDatabase(databasePath(dataDir), { readOnly: true });
    look(source);
    target = await openSession(url, undefined, named);
    const done = await act(source, target);
    await target.close();
    return done;
  } catch (error) {
    target?.destroy();
    throw postgresError(error, shownUrl(url), named);
  } finally {
    source?.close();
    lock.release();
  }
}
