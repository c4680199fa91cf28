import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, type TestContext, test } from 'node:test';
import { onKillPoint } from '#base';
import { sqliteDialect } from '../dialect.ts';
import { SqliteDatabase } from '../sqlite-database.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';

const SECOND: Migration = {
  version: (MIGRATIONS.at(-1)?.version ?? 0) + 1,
  steps: () => [
    'CREATE TABLE notes (id TEXT)',
    `INSERT INTO notes VALUES ('first')`,
    'ALTER TABLE notes ADD words TEXT',
  ],
};

function temporaryDatabase(t: TestContext): () => SqliteDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-migrate-'));
  const opened: SqliteDatabase[] = [];
  t.after(() => {
    for (const db of opened) db.close();
    rmSync(folder, { recursive: true });
  });
  return () => {
    const db = new SqliteDatabase(join(folder, 'pawl.db'));
    opened.push(db);
    return db;
  };
}

function versionOf(db: SqliteDatabase): unknown {
  return db.rows('SELECT version FROM schema_version')[0]?.[0];
}

function notesOf(db: SqliteDatabase): unknown {
  const tables = db.rows(`SELECT count(*) FROM sqlite_schema WHERE name = 'notes'`)[0]?.[0];
  return tables === 0 ? undefined : db.rows('SELECT * FROM notes');
}

afterEach(() => onKillPoint(undefined));

test('numbers rise by one from 1', () => {
  assert.deepEqual(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, i) => i + 1),
  );
});

test('only what is missing is done, once', (t) => {
  const db = temporaryDatabase(t)();
  migrate(db, sqliteDialect);
  migrate(db, sqliteDialect, [...MIGRATIONS, SECOND]);
  migrate(db, sqliteDialect, [...MIGRATIONS, SECOND]);
  assert.equal(versionOf(db), SECOND.version);
  assert.deepEqual(notesOf(db), [['first', null]]);
});

test('a process that dies within a migration has done none of it', (t) => {
  const open = temporaryDatabase(t);
  for (const step of [1, 2, 3, 4, 5]) {
    const db = open();
    migrate(db, sqliteDialect);
    let reached = 0;
    onKillPoint(() => {
      if (++reached === step) throw new Error('the process died');
    });
    assert.throws(() => migrate(db, sqliteDialect, [...MIGRATIONS, SECOND]), /the process died/);
    onKillPoint(undefined);
    db.close();
    const again = open();
    assert.equal(versionOf(again), SECOND.version - 1, `step ${step}`);
    assert.equal(notesOf(again), undefined);
    again.close();
  }
});

test('a migration that fails says why, and leaves the version before', (t) => {
  const db = temporaryDatabase(t)();
  migrate(db, sqliteDialect);
  const broken: Migration = { version: SECOND.version, steps: () => ['CREATE TABLE notes (id TEXT)', 'CREATE TABLE'] };
  assert.throws(() => migrate(db, sqliteDialect, [...MIGRATIONS, broken]), /incomplete input/);
  db.exec('ROLLBACK');
  assert.equal(versionOf(db), SECOND.version - 1);
});

test('a database that an unknown migration has changed is refused with both numbers', (t) => {
  const db = temporaryDatabase(t)();
  migrate(db, sqliteDialect, [...MIGRATIONS, SECOND]);
  assert.throws(() => migrate(db, sqliteDialect), {
    code: 'store-newer',
    message: `${db.path} has schema version ${SECOND.version}, but this Pawl knows only up to ${SECOND.version - 1}`,
  });
});
