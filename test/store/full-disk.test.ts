import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StoreUnavailableError } from '#base';
import type { Write } from '#model';
import { openReader, openSqliteStore, type Store } from '#store';
import { event, evt, workflow } from './rows.ts';
import { CLOCK, commit, temporaryFolder, tryRun } from './world.ts';

const PAYLOAD = JSON.stringify('x'.repeat(20_000));
const BATCHES_MAX = 1_000;

const published = (n: number): Write => {
  return { set: 'event.published', row: event({ id: evt(String(n).padStart(5, '0')), payload: PAYLOAD }) };
};

/** Publishes until the store says it is full; how many were answered. */
async function publishUntilFull(store: Store, from = 0): Promise<number> {
  for (let n = from; n < BATCHES_MAX; n++) {
    try {
      await commit(store, published(n));
    } catch (error) {
      assert.ok(error instanceof StoreUnavailableError, String(error));
      assert.equal(error.code, 'store-full');
      assert.ok(error.retryable && error.why !== '' && error.next.length > 0);
      return n;
    }
  }
  return assert.fail('it never became full');
}

function countEvents(dataDir: string): number {
  const reader = openReader(dataDir);
  const { length } = reader.table('events');
  reader.close();
  return length;
}

test('a database that may not grow answers unavailable, and has kept every answered command', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = openSqliteStore({ dataDir, clock: CLOCK, pragmas: { max_page_count: 200 } });
  await commit(store, { set: 'workflow.created', row: workflow() });
  const answered = await publishUntilFull(store);
  await assert.rejects(store.probe(), { code: 'store-full' });
  assert.equal(countEvents(dataDir), answered);
  await store.close();

  const larger = openSqliteStore({ dataDir, clock: CLOCK });
  await larger.probe();
  await commit(larger, published(answered));
  assert.equal(countEvents(dataDir), answered + 1);
  await larger.close();
});

test('one unit too many for the disk takes its whole batch back', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = openSqliteStore({ dataDir, clock: CLOCK, pragmas: { max_page_count: 200 } });
  await commit(store, { set: 'workflow.created', row: workflow() });
  const units = Array.from({ length: 200 }, (_, n) => ({ decide: () => [published(n)] }));
  await assert.rejects(store.commit(units), StoreUnavailableError);
  assert.equal(countEvents(dataDir), 0);
  await commit(store, published(0));
  await store.close();
});

test('on a full disk commands wait for space, none is lost, and the engine goes on by itself', async (t) => {
  const disk = join(temporaryFolder(t), 'disk');
  mkdirSync(disk);
  if (!mountSmallDisk(disk)) return t.skip('mounting is not allowed here');
  try {
    const dataDir = join(disk, 'data');
    const store = openSqliteStore({ dataDir, clock: CLOCK });
    await commit(store, { set: 'workflow.created', row: workflow() });
    const filler = join(disk, 'filler');
    fill(disk, filler);
    const answered = await publishUntilFull(store);
    await assert.rejects(store.probe(), { code: 'store-full' });
    assert.equal(countEvents(dataDir), answered);

    rmSync(filler);
    await store.probe();
    await commit(store, published(answered));
    assert.equal(countEvents(dataDir), answered + 1);
    await store.close();
  } finally {
    assert.ok(tryRun('umount', disk));
  }
});

test('a start on a full disk is refused, and works when there is space', async (t) => {
  const disk = join(temporaryFolder(t), 'disk');
  mkdirSync(disk);
  if (!mountSmallDisk(disk)) return t.skip('mounting is not allowed here');
  try {
    const filler = join(disk, 'filler');
    for (const bytesLeft of [0, 8_192, 65_536]) {
      const dataDir = join(disk, `data-${bytesLeft}`);
      fill(disk, filler, bytesLeft);
      assert.throws(
        () => openSqliteStore({ dataDir, clock: CLOCK }),
        (error) => error instanceof StoreUnavailableError && error.code === 'store-full',
        `${bytesLeft} bytes left`,
      );
      rmSync(filler);
      await openSqliteStore({ dataDir, clock: CLOCK }).close();
    }
  } finally {
    assert.ok(tryRun('umount', disk));
  }
});

function mountSmallDisk(disk: string): boolean {
  return tryRun('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk);
}

function fill(disk: string, filler: string, bytesLeft = 200_000): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(bavail * bsize - bytesLeft));
}
