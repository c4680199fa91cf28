import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { onKillPoint, RefusedError, StoreFailedError } from '#base';
import type { Source, Write } from '#model';
import { GuardError, openReader, openSqliteStore, type Unit } from '#store';
import { script, WF, workflow } from './rows.ts';
import { CLOCK, commit, openWorld, temporaryFolder } from './world.ts';

const named = (name: string): Write => ({
  set: 'workflow.created',
  row: workflow({ id: `wf_${name}` as never, name }),
});
const writes = (...list: Write[]): Unit => ({ decide: () => list });
const refused = new RefusedError({ code: 'held', message: 'no', why: 'because', next: [] });
const refuses: Unit = {
  decide: () => {
    throw refused;
  },
};

afterEach(() => onKillPoint(undefined));

test('units of one batch are answered each for itself, in their order', async (t) => {
  const { store, reader } = await openWorld(t);
  const outcomes = await store.commit([writes(named('a')), refuses, writes(), writes(named('b'))]);
  assert.deepEqual(outcomes, [
    { kind: 'done', writes: [named('a')] },
    { kind: 'refused', error: refused },
    { kind: 'done', writes: [] },
    { kind: 'done', writes: [named('b')] },
  ]);
  assert.deepEqual(
    reader.table('workflows').map((row) => row.name),
    ['a', 'b'],
  );
});

test('a unit sees what the units before it in the batch wrote', async (t) => {
  const { store } = await openWorld(t);
  let seen = 0;
  const looks: Unit = {
    decide: (source: Source) => {
      seen = source.fetch('workflowNamed', 'a').length;
      return [];
    },
  };
  await store.commit([looks, writes(named('a')), looks]);
  assert.equal(seen, 1);
});

test('a write that does not find its row undoes its own unit, and no other', async (t) => {
  const { store, reader } = await openWorld(t);
  const late: Write = { set: 'workflow.seq', workflow: WF, from: 7, to: 8 };
  const [first, second, third] = await store.commit([writes(named('a')), writes(named('b'), late), writes(named('c'))]);
  assert.equal(first?.kind, 'done');
  assert.equal(third?.kind, 'done');
  assert.ok(second?.kind === 'refused' && second.error instanceof GuardError);
  assert.deepEqual(second.error.write, late);
  assert.match(second.error.message, /workflow\.seq changed 0 rows, not 1/);
  assert.deepEqual(
    reader.table('workflows').map((row) => row.name),
    ['a', 'c'],
  );
});

test('what the database refuses undoes its own unit, and no other', async (t) => {
  const { store, reader } = await openWorld(t);
  const [, second] = await store.commit([writes(named('a')), writes(named('b'), named('a')), writes(named('c'))]);
  assert.ok(second?.kind === 'refused' && second.error instanceof GuardError);
  assert.ok(second.error.cause instanceof Error, 'what the database said is kept');
  assert.deepEqual(
    reader.table('workflows').map((row) => row.name),
    ['a', 'c'],
  );
});

test('a version that was rolled back with its batch is not remembered', async (t) => {
  const { store } = await openWorld(t, { set: 'workflow.created', row: workflow() });
  const found: number[] = [];
  const looks: Unit = {
    decide: (source) => {
      found.push(source.fetch('script', script().id).length);
      return [];
    },
  };
  const fails: Unit = {
    decide: () => {
      throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
    },
  };
  const adds = writes({ set: 'script.added', row: script(), code: '', manifest: '{}' });
  await assert.rejects(store.commit([adds, looks, fails]), StoreFailedError);
  await store.commit([looks]);
  assert.deepEqual(found, [1, 0]);
});

test('a rule that breaks is a refusal of its own command', async (t) => {
  const { store } = await openWorld(t);
  const broken = new Error('bug: a rule is wrong');
  const breaks: Unit = {
    decide: () => {
      throw broken;
    },
  };
  assert.deepEqual(await store.commit([breaks]), [{ kind: 'refused', error: broken }]);
  await commit(store, named('a'));
});

test('a batch without writes commits nothing', async (t) => {
  const { store } = await openWorld(t);
  const points: string[] = [];
  onKillPoint((point) => points.push(point));
  await store.commit([refuses, writes()]);
  await store.commit([]);
  assert.deepEqual(points, []);
});

for (const [point, kept] of [
  ['before-commit', []],
  ['after-commit', ['a']],
] as const) {
  test(`a process that dies ${point.replace('-', ' ')} has ${kept.length === 0 ? 'written nothing' : 'written all'}`, async (t) => {
    const dataDir = temporaryFolder(t);
    const store = openSqliteStore({ dataDir, clock: CLOCK });
    const death = new Error('the process died');
    onKillPoint((reached) => {
      if (reached === point) throw death;
    });
    await assert.rejects(store.commit([writes(named('a'))]), (error) => error === death);
    onKillPoint(undefined);
    await assert.rejects(store.commit([]), StoreFailedError);

    const again = openSqliteStore({ dataDir, clock: CLOCK });
    const reader = openReader(dataDir);
    assert.deepEqual(
      reader.table('workflows').map((row) => row.name),
      kept,
    );
    reader.close();
    await again.close();
  });
}

test('an answered command is in the file when it is opened again', async (t) => {
  const { dataDir, store } = await openWorld(t);
  await commit(store, named('a'));
  await store.close();
  rmSync(join(dataDir, 'pawl.lock'));
  const again = openSqliteStore({ dataDir, clock: CLOCK });
  const [outcome] = await again.commit([
    {
      decide: (source) => {
        assert.equal(source.fetch('workflowNamed', 'a').length, 1);
        return [];
      },
    },
  ]);
  assert.equal(outcome?.kind, 'done');
  await again.close();
});

test('a probe of a healthy store works and changes nothing', async (t) => {
  const { store, reader } = await openWorld(t, named('a'));
  await store.probe();
  assert.equal(reader.table('workflows').length, 1);
});

test('a closed store says so', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = openSqliteStore({ dataDir, clock: CLOCK });
  await store.close();
  await store.close();
  await assert.rejects(store.commit([writes(named('a'))]), { code: 'store-closed' });
  await assert.rejects(store.probe(), { code: 'store-closed' });
});
