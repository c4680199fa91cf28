import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StoreFailedError } from '#base';
import { folderError, storeError } from './failures.ts';
import { makeFolder } from './make-folder.ts';
import { databasePath } from './open-sqlite.ts';
import { markRestored } from './restored-mark.ts';
import { SqliteDatabase } from './sqlite-database.ts';

const OWNER_ONLY = 0o600;

/** A consistent copy of a data folder's database, also while an engine writes to it. Opened again, it holds every workflow. */
export function backUpDatabase(dataDir: string, file: string): void {
  const target = resolve(file);
  if (existsSync(target)) throw backupExists(target);
  const unfinished = `${target}.unfinished`;
  inStore(databasePath(dataDir), (db) => {
    makeFolder(dirname(target));
    rmSync(unfinished, { force: true });
    db.exec(`PRAGMA busy_timeout = 5000; VACUUM INTO '${unfinished.replaceAll("'", "''")}'`);
  });
  finish(unfinished, target);
}

/** Puts a backup into a folder that has no data yet. */
export function restoreDatabase(file: string, dataDir: string): void {
  const source = resolve(file);
  if (!existsSync(source)) throw backupMissing(source);
  inStore(source, mustBeWholeAndOurs);
  makeFolder(dataDir);
  const [found] = readdirSync(dataDir);
  if (found !== undefined) throw folderNotEmpty(dataDir, found);
  const unfinished = `${databasePath(dataDir)}.unfinished`;
  try {
    copyFileSync(source, unfinished);
  } catch (error) {
    throw folderError(error, dataDir);
  }
  finish(unfinished, databasePath(dataDir));
}

/** The name appears only when the content is whole, marked and on the disk. */
function finish(unfinished: string, target: string): void {
  chmodSync(unfinished, OWNER_ONLY);
  const db = new SqliteDatabase(unfinished);
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    markRestored(db);
  } catch (error) {
    throw storeError(error, unfinished);
  } finally {
    db.close();
  }
  sync(unfinished);
  renameSync(unfinished, target);
  sync(dirname(target));
}

function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function inStore(path: string, read: (db: SqliteDatabase) => void): void {
  let db: SqliteDatabase | undefined;
  try {
    db = new SqliteDatabase(path, { readOnly: true });
    read(db);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db?.close();
  }
}

function mustBeWholeAndOurs(db: SqliteDatabase): void {
  const problem = db.rows('PRAGMA quick_check(1)')[0]?.[0];
  const tables = db.rows("SELECT name FROM sqlite_schema WHERE name = 'schema_version'").length;
  if (problem === 'ok' && tables === 1) return;
  throw new StoreFailedError({
    code: 'backup-unusable',
    message: `${db.path} is not a backup that can be put back`,
    why: problem === 'ok' ? 'it is a database of another program' : `it is damaged: ${problem}`,
    next: [{ label: 'take another backup' }],
  });
}

function backupExists(file: string): StoreFailedError {
  return new StoreFailedError({
    code: 'backup-exists',
    message: `there is a file ${file} already`,
    why: 'a backup never replaces another one',
    next: [{ label: 'name another file' }],
  });
}

function backupMissing(file: string): StoreFailedError {
  return new StoreFailedError({
    code: 'backup-missing',
    message: `there is no file ${file}`,
    why: 'a backup is one file, as backup wrote it',
    next: [{ label: 'give the path of a backup' }],
  });
}

function folderNotEmpty(dataDir: string, found: string): StoreFailedError {
  return new StoreFailedError({
    code: 'folder-not-empty',
    message: `${dataDir} is not empty: it holds ${found}`,
    why: 'a backup is put back into a new data folder only, so that nothing newer is overwritten',
    next: [{ label: 'name a new or an empty folder' }],
  });
}
