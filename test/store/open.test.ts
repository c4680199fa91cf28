import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { StoreFailedError, StoreUnavailableError } from '#base';
import type { Write } from '#model';
import { openSqliteStore } from '#store';
import { event, evt, workflow } from './rows.ts';
import { CLOCK, commit, temporaryFolder, tryRun } from './world.ts';

const open = (dataDir: string) => openSqliteStore({ dataDir, clock: CLOCK });

const PAGE_BYTES = 4_096;

/** A data folder with some hundred events in it, closed. */
async function filledFolder(t: TestContext): Promise<{ dataDir: string; file: string }> {
  const dataDir = temporaryFolder(t);
  const store = open(dataDir);
  const events = Array.from({ length: 500 }, (_, n): Write => {
    return { set: 'event.published', row: event({ id: evt(n), payload: JSON.stringify('x'.repeat(500)) }) };
  });
  await commit(store, { set: 'workflow.created', row: workflow() }, ...events);
  await store.close();
  return { dataDir, file: join(dataDir, 'pawl.db') };
}

/** Where the pages begin that hold this text. */
function pagesWith(bytes: Buffer, text: string): number[] {
  const starts = Array.from({ length: bytes.length / PAGE_BYTES }, (_, page) => page * PAGE_BYTES);
  return starts.filter((start) => bytes.subarray(start, start + PAGE_BYTES).includes(text));
}

/** The open is refused with this code, the file is left byte for byte, and it opens again once it is put right. */
async function refusedThenWhole(dataDir: string, code: string, putRight: () => void): Promise<void> {
  const file = join(dataDir, 'pawl.db');
  const before = readFileSync(file);
  assert.throws(
    () => open(dataDir),
    (error) => {
      assert.ok(error instanceof StoreFailedError, String(error));
      assert.equal(error.code, code);
      assert.ok(error.message.includes(file) && error.why !== '' && error.next.length > 0);
      return true;
    },
  );
  assert.ok(before.equals(readFileSync(file)), 'a refused open changes nothing');
  putRight();
  await open(dataDir).close();
}

test('a folder that is not there is made, with all above it', async (t) => {
  const dataDir = join(temporaryFolder(t), 'deep', 'er');
  await open(dataDir).close();
  assert.ok(existsSync(join(dataDir, 'pawl.db')));
});

test('what is made is for its owner alone, and what is there keeps its rights', async (t) => {
  const dataDir = join(temporaryFolder(t), 'made');
  const modeOf = (path: string): number => statSync(path).mode & 0o777;
  const store = open(dataDir);
  assert.equal(modeOf(dataDir), 0o700);
  for (const file of ['pawl.db', 'pawl.db-wal', 'pawl.db-shm']) assert.equal(modeOf(join(dataDir, file)), 0o600, file);
  await store.close();
  chmodSync(join(dataDir, 'pawl.db'), 0o640);
  await open(dataDir).close();
  assert.equal(modeOf(join(dataDir, 'pawl.db')), 0o640);
});

test('a folder where nothing can be made is refused, and not tried for ever', {
  skip: !existsSync('/proc/self'),
}, () => {
  assert.throws(() => open('/proc/no/such'), { code: 'store-cannot-open' });
});

const LOSSES: Readonly<Record<string, (dataDir: string) => void>> = {
  'is gone': (dataDir) => rmSync(join(dataDir, 'pawl.db')),
  'is empty': (dataDir) => truncateSync(join(dataDir, 'pawl.db'), 0),
  'lost what was not yet moved into it': (dataDir) => {
    const fresh = new DatabaseSync(':memory:');
    fresh.exec(
      `PRAGMA page_size = 4096; ATTACH '${join(dataDir, 'fresh.db')}' AS fresh; PRAGMA fresh.journal_mode = wal`,
    );
    fresh.close();
    renameSync(join(dataDir, 'fresh.db'), join(dataDir, 'pawl.db'));
  },
};

for (const [name, lose] of Object.entries(LOSSES)) {
  test(`a folder whose database ${name} is not taken for a new one`, async (t) => {
    const { dataDir, file } = await filledFolder(t);
    const copy = readFileSync(file);
    lose(dataDir);
    const size = existsSync(file) ? statSync(file).size : undefined;
    assert.throws(
      () => open(dataDir),
      (error) => {
        assert.ok(error instanceof StoreFailedError, String(error));
        assert.equal(error.code, 'store-gone');
        assert.ok(error.message.includes(file) && error.next.length > 0);
        return true;
      },
    );
    assert.equal(existsSync(file) ? statSync(file).size : undefined, size, 'nothing was put in its place');
    writeFileSync(file, copy);
    await open(dataDir).close();
  });
}

for (const [name, value] of [
  ['synchronous', 'NORMAL'],
  ['synchronous', 'OFF'],
  ['journal_mode', 'delete'],
  ['foreign_keys', 0],
  ['busy_timeout', 0],
  ['recursive_triggers', 0],
] as const) {
  test(`a start with ${name} = ${value} is refused`, async (t) => {
    const dataDir = temporaryFolder(t);
    assert.throws(
      () => openSqliteStore({ dataDir, clock: CLOCK, pragmas: { [name]: value } }),
      (error) => error instanceof StoreFailedError && error.code === 'store-unsafe' && error.message.includes(name),
    );
    await open(dataDir).close();
  });
}

