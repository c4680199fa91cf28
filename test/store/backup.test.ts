import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openEngine } from '#execution';
import { backUpDatabase, restoreDatabase } from '#store';
import { deploy, PERSON, placed } from '../support/fixture.ts';

let folder = '';
let dataDir = '';
let backup = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-backup-'));
  dataDir = join(folder, 'data');
  backup = join(folder, 'kept', 'monday.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A folder with one live workflow and one pending event, backed up while the engine runs. */
async function backedUp(): Promise<void> {
  const engine = await openEngine({ dataDir });
  const workflow = await deploy(engine.manager);
  await engine.manager.publishEvents(workflow, [placed('order-1')], PERSON);
  backUpDatabase(dataDir, backup);
  await engine.manager.publishEvents(workflow, [placed('order-2')], PERSON);
  await engine.close();
}

test('a backup of a running engine is one file with what was committed', async () => {
  await backedUp();
  assert.deepEqual(readdirSync(join(folder, 'kept')), ['monday.db']);
  const again = join(folder, 'again');
  restoreDatabase(backup, again);
  const engine = await openEngine({ dataDir: again });
  assert.deepEqual(
    (await engine.reader.table('events')).map((event) => event.messageId),
    ['order-1'],
  );
  await engine.close();
});

test('a restored backup starts with every live workflow on hold, and says why', async () => {
  await backedUp();
  const again = join(folder, 'again');
  restoreDatabase(backup, again);
  const engine = await openEngine({ dataDir: again });
  const [workflow] = await engine.reader.table('workflows');
  assert.ok(workflow);
  assert.deepEqual([workflow.status, workflow.holds], ['error', ['error']]);
  assert.match(workflow.errorReason ?? '', /put back from a backup/);
  assert.deepEqual(engine.restored, [workflow.id]);
  await engine.close();
});

test('a backup that was put into a data folder by hand is held as well', async () => {
  await backedUp();
  const again = join(folder, 'again');
  mkdirSync(again);
  copyFileSync(backup, join(again, 'pawl.db'));
  const engine = await openEngine({ dataDir: again });
  assert.deepEqual((await engine.reader.table('workflows'))[0]?.holds, ['error']);
  await engine.close();
});

test('a plain copy of a data folder is held when it comes through restore', async () => {
  await backedUp();
  const again = join(folder, 'again');
  restoreDatabase(join(dataDir, 'pawl.db'), again);
  const engine = await openEngine({ dataDir: again });
  assert.deepEqual((await engine.reader.table('workflows'))[0]?.holds, ['error']);
  await engine.close();
});

test('a person who resumed a restored workflow is not asked again at the next start', async () => {
  await backedUp();
  const again = join(folder, 'again');
  restoreDatabase(backup, again);
  const first = await openEngine({ dataDir: again });
  const [held] = first.restored;
  assert.ok(held);
  await first.manager.resumeWorkflow(held, PERSON);
  await first.close();
  const second = await openEngine({ dataDir: again });
  assert.deepEqual([second.restored, (await second.reader.table('workflows'))[0]?.status], [[], 'active']);
  await second.close();
});

test('the data folder that was backed up goes on without a hold', async () => {
  await backedUp();
  const engine = await openEngine({ dataDir });
  assert.deepEqual([engine.restored, (await engine.reader.table('workflows'))[0]?.holds], [[], []]);
  await engine.close();
});

test('a backup never replaces a file, and a restore never a data folder', async () => {
  await backedUp();
  const before = readFileSync(backup);
  assert.throws(() => backUpDatabase(dataDir, backup), { code: 'backup-exists' });
  assert.deepEqual(readFileSync(backup), before);
  assert.throws(() => restoreDatabase(backup, dataDir), { code: 'folder-not-empty' });
});

test('what is no backup is refused, and leaves no data folder behind', () => {
  const again = join(folder, 'again');
  assert.throws(() => restoreDatabase(backup, again), { code: 'backup-missing' });
  const text = join(folder, 'notes.txt');
  writeFileSync(text, 'not a database at all, but long enough to look at');
  assert.throws(() => restoreDatabase(text, again), { code: 'store-not-a-database' });
  assert.deepEqual(readdirSync(folder), ['notes.txt']);
});
