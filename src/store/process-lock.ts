import { join } from 'node:path';
import { type Clock, StoreFailedError } from '#base';
import { isBusy, storeError } from './failures.ts';
import { SqliteDatabase } from './sqlite-database.ts';

/** Held for life by the one process that may write. The operating system lets go of it when the process dies, however it dies. */
export interface ProcessLock {
  release(): void;
}

/** Named here so that they live: a connection nobody names any more is closed by the garbage collector, and its lock with it. */
const HELD = new Set<SqliteDatabase>();

/** Long enough for somebody who is only reading the name, too short for a person to notice. */
const BUSY_MS_MAX = 100;
/** Others may come between writing our name and taking the lock for good; they hold it for as short as we do. */
const TRIES_MAX = 100;

/**
 * A write transaction on a file of its own, never committed. In rollback mode such a transaction lets others read: whoever is
 * refused can say who has it. The name is written by an earlier transaction of the same process.
 */
export function takeProcessLock(dataDir: string, clock: Clock): ProcessLock {
  const path = join(dataDir, 'pawl.lock');
  const me = `process ${process.pid} since ${new Date(clock.now()).toISOString()}, incarnation ${process.hrtime.bigint()}`;
  let db: SqliteDatabase | undefined;
  try {
    db = new SqliteDatabase(path);
    holdAs(db, me);
  } catch (error) {
    const failure = isBusy(error) && db ? heldByOther(dataDir, holderOf(db), error) : storeError(error, path);
    db?.close();
    throw failure;
  }
  const held = db;
  HELD.add(held);
  return {
    release: () => {
      HELD.delete(held);
      held.close();
    },
  };
}

function holdAs(db: SqliteDatabase, me: string): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS_MAX}`);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    db.exec('BEGIN IMMEDIATE');
    db.exec('CREATE TABLE IF NOT EXISTS holder (name TEXT NOT NULL)');
    if (holderOf(db) === me) return;
    db.exec(`DELETE FROM holder; INSERT INTO holder (name) VALUES ('${me}')`);
    db.exec('COMMIT');
  }
  throw new Error(`bug: ${db.path} was taken over ${TRIES_MAX} times`);
}

function holderOf(db: SqliteDatabase): string | undefined {
  try {
    const name = db.rows('SELECT name FROM holder')[0]?.[0];
    return typeof name === 'string' ? name : undefined;
  } catch (error) {
    // The other is writing its name at this moment, or has not yet: it is taken all the same, only nobody can say by whom.
    if (isBusy(error) || (error instanceof Error && error.message.includes('no such table'))) return undefined;
    throw error;
  }
}

function heldByOther(dataDir: string, holder: string | undefined, cause: unknown): StoreFailedError {
  const name = holder?.split(', ')[0];
  return new StoreFailedError({
    code: 'store-locked',
    message: `${dataDir} is in use by ${name ?? 'another process'}`,
    why: 'one process at a time writes a data folder, so that no effect is sent twice',
    next: [
      {
        label:
          name === undefined
            ? 'stop the other process, or name another data folder'
            : `stop ${name}, or name another data folder`,
      },
    ],
    cause,
  });
}
