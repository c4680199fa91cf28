import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailableError } from '#base';
import { type Change, ChangeFeed, CommitQueue, ExecutionModelManager } from '#execution';
import { readLater, type Unit, type UnitOutcome } from '#store';
import { beginSession, countedIds, deploy, FakeClock, PERSON } from '../support/fixture.ts';
import { MemoryReader } from '../support/memory-reader.ts';
import { MemoryStore } from '../support/memory-store.ts';

// Stories about the door that a fault survived until they were told.

const FULL = new StoreUnavailableError({ code: 'full', message: 'the disk is full', why: 'no space', next: [] });

function fail(error: unknown): void {
  throw error;
}

/** Decides as ever; whether what was decided is written, the test says. */
class FillableStore extends MemoryStore {
  isFull = false;

  override async commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    const before = this.rows.copy();
    const outcomes = await super.commit(units);
    if (!this.isFull) return outcomes;
    this.rows = before;
    throw FULL;
  }
}

function setUp() {
  const store = new FillableStore();
  const changes = new ChangeFeed();
  const ids = countedIds();
  const queue = new CommitQueue({ store, clock: new FakeClock(), ids, changes, onFatal: fail });
  const manager = new ExecutionModelManager(queue, readLater(new MemoryReader(() => store.rows)));
  return { store, changes, ids, queue, manager };
}

test('what was decided and then not written is told to nobody', async () => {
  const { store, changes, queue, manager } = setUp();
  const told: Change[] = [];
  changes.listen((list) => told.push(...list));
  store.isFull = true;
  manager.createWorkflow('a', PERSON).catch(() => undefined);
  await queue.drained();
  queue.close();
  assert.deepEqual(told, []);
});

test('every caller of a commit that failed is answered', async () => {
  const { store, queue, manager } = setUp();
  store.isFull = true;
  let answered = 0;
  for (const name of ['a', 'b', 'c']) manager.createWorkflow(name, PERSON).catch(() => answered++);
  await queue.drained();
  queue.close();
  assert.equal(answered, 3);
});

test('whoever is told of a change finds it', async () => {
  const { store, changes, manager } = setUp();
  let found = 0;
  changes.listen((list) => {
    for (const { kind, id } of list) if (kind === 'workflow' && store.rows.workflows.get(id)) found++;
  });
  await manager.createWorkflow('a', PERSON);
  assert.equal(found, 1);
});

test('recovery goes on to the last page', async () => {
  const { store, ids, manager } = setUp();
  const dead = ids.next('worker');
  await manager.registerWorker(dead, { name: 'dead', pool: 'default', leaseMs: 45_000 });
  const count = 300;
  for (let i = 0; i < count; i++) {
    const fence = await beginSession(manager, await deploy(manager, `w${i}`), dead);
    if (i % 2 === 0) await manager.startRun(fence, 'poll');
  }
  const self = ids.next('worker');
  assert.deepEqual(await manager.recoverCrashedRuns(self), { recovered: count / 2, left: 0 });
  assert.deepEqual(await manager.recoverUnfinishedSessions(self), { recovered: count / 2, left: 0 });
  const open = store.rows.executions.values().filter(({ endedAt }) => endedAt === null);
  assert.deepEqual(open, []);
});
