import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, test } from 'node:test';
import { onKillPoint } from '#base';
import { openReader, openSqliteStore } from '#store';
import { workflow } from './rows.ts';
import { CLOCK, commit, FAST_DISK, temporaryFolder } from './world.ts';

const open = (dataDir: string) => openSqliteStore({ dataDir, clock: CLOCK });

/** Everything the schema is made of, as the database tells it. */
function schemaOf(dataDir: string): unknown[] {
  const reader = openReader(dataDir);
  const rows = reader.offenders('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name');
  reader.close();
  return [...rows];
}

function countSteps(open: () => void): number {
  let steps = 0;
  onKillPoint((point) => {
    if (point === 'migration-step') steps++;
  });
  open();
  onKillPoint(undefined);
  return steps;
}

afterEach(() => onKillPoint(undefined));

test('a process that dies at any step of the migrations leaves a folder the next one completes', async (t) => {
  const whole = temporaryFolder(t, FAST_DISK);
  const steps = countSteps(() => void open(whole).close());
  assert.ok(steps > 50, `there are only ${steps} steps`);
  const expected = schemaOf(whole);

  for (let step = 1; step <= steps; step++) {
    const dataDir = temporaryFolder(t, FAST_DISK);
    const death = new Error('the process died');
    let reached = 0;
    onKillPoint((point) => {
      if (point === 'migration-step' && ++reached === step) throw death;
    });
    assert.throws(
      () => open(dataDir),
      (error) => error === death,
    );
    onKillPoint(undefined);
    await open(dataDir).close();
    assert.deepEqual(schemaOf(dataDir), expected, `after a death at step ${step}`);
  }
});

for (const step of [1, 2, 25, 60, 90]) {
  test(`a process killed at migration step ${step} leaves a folder the next one completes`, async (t) => {
    const dataDir = temporaryFolder(t);
    const program = new URL('./processes/die-while-migrating.ts', import.meta.url).pathname;
    const child = spawnSync(process.execPath, [program, dataDir, String(step)]);
    assert.equal(child.signal, 'SIGKILL', String(child.stderr));
    const store = open(dataDir);
    await commit(store, { set: 'workflow.created', row: workflow() });
    await store.close();
  });
}

test('an up-to-date folder is opened without a step', async (t) => {
  const dataDir = temporaryFolder(t);
  await open(dataDir).close();
  assert.equal(
    countSteps(() => void open(dataDir).close()),
    0,
  );
});

test('guards of an older program are replaced by ours, all or none', async (t) => {
  const dataDir = temporaryFolder(t);
  await open(dataDir).close();
  const expected = schemaOf(dataDir);
  const older = new DatabaseSync(join(dataDir, 'pawl.db'));
  older.exec(`DROP TRIGGER events_step_1; DROP TRIGGER workers_kept;
    CREATE TRIGGER old_guard BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'old'); END;
    UPDATE schema_version SET guards = 'older'`);
  older.close();
  const before = schemaOf(dataDir);

  onKillPoint((point) => {
    if (point === 'migration-step') throw new Error('the process died');
  });
  assert.throws(() => open(dataDir), /the process died/);
  onKillPoint(undefined);
  assert.deepEqual(schemaOf(dataDir), before, 'none');

  await open(dataDir).close();
  assert.deepEqual(schemaOf(dataDir), expected, 'all');
});
