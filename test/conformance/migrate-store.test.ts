import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startApp } from '#app';
import { onKillPoint, systemClock, type WorkflowId } from '#base';
import { INVARIANTS } from '#model';
import { copyToPostgres, openPostgresReader, openReader } from '#store';
import { type } from '../cli/typed-terminal.ts';
import { BOOKED, Stage } from '../e2e/stage.ts';
import { GIVEN } from '../http/scripts.ts';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { dumpOf, rowsOf, rowsRead } from '../support/row-dump.ts';

const EVENTS = 1_200;

/** A folder with something of everything: work done, a call of which nobody knows, and more waiting than fits one page. */
async function folderWithWork(t: TestContext): Promise<{ stage: Stage; workflow: WorkflowId }> {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(GIVEN);
  await stage.publish(workflow, 'placed', { id: 'o1' }, { id: 'o2' });
  await stage.quiet();
  stage.outside.behave({ after: 'drop' });
  await stage.publish(workflow, 'placed', { id: 'asked' });
  await stage.until('it asks', () => stage.workflow(workflow).holds.includes('unknown'));
  const many = Array.from({ length: EVENTS }, (_, i) => ({ id: `waits ${i} ä€😀` }));
  for (let i = 0; i < EVENTS; i += 100) await stage.publish(workflow, 'placed', ...many.slice(i, i + 100));
  return { stage, workflow };
}

const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

async function countIn(url: string): Promise<number> {
  const reader = await openPostgresReader(url);
  try {
    const dump = Object.values(dumpOf(await rowsRead(reader)));
    return dump.reduce((sum, rows) => sum + rows.length, 0);
  } finally {
    await reader.close();
  }
}

onPostgres('a data folder moves to PostgreSQL row by row, stays as it was, and the work goes on there', async (t) => {
  const { stage, workflow } = await folderWithWork(t);
  const database = await freshDatabase();
  t.after(() => database.drop());
  const busy = await type(['migrate-store', '--data', stage.data, '--to', database.url]);
  assert.equal(busy.code, 5);
  assert.match(busy.err, /is in use by process/);
  assert.equal(await countIn(database.url), 0);

  await stage.stop();
  const file = join(stage.data, 'pawl.db');
  const before = digest(file);
  const moved = await type(['migrate-store', '--data', stage.data, '--to', database.url, '--json']);
  assert.equal(moved.code, 0, moved.err);
  const { rows, tables } = moved.json<{ rows: number; tables: { table: string; rows: number }[] }>();
  assert.equal(tables.find(({ table }) => table === 'events')?.rows, EVENTS + 3 + 2);
  assert.equal(digest(file), before, 'the folder is as it was');

  const source = openReader(stage.data);
  const target = await openPostgresReader(database.url);
  try {
    const there = dumpOf(await rowsRead(target));
    assert.deepEqual(there, dumpOf(rowsOf(source)));
    assert.equal(Object.values(there).flat().length, rows);
    for (const { name, sql } of INVARIANTS) assert.deepEqual(await target.offenders(sql), [], name);
  } finally {
    source.close();
    await target.close();
  }
  await assert.rejects(stage.start(), { code: 'store-moved', message: /was moved to / });
  const started = await type(['start', '--data', stage.data, '--port', '0']);
  assert.deepEqual([started.code, started.out], [5, ''], started.err);
  const again = await type(['migrate-store', '--data', stage.data, '--to', database.url]);
  assert.equal(again.code, 5);
  assert.match(again.err, /has rows already/);

  const second = await freshDatabase();
  t.after(() => second.drop());
  const twice = await type(['migrate-store', '--data', stage.data, '--to', second.url]);
  assert.equal(twice.code, 5, 'two copies would both be worked on');
  assert.match(twice.err, /was moved to /);
  assert.equal(await countIn(second.url), 0);

  const app = await startApp({
    dataDir: join(stage.folder, 'elsewhere'),
    config: { connections: { shop: { type: 'http', baseUrl: stage.outside.url, timeoutMs: 6_000, visibilityMs: 0 } } },
    fleet: { url: database.url, role: 'both', name: 'first' },
  });
  try {
    const [row] = await app.engine.reader.fetch('openLedger', workflow);
    assert.ok(row, 'the question has come along');
    await app.engine.manager.pauseWorkflow(workflow, 'ada');
    await app.engine.manager.updateMutationResult(row.id, 'success', {
      answer: { resolvedBy: 'user_assert_applied', by: 'ada' },
      result: JSON.stringify(BOOKED),
    });
    const [settled] = await app.engine.reader.fetch('mutation', row.id);
    assert.deepEqual([settled?.status, settled?.resolvedByName], ['applied', 'ada']);
  } finally {
    await app.stop();
  }
  const back = ['migrate-store', '--back', '--data', stage.data];
  const refused = await type([...back, '--to', database.url]);
  assert.equal(refused.code, 5);
  assert.match(refused.err, /an engine has worked on /);
  const unlooked = await type(back);
  assert.deepEqual([unlooked.code, /--unchecked/.test(unlooked.err)], [2, true], unlooked.err);
  assert.match((await type([...back, '--to', second.url])).err, /was moved to .*, not to /);
  await assert.rejects(stage.start(), { code: 'store-moved' });
});

onPostgres('a copy that ends on the way leaves nothing behind, and can be made again', async (t) => {
  const { stage } = await folderWithWork(t);
  await stage.stop();
  const database = await freshDatabase();
  t.after(() => database.drop());
  const options = { dataDir: stage.data, url: database.url, clock: systemClock };
  for (const nth of [1, 5, 12]) {
    let reached = 0;
    onKillPoint(() => {
      if (++reached === nth) throw new Error('death');
    });
    await assert.rejects(copyToPostgres(options), /death/).finally(() => onKillPoint(undefined));
    assert.equal(await countIn(database.url), 0, `given up at step ${nth}`);
  }
  // Nothing was kept there, so the folder is as good as before.
  await stage.start();
  await stage.stop();
  const copied = await copyToPostgres(options);
  await assert.rejects(stage.start(), { code: 'store-moved' });
  const back = await type(['migrate-store', '--back', '--data', stage.data, '--to', database.url]);
  assert.match(back.out, /may start on .* again/);
  await stage.start();
  await stage.stop();
  assert.match((await type(['migrate-store', '--back', '--data', stage.data])).out, /was not moved/);
  assert.ok(copied.some(({ table, rows }) => table === 'handler_runs' && rows > 0));
});
