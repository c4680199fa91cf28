import type { SqliteDatabase } from './sqlite-database.ts';

/** Kept in the file itself, so that it holds however the file got into a data folder: by `restore`, or by a plain copy. */
const RESTORED = 1;

export function markRestored(db: SqliteDatabase): void {
  db.exec(`PRAGMA user_version = ${RESTORED}`);
}

export function isMarkedRestored(db: SqliteDatabase): boolean {
  return db.rows('PRAGMA user_version')[0]?.[0] === RESTORED;
}

/** Once, when every workflow is on hold: from then on the file is a data folder's own again. */
export function unmarkRestored(db: SqliteDatabase): void {
  db.exec('PRAGMA user_version = 0');
}