test('a file in the place of the folder is named', (t) => {
  const file = join(temporaryFolder(t), 'data');
  writeFileSync(file, '');
  assert.throws(() => open(file), { code: 'store-not-a-folder' });
  assert.throws(() => open(join(file, 'below')), { code: 'store-not-a-folder' });
});

test('a folder in the place of the file is named', (t) => {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, 'pawl.db'));
  assert.throws(() => open(dataDir), { code: 'store-cannot-open' });
});

test('a file that is not a database is refused and left alone', async (t) => {
  const { dataDir, file } = await filledFolder(t);
  copyFileSync(file, `${file}.kept`);
  writeFileSync(file, 'Dear diary, today I was overwritten. '.repeat(100));
  await refusedThenWhole(dataDir, 'store-not-a-database', () => copyFileSync(`${file}.kept`, file));
});

test('a truncated file is refused and left alone', async (t) => {
  const { dataDir, file } = await filledFolder(t);
  copyFileSync(file, `${file}.kept`);
  truncateSync(file, Math.floor(statSync(file).size / 2));
  await refusedThenWhole(dataDir, 'store-corrupt', () => copyFileSync(`${file}.kept`, file));
});

for (const [what, offset] of [
  ['heads', 0],
  ['ends', PAGE_BYTES - 512],
] as const) {
  test(`a file whose pages have damaged ${what} is refused and left alone`, async (t) => {
    const { dataDir, file } = await filledFolder(t);
    copyFileSync(file, `${file}.kept`);
    const bytes = readFileSync(file);
    // Where events lie, and nothing that an open must read.
    const starts = pagesWith(bytes, 'x'.repeat(400));
    assert.ok(starts.length > 20);
    for (const start of starts) bytes.fill(0xa5, start + offset, start + offset + 512);
    writeFileSync(file, bytes);
    await refusedThenWhole(dataDir, 'store-corrupt', () => copyFileSync(`${file}.kept`, file));
  });
}

test('a database of another program is refused and left alone', async (t) => {
  const dataDir = temporaryFolder(t);
  const other = new DatabaseSync(join(dataDir, 'pawl.db'));
  other.exec('PRAGMA journal_mode = wal; CREATE TABLE recipes (id TEXT)');
  other.close();
  await refusedThenWhole(dataDir, 'store-foreign', () => {
    const owner = new DatabaseSync(join(dataDir, 'pawl.db'));
    owner.exec('DROP TABLE recipes');
    owner.close();
  });
});

function knownVersion(file: string): number {
  const db = new DatabaseSync(file);
  const row = db.prepare('SELECT version FROM schema_version').get();
  db.close();
  return Number(row?.version);
}

test('a newer schema is refused with both versions, and left alone', async (t) => {
  const { dataDir, file } = await filledFolder(t);
  const setVersion = (version: number) => {
    const db = new DatabaseSync(file);
    db.exec(`UPDATE schema_version SET version = ${version}`);
    db.close();
  };
  const known = knownVersion(file);
  setVersion(99);
  assert.throws(() => open(dataDir), new RegExp(`schema version 99, but this Pawl knows only up to ${known}`));
  await refusedThenWhole(dataDir, 'store-newer', () => setVersion(known));
});

test('a folder that cannot be written is refused, and works again when it can', async (t) => {
  const { dataDir } = await filledFolder(t);
  // Permission bits do not bind root, who may run the tests: a read-only mount binds everybody.
  if (!tryRun('mount', '--bind', dataDir, dataDir)) return t.skip('mounting is not allowed here');
  try {
    assert.ok(tryRun('mount', '-o', 'remount,bind,ro', dataDir));
    assert.throws(() => open(dataDir), /pawl\.lock cannot be/);
    assert.throws(() => open(join(dataDir, 'new')), { code: 'store-cannot-open' });
    assert.ok(tryRun('mount', '-o', 'remount,bind,rw', dataDir));
    await open(dataDir).close();
  } finally {
    tryRun('umount', dataDir);
  }
});

test('a file that cannot be written is refused, and works again when it can', async (t) => {
  const { dataDir, file } = await filledFolder(t);
  if (!tryRun('chattr', '+i', file)) return t.skip('files cannot be made immutable here');
  try {
    assert.throws(() => open(dataDir), { code: 'store-read-only' });
  } finally {
    tryRun('chattr', '-i', file);
  }
  await open(dataDir).close();
});

test('a database held by another program answers unavailable, loses nothing, and goes on afterwards', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = open(dataDir);
  const other = new DatabaseSync(join(dataDir, 'pawl.db'));
  other.exec('BEGIN IMMEDIATE');
  const write: Write = { set: 'workflow.created', row: workflow() };
  await assert.rejects(commit(store, write), (error) => {
    return error instanceof StoreUnavailableError && error.code === 'store-busy' && error.retryable;
  });
  other.exec('ROLLBACK');
  other.close();
  await store.probe();
  await commit(store, write);
  await store.close();
});
