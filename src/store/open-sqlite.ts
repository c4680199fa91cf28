import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, StoreFailedError } from '#base';
import { storeError } from './failures.ts';
import { markMade, refuseGone } from './made-mark.ts';
import { makeFolder } from './make-folder.ts';
import { refuseMoved } from './moved-mark.ts';
import { type ProcessLock, takeProcessLock } from './process-lock.ts';
import { RETENTION_INDEXES } from './schema/004-retention.ts';
import { isEmpty, migrate } from './schema/migrate.ts';
import { SqliteStore } from './sqlite.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import type { Store } from './store.ts';

/** What the engine's promise stands on. Each is set, then read back: SQLite ignores a pragma it does not like. */
const PRAGMAS = {
  journal_mode: 'wal',
  /** 2 is FULL: a commit is on the disk before it is answered. */
  synchronous: 2,
  foreign_keys: 1,
  busy_timeout: 5_000,
  /** Else REPLACE deletes rows past the guards. */
  recursive_triggers: 1,
} as const;

/** 4 MiB of pages in memory: of SQLite's own 2 MB the same index pages would be read again and again. */
const CACHE_KIB = 4_096;
/** Of a new file: who else may read it is for its owner to say. */
const OWNER_ONLY = 0o600;
/** Up to this size all pages are looked at before the first write; larger files would make every start wait. */
const CHECKED_BYTES_MAX = 64 * 1_024 * 1_024;

export interface SqliteOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  /** History is removed here: what finds the rows that refer to it is made. */
  readonly prunes?: boolean | undefined;
  /** Only for tests: of a start that is refused because one of ours does not hold, and of a small disk. */
  readonly pragmas?: Readonly<Record<string, string | number>>;
}

/** Opens, or creates, the database of a data folder, and keeps every other process from writing to it. */
export function openSqliteStore(options: SqliteOptions): Store {
  const { dataDir, clock } = options;
  makeFolder(dataDir);
  const lock = takeProcessLock(dataDir, clock);
  const path = databasePath(dataDir);
  let db: SqliteDatabase | undefined;
  try {
    refuseMoved(dataDir);
    refuseGone(dataDir, path);
    db = new SqliteDatabase(path);
    return open(db, lock, options);
  } catch (error) {
    // A kill point stands for the death of the process: whatever it threw, nothing more is written and both files are let go.
    db?.close();
    lock.release();
    throw storeError(error, path);
  }
}

export function databasePath(dataDir: string): string {
  return join(dataDir, 'pawl.db');
}

function open(db: SqliteDatabase, lock: ProcessLock, { dataDir, pragmas, prunes }: SqliteOptions): Store {
  // First of all a lock: whether the file is a database, and free, is then known before anything is changed.
  db.exec(`PRAGMA busy_timeout = ${PRAGMAS.busy_timeout}; BEGIN IMMEDIATE; ROLLBACK`);
  setPragmas(db, { ...PRAGMAS, ...pragmas });
  checkPages(db);
  const isNew = isEmpty(db, db.dialect);
  refuseGone(dataDir, db.path, isNew);
  // SQLite gives its other files the same rights when it makes them.
  if (isNew) for (const file of ['', '-wal', '-shm']) chmodSync(`${db.path}${file}`, OWNER_ONLY);
  migrate(db, db.dialect);
  if (prunes) for (const index of RETENTION_INDEXES) db.exec(index);
  markMade(dataDir);
  // SQLite opens a file it may not write as if it were to be read only, and says so at the first write: here.
  db.exec(`BEGIN IMMEDIATE; UPDATE schema_version SET probe = ''; ROLLBACK`);
  return new SqliteStore(db, lock);
}

function setPragmas(db: SqliteDatabase, pragmas: Readonly<Record<string, string | number>>): void {
  db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  for (const [name, value] of Object.entries(pragmas)) db.exec(`PRAGMA ${name} = ${value}`);
  for (const [name, wanted] of Object.entries(PRAGMAS)) {
    const found = db.rows(`PRAGMA ${name}`)[0]?.[0];
    if (found === wanted) continue;
    throw new StoreFailedError({
      code: 'store-unsafe',
      message: `${db.path} would run with ${name} = ${found}, not ${wanted}`,
      why: 'with less, an answered command could be lost or a broken row be kept',
      next: [{ label: 'keep the data folder on a local disk; a network folder cannot do it' }],
    });
  }
}

/** Damage is cheapest to hear of before the first write. */
function checkPages(db: SqliteDatabase): void {
  if (statSync(db.path).size > CHECKED_BYTES_MAX) return;
  const problem = db.rows('PRAGMA quick_check(1)')[0]?.[0];
  if (problem === 'ok') return;
  throw new StoreFailedError({
    code: 'store-corrupt',
    message: `${db.path} is damaged`,
    why: String(problem),
    next: [{ label: 'keep the data folder as it is for a look, and start from the last backup' }],
  });
}
