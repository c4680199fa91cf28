import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StoreFailedError } from '#base';
import { openReader, openSqliteStore } from '#store';
import { workflow } from './rows.ts';
import { CLOCK, commit, temporaryFolder } from './world.ts';

async function holdInOtherProcess(t: TestContext, dataDir: string): Promise<ChildProcess> {
  const program = new URL('./processes/hold-store.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  assert.equal(String(said), 'open\n');
  return child;
}

test('a second process is refused, told who has the folder, and let in when that one is dead', async (t) => {
  const dataDir = temporaryFolder(t);
  const child = await holdInOtherProcess(t, dataDir);
  assert.throws(
    () => openSqliteStore({ dataDir, clock: CLOCK }),
    (error) => {
      assert.ok(error instanceof StoreFailedError);
      assert.equal(error.code, 'store-locked');
      assert.ok(error.message.startsWith(`${dataDir} is in use by process ${child.pid} since `), error.message);
      assert.match(error.why, /one process at a time/);
      return true;
    },
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  const store = openSqliteStore({ dataDir, clock: CLOCK });
  await commit(store, { set: 'workflow.created', row: workflow() });
  await store.close();
});

test('readers stay possible while another process has the folder', async (t) => {
  const dataDir = temporaryFolder(t);
  await holdInOtherProcess(t, dataDir);
  const reader = openReader(dataDir);
  assert.deepEqual(reader.table('workflows'), []);
  reader.close();
});

test('a second open in the same process is refused, and leaves the first one whole', async (t) => {
  const dataDir = temporaryFolder(t);
  const first = openSqliteStore({ dataDir, clock: CLOCK });
  assert.throws(() => openSqliteStore({ dataDir, clock: CLOCK }), { code: 'store-locked' });
  await commit(first, { set: 'workflow.created', row: workflow() });
  await first.close();
  const second = openSqliteStore({ dataDir, clock: CLOCK });
  assert.throws(() => openSqliteStore({ dataDir, clock: CLOCK }), {
    message: `${dataDir} is in use by process ${process.pid} since ${new Date(CLOCK.now()).toISOString()}`,
  });
  await second.close();
});

test('a refused process has not touched the database', async (t) => {
  const dataDir = temporaryFolder(t);
  const lock = openSqliteStore({ dataDir, clock: CLOCK });
  const before = readdirSync(dataDir).sort();
  assert.throws(() => openSqliteStore({ dataDir, clock: CLOCK }), { code: 'store-locked' });
  assert.deepEqual(readdirSync(dataDir).sort(), before);
  await lock.close();
});

test('a lock file that is no lock is named, and nothing is opened', (t) => {
  const dataDir = temporaryFolder(t);
  writeFileSync(join(dataDir, 'pawl.lock'), 'not a database, but long enough to be looked at'.repeat(20));
  assert.throws(() => openSqliteStore({ dataDir, clock: CLOCK }), /pawl\.lock is not a database/);
  assert.equal(existsSync(join(dataDir, 'pawl.db')), false);
});
