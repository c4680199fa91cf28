import { reach, StoreFailedError, sha256 } from '#base';
import type { Dialect } from '../dialect.ts';
import type { SqliteDatabase } from '../sqlite-database.ts';
import { guards } from './guards.ts';
import { MIGRATIONS, type Migration, versionTable } from './migrations.ts';

/**
 * Bring the tables to the version this program knows, then the guards. Each migration is one transaction, with its number in it:
 * a process that dies in between leaves the last whole version, and the next start goes on from there.
 */
export function migrate(db: SqliteDatabase, dialect: Dialect, migrations: readonly Migration[] = MIGRATIONS): void {
  const [tables, versions] = db.rows(dialect.countTables)[0] ?? [];
  refuseForeign(db.path, Number(tables), versions !== 0);
  const known = migrations.at(-1)?.version ?? 0;
  const found = versionOf(db, dialect);
  if (found > known) refuseNewer(db.path, found, known);
  for (const { version, steps } of migrations) {
    if (version <= found) continue;
    inTransaction(db, [
      ...(version === 1 ? [versionTable(dialect), FIRST_VERSION] : []),
      ...steps(dialect),
      `UPDATE schema_version SET version = ${version}`,
    ]);
  }
  renewGuards(db, dialect);
}

export const FIRST_VERSION = `INSERT INTO schema_version (id, version, guards, probe) VALUES (1, 0, '', '')`;

/** Guards are words of the program, not data: where they differ from the ones in the database, all are put in anew. */
function renewGuards(db: SqliteDatabase, dialect: Dialect): void {
  const texts = guards().flatMap((guard) => dialect.guard(guard));
  const hash = sha256(texts.join('\n'));
  if (db.rows('SELECT guards FROM schema_version')[0]?.[0] === hash) return;
  const old = db.rows(dialect.listGuards).map(([name, table]) => dialect.dropGuard(String(name), String(table)));
  inTransaction(db, [...old, ...texts, `UPDATE schema_version SET guards = '${hash}'`]);
}

function inTransaction(db: SqliteDatabase, steps: readonly string[]): void {
  db.exec('BEGIN IMMEDIATE');
  for (const step of steps) {
    reach('migration-step');
    db.exec(step);
  }
  reach('migration-step');
  db.exec('COMMIT');
}

function versionOf(db: SqliteDatabase, dialect: Dialect): number {
  const [, versions] = db.rows(dialect.countTables)[0] ?? [];
  if (versions === 0) return 0;
  return Number(db.rows('SELECT version FROM schema_version')[0]?.[0] ?? 0);
}

/** Nobody has put anything into it. */
export function isEmpty(db: SqliteDatabase, dialect: Dialect): boolean {
  return db.rows(dialect.countTables)[0]?.[0] === 0;
}

/** A database of some other program must not get our tables. */
export function refuseForeign(path: string, tables: number, isOurs: boolean): void {
  if (tables === 0 || isOurs) return;
  throw new StoreFailedError({
    code: 'store-foreign',
    message: `${path} is not a Pawl database`,
    why: `it holds ${tables} tables, none of which says a schema version`,
    next: [{ label: 'choose another place for the data' }],
  });
}

export function refuseNewer(path: string, found: number, known: number): never {
  throw new StoreFailedError({
    code: 'store-newer',
    message: `${path} has schema version ${found}, but this Pawl knows only up to ${known}`,
    why: 'it was last opened by a newer Pawl',
    next: [{ label: 'start it with that newer Pawl, or restore the backup made before the upgrade' }],
  });
}
