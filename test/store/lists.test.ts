import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { idPlaceAt, type RunId } from '#base';
import type { Write } from '#model';
import { type History, openHistory } from '#store';
import { AT, consumerRun, WF } from './rows.ts';
import { openWorld, RUNNING } from './world.ts';

const HOUR = 3_600_000;

/** Ids as they are made at that hour, in the order of their number. */
const nth = (n: number, hour = 0) => `${idPlaceAt('run', AT + hour * HOUR)}${String(n).padStart(8, '0')}` as RunId;
const ran = (n: number, hour = 0, over: object = {}): Write => ({
  set: 'run.created',
  row: consumerRun({
    id: nth(n, hour),
    rootRunId: nth(n, hour),
    status: 'committed',
    phase: 'committed',
    endTimestamp: AT,
    ...over,
  }),
});

async function openPast(t: TestContext, ...writes: readonly Write[]): Promise<History> {
  const { dataDir } = await openWorld(t, ...writes);
  const history = openHistory(dataDir);
  t.after(() => history.close());
  return history;
}

test('what is rare is found among any number of others, by looks of a bounded length', async (t) => {
  const others = Array.from({ length: 25_000 }, (_, i) => ran(i + 2));
  const history = await openPast(t, ...RUNNING, ran(1, 0, { handlerName: 'needle' }), ...others);
  const filter = { workflow: WF, limit: 10, by: { handler: 'needle' } };
  assert.deepEqual(
    history.list('runs', filter).rows.map(({ id }) => id),
    [nth(1)],
  );
  assert.deepEqual(history.list('runs', { ...filter, order: 'oldest', limit: 1 }).next, nth(1));
  assert.deepEqual(history.list('runs', { ...filter, by: {}, q: 'NEEDLE' }).rows.length, 1);
  assert.deepEqual(history.list('runs', { ...filter, by: { handler: 'nobody' } }), { rows: [], next: null });
});

test('a look that finds nothing gives a place to go on from', async (t) => {
  const { dataDir, store } = await openWorld(t, ...RUNNING, ran(1, 0, { handlerName: 'needle' }));
  const others = Array.from({ length: 120_000 }, (_, i) => ran(i + 2));
  await store.commit([{ decide: () => others }]);
  const history = openHistory(dataDir);
  t.after(() => history.close());
  const filter = { workflow: WF, limit: 10, by: { handler: 'needle' } };
  const first = history.list('runs', filter);
  assert.deepEqual(first.rows, []);
  assert.ok(first.next !== null, 'it has not reached the end');
  const second = history.list('runs', { ...filter, after: first.next });
  assert.deepEqual([second.rows.length, second.next], [1, null]);
});

test('pages in either order hold every row once, whatever their size', async (t) => {
  const history = await openPast(t, ...RUNNING, ...Array.from({ length: 23 }, (_, i) => ran(i + 1, i % 3)));
  for (const order of ['newest', 'oldest'] as const) {
    for (const limit of [1, 5, 22, 23, 24]) {
      const seen: string[] = [];
      let after: string | undefined;
      for (let pages = 0; pages < 30; pages++) {
        const { rows, next } = history.list('runs', { limit, order, after, q: 'run_' });
        seen.push(...rows.map(({ id }) => id));
        if (next === null) break;
        after = next;
      }
      assert.equal(seen.length, 23, `${order} by ${limit}`);
      assert.equal(new Set(seen).size, 23);
      assert.deepEqual(seen, order === 'oldest' ? [...seen].sort() : [...seen].sort().reverse());
    }
  }
});

test('a time is from its first moment to before its last', async (t) => {
  const history = await openPast(t, ...RUNNING, ran(1, 0), ran(2, 1), ran(3, 2));
  const between = (from: number, to: number, order: 'newest' | 'oldest') =>
    history
      .list('runs', { limit: 10, from: AT + from * HOUR, to: AT + to * HOUR, order })
      .rows.map(({ id }) => Number(id.slice(-8)));
  for (const order of ['newest', 'oldest'] as const) {
    assert.deepEqual(between(0, 1, order), [1], order);
    assert.deepEqual(between(1, 3, order).sort(), [2, 3]);
    assert.deepEqual(between(3, 9, order), []);
  }
});
