import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { type RefusedError, StoreFailedError, StoreUnavailableError } from '#base';
import { ChangeFeed, CommitQueue, ExecutionModelManager } from '#execution';
import { readLater, type Store, type Unit, type UnitOutcome } from '#store';
import { countedIds, FakeClock, PERSON } from '../support/fixture.ts';
import { MemoryReader } from '../support/memory-reader.ts';
import { MemoryStore, sourceOf } from '../support/memory-store.ts';

/** A store whose disk obeys the test. */
class ObedientStore implements Store {
  readonly memory = new MemoryStore();
  readonly batches: number[] = [];
  readonly committed: (readonly Unit[])[] = [];
  readonly ahead: (readonly Unit[])[] = [];
  /** Said only by a store that is far away. */
  readonly atWork?: number;
  failure: Error | undefined;
  probes = 0;
  delayMs = 0;

  constructor({ atWork }: { readonly atWork?: number } = {}) {
    if (atWork !== undefined) this.atWork = atWork;
  }

  async commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    if (this.failure) throw this.failure;
    this.batches.push(units.length);
    this.committed.push(units);
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    return this.memory.commit(units);
  }

  lookAhead(units: readonly Unit[]): void {
    this.ahead.push(units);
  }

  async probe(): Promise<void> {
    this.probes++;
    if (this.failure) throw this.failure;
  }

  isRestored(): boolean {
    return this.memory.isRestored();
  }

  forgetRestored(): Promise<void> {
    return this.memory.forgetRestored();
  }

  close(): Promise<void> {
    return this.memory.close();
  }
}

function setUp(options: { readonly atWork?: number } = {}) {
  const store = new ObedientStore(options);
  const changes = new ChangeFeed();
  const fatal: unknown[] = [];
  const queue = new CommitQueue({
    store,
    clock: new FakeClock(),
    ids: countedIds(),
    changes,
    onFatal: (error) => fatal.push(error),
  });
  const manager = new ExecutionModelManager(queue, readLater(new MemoryReader(() => store.memory.rows)));
  return { store, changes, fatal, queue, manager };
}

const FULL = new StoreUnavailableError({
  code: 'full',
  message: 'the disk is full',
  why: 'no space',
  next: [{ label: 'free some' }],
});
const BROKEN = new StoreFailedError({
  code: 'io',
  message: 'the disk is broken',
  why: 'i/o error',
  next: [{ label: 'replace it' }],
});

test('what one tick submits shares a commit, in batches of at most 64', async () => {
  const { store, manager } = setUp();
  await Promise.all(Array.from({ length: 150 }, (_, i) => manager.createWorkflow(`w${i}`, PERSON)));
  assert.deepEqual(store.batches, [64, 64, 22]);
});

test('before a store that is far away those of a large commit are waited for, and one who is alone is not', async () => {
  const { store, manager } = setUp({ atWork: 20 });
  await manager.createWorkflow('alone', PERSON);
  await manager.createWorkflow('alone again', PERSON);
  assert.deepEqual(store.batches, [1, 1]);
  store.delayMs = 200;
  const many = Array.from({ length: 8 }, (_, i) => manager.createWorkflow(`w${i}`, PERSON));
  await many[0];
  // Each comes back in a turn of the loop of its own, as answers from outside do; together they fill a commit.
  const back: Promise<unknown>[] = [];
  for (let i = 0; i < 8; i++) {
    back.push(manager.createWorkflow(`back ${i}`, PERSON));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(back);
  assert.deepEqual(store.batches, [1, 1, 8, 8]);
  await Promise.all(Array.from({ length: 32 }, (_, i) => manager.createWorkflow(`full ${i}`, PERSON)));
  assert.deepEqual(store.batches.slice(4), [32]);
});

/** Eight that are being committed, and eight that came meanwhile and were looked at. */
async function lookingAhead() {
  const world = setUp({ atWork: 20 });
  const { store, manager } = world;
  const many = (name: string) => Array.from({ length: 8 }, (_, i) => manager.createWorkflow(`${name} ${i}`, PERSON));
  store.delayMs = 200;
  await Promise.all(many('first'));
  const underWay = many('under way');
  while (store.batches.length < 2) await new Promise((resolve) => setImmediate(resolve));
  const behind = many('behind');
  while (store.ahead.length === 0) await new Promise((resolve) => setImmediate(resolve));
  return { ...world, underWay, behind };
}

test('enough for the next commit are looked at while one is under way, and go out as they were looked at', async () => {
  const { store, underWay, behind, manager } = await lookingAhead();
  const late = manager.createWorkflow('late', PERSON);
  await Promise.all([...underWay, ...behind, late]);
  assert.deepEqual(store.batches, [8, 8, 8, 1]);
  assert.equal(store.ahead.length, 1);
  assert.equal(store.committed[2], store.ahead[0], 'the same list, so that the store knows it again');
});

test('what was looked at fails with the commit before it, and is answered', async () => {
  const { store, underWay, behind, queue } = await lookingAhead();
  store.failure = FULL;
  const results = await Promise.allSettled([...underWay, ...behind]);
  assert.deepEqual(
    results.map((result) => result.status === 'rejected' && result.reason === FULL),
    [...underWay.map(() => false), ...behind.map(() => true)],
  );
  assert.equal(queue.isOpen, false);
  await queue.drained();
});

test('what was looked at is answered too where the commit before it fails', async () => {
  const { store, underWay, behind } = await lookingAhead();
  store.memory.commit = () => Promise.reject(FULL);
  const results = await Promise.allSettled([...underWay, ...behind]);
  assert.ok(results.every((result) => result.status === 'rejected' && result.reason === FULL));
  assert.deepEqual(store.batches, [8, 8], 'it was not even tried');
});

/** A store that does one unit of a workflow in a commit, as far as it can tell workflows by name, and ends a commit when it is told to. */
function oneAtATime() {
  const world = setUp({ atWork: 8 });
  const { store } = world;
  const ends: (() => void)[] = [];
  store.commit = async (units) => {
    store.batches.push(units.length);
    await new Promise<void>((resolve) => ends.push(resolve));
    const seen = new Set<string>();
    const done: UnitOutcome[] = [];
    for (const unit of units) {
      const [write] = unit.decide(sourceOf(store.memory.rows));
      const name = (write?.set === 'workflow.created' && write.row.name[0]) || '';
      done.push(seen.has(name) ? { kind: 'deferred', because: 'changed' } : { kind: 'done', writes: [] });
      seen.add(name);
    }
    return done;
  };
  const end = async () => {
    while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
    ends.shift()?.();
  };
  return { ...world, end };
}

test('what was deferred goes before those that were looked at meanwhile: each workflow keeps its order', async () => {
  const { store, manager, end } = oneAtATime();
  const order: string[] = [];
  const ask = (name: string) => manager.createWorkflow(name, PERSON).then(() => order.push(name));
  const asked = [ask('w0'), ask('w1')];
  while (store.batches.length === 0) await new Promise((resolve) => setImmediate(resolve));
  asked.push(...['w2', 'x', 'y', 'z'].map(ask));
  while (store.ahead.length === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 3; i++) await end();
  await Promise.all(asked);
  assert.deepEqual(
    order.filter((name) => name.startsWith('w')),
    ['w0', 'w1', 'w2'],
  );
  assert.deepEqual(store.batches, [2, 5, 1]);
});

test('whoever waits until all is answered waits for those who are answered behind the next commit', async () => {
  const { store, queue, underWay, behind } = await lookingAhead();
  let answered = 0;
  for (const each of underWay) void each.then(() => answered++);
  const { commit } = store;
  store.commit = (units) => (units === store.ahead[0] ? Promise.reject(FULL) : commit.call(store, units));
  const failed = Promise.allSettled(behind);
  await queue.drained();
  assert.equal(answered, 8);
  assert.ok((await failed).every(({ status }) => status === 'rejected'));
});

test('a listener that throws while the next commit is under way ends the engine, and everybody is answered', async () => {
  const { changes, fatal, underWay, behind } = await lookingAhead();
  const broken = new Error('a listener broke');
  const stop = changes.listen(() => {
    stop();
    throw broken;
  });
  const results = await Promise.allSettled([...underWay, ...behind]);
  assert.equal(results.length, 16);
  assert.deepEqual(fatal, [broken]);
});

test('a refusal in a batch leaves its neighbours alone', async () => {
  const { store, manager } = setUp();
  const results = await Promise.allSettled([
    manager.createWorkflow('a', PERSON),
    manager.createWorkflow('a', PERSON),
    manager.createWorkflow('b', PERSON),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(
    store.memory.rows.workflows.values().map(({ name }) => name),
    ['a', 'b'],
  );
  assert.equal(((results[1] as PromiseRejectedResult).reason as RefusedError).code, 'wrong-state');
});

test('steps of one transaction are all written or none', async () => {
  const { store, manager } = setUp();
  const refused = manager.together((model) => {
    model.createWorkflow('a', PERSON);
    model.createWorkflow('a', PERSON);
  });
  await assert.rejects(refused, { code: 'wrong-state' });
  assert.equal(store.memory.rows.workflows.values().length, 0);
});

test('a full disk refuses everything that waits, loses nothing, and work goes on when there is room again', async () => {
  const { store, manager, queue, fatal } = setUp();
  assert.equal(queue.isOpen, true);
  store.failure = FULL;
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, (_, i) => manager.createWorkflow(`w${i}`, PERSON)),
  );
  assert.ok(results.every((result) => result.status === 'rejected' && result.reason === FULL));
  await assert.rejects(manager.createWorkflow('late', PERSON), (error) => error === FULL);
  assert.equal(queue.isOpen, false);
  assert.deepEqual(store.batches, []);
  store.failure = undefined;
  await until(() => store.probes > 0);
  await manager.createWorkflow('after', PERSON);
  assert.deepEqual(
    store.memory.rows.workflows.values().map(({ name }) => name),
    ['after'],
  );
  assert.deepEqual(fatal, []);
});

test('the queue asks again and again whether the disk has room', async () => {
  const { store, manager, queue } = setUp();
  store.failure = FULL;
  await assert.rejects(manager.createWorkflow('a', PERSON));
  await until(() => store.probes >= 2);
  await assert.rejects(manager.createWorkflow('b', PERSON), (error) => error === FULL);
  queue.close();
});

test('a disk that cannot be trusted ends the engine', async () => {
  const { store, manager, fatal } = setUp();
  store.failure = BROKEN;
  await assert.rejects(manager.createWorkflow('a', PERSON), (error) => error === BROKEN);
  assert.deepEqual(fatal, [BROKEN]);
  store.failure = undefined;
  await assert.rejects(manager.createWorkflow('b', PERSON), (error) => error === BROKEN);
});

test('a disk that breaks while it is full ends the engine', async () => {
  const { store, manager, fatal } = setUp();
  store.failure = FULL;
  await assert.rejects(manager.createWorkflow('a', PERSON));
  store.failure = BROKEN;
  await until(() => fatal.length > 0);
  assert.deepEqual(fatal, [BROKEN]);
});

test('more than ten thousand waiting commands are refused, and the rest is done', async () => {
  const { store, manager } = setUp();
  const all = Array.from({ length: 10_001 }, () => manager.createWorkflow('', PERSON));
  const results = await Promise.allSettled(all);
  const last = results.at(-1) as PromiseRejectedResult;
  assert.equal(last.reason.code, 'overloaded');
  assert.equal(
    results.filter((result) => result.status === 'rejected' && result.reason.code === 'invalid').length,
    10_000,
  );
  assert.equal(
    store.batches.reduce((sum, size) => sum + size, 0),
    10_000,
  );
});

test('an engine that is closed while it asks for room stays closed', async () => {
  const { store, manager, queue, fatal } = setUp();
  const asked = Promise.withResolvers<void>();
  const room = Promise.withResolvers<void>();
  store.probe = () => {
    asked.resolve();
    return room.promise;
  };
  store.failure = FULL;
  await assert.rejects(manager.createWorkflow('a', PERSON), (error) => error === FULL);
  await asked.promise;
  queue.close();
  room.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(queue.isOpen, false);
  assert.deepEqual(fatal, []);
});

test('a closed engine takes no more commands', async () => {
  const { manager, queue } = setUp();
  await manager.createWorkflow('a', PERSON);
  await queue.drained();
  queue.close();
  await assert.rejects(manager.createWorkflow('b', PERSON), { code: 'closed' });
});

test('changes are told after the commit, once a row, and not for refusals', async () => {
  const { store, manager, changes } = setUp();
  const told: string[] = [];
  const stop = changes.listen((list) => {
    assert.ok(store.batches.length > 0, 'told before the commit');
    told.push(...list.map(({ kind, id }) => `${kind} ${id}`));
  });
  const { workflow } = await manager.createWorkflow('a', PERSON);
  await manager.createWorkflow('a', PERSON).catch(() => undefined);
  assert.deepEqual(told, [`workflow ${workflow}`, `audit ${workflow}`]);
  stop();
  await manager.createWorkflow('b', PERSON);
  assert.equal(told.length, 2);
});

test('a command that is decided twice makes the same ids', async () => {
  const { store, manager } = setUp();
  const commit = store.memory.commit.bind(store.memory);
  const tried: string[] = [];
  store.memory.commit = async (units) => {
    for (const unit of units) {
      const [write] = unit.decide({ fetch: () => [] });
      if (write?.set === 'workflow.created') tried.push(write.row.id);
    }
    return commit(units);
  };
  const { workflow } = await manager.createWorkflow('a', PERSON);
  assert.deepEqual(tried, [workflow]);
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test('a command that goes another way when it is decided again gets ids of the right kinds', async () => {
  const { store, manager } = setUp();
  const { workflow } = await manager.createWorkflow('a', PERSON);
  const commit = store.memory.commit.bind(store.memory);
  store.memory.commit = async (units) => {
    // The first time the store answers as if nothing were there.
    for (const unit of units) assert.throws(() => unit.decide({ fetch: () => [] }));
    return commit(units);
  };
  const together = manager.together((model) => {
    const made = model.createWorkflow('b', PERSON);
    model.archiveWorkflow(workflow, PERSON);
    return { ...made, ...model.createToken({ ...TOKEN, expiresAt: new FakeClock().now() + 1, by: PERSON }) };
  });
  const { workflow: second, token } = await together;
  assert.match(second, /^wf_/);
  assert.match(token, /^tok_/);
});

const TOKEN = { kind: 'token', name: 'ci', scopes: ['read'], hash: 'h' } as const;

test('what the store defers goes first into the next batch, and its caller waits', async () => {
  const { store, manager } = setUp();
  const commit = store.memory.commit.bind(store.memory);
  const seen: number[] = [];
  store.memory.commit = async (units) => {
    seen.push(units.length);
    if (seen.length > 1) return commit(units);
    const [last] = await commit(units.slice(-1));
    return [...units.slice(0, -1).map(() => ({ kind: 'deferred', because: 'changed' }) as const), last as UnitOutcome];
  };
  const names = ['a', 'b', 'c'];
  const made = await Promise.all(names.map((name) => manager.createWorkflow(name, PERSON)));
  assert.deepEqual(seen, [3, 2]);
  assert.deepEqual(
    made.map(({ workflow }) => store.memory.rows.workflows.get(workflow)?.name),
    names,
  );
});

/** A store where commands named *held* are deferred for what the test says; each commit takes a second. */
function inOtherHands(t: TestContext, because: (seconds: number) => 'held' | 'changed' | undefined) {
  const world = setUp();
  const { memory } = world.store;
  const commit = memory.commit.bind(memory);
  const passed = { seconds: 0 };
  const clock = mock.method(performance, 'now', () => passed.seconds * 1_000);
  t.after(() => clock.mock.restore());
  const isHeld = (unit: Unit) =>
    unit.decide(sourceOf(memory.rows)).some((write) => write.set === 'workflow.created' && /held/.test(write.row.name));
  memory.commit = async (units) => {
    passed.seconds += 1;
    const why = because(passed.seconds);
    const outcomes: UnitOutcome[] = [];
    for (const unit of units) {
      const [done] = why && isHeld(unit) ? [{ kind: 'deferred', because: why } as const] : await commit([unit]);
      outcomes.push(done as UnitOutcome);
    }
    return outcomes;
  };
  return { ...world, passed };
}

test('what stays in other hands is given up after a while, alone: whoever comes behind it goes on', async (t) => {
  const { manager, fatal, passed } = inOtherHands(t, () => 'held');
  const over = Promise.allSettled(Array.from({ length: 100 }, () => manager.createWorkflow('held', PERSON)));
  for (const name of ['a', 'b', 'c']) await manager.createWorkflow(name, PERSON);
  assert.ok(passed.seconds < 12, `they waited ${passed.seconds} s`);
  for (const each of await over) {
    assert.ok(each.status === 'rejected' && each.reason instanceof StoreUnavailableError);
    assert.match(each.reason.message, /in other hands for 15 s/);
  }
  assert.ok(passed.seconds >= 15 && passed.seconds < 40, `given up after ${passed.seconds} s`);
  assert.equal((await manager.createWorkflow('d', PERSON)).workflow.startsWith('wf_'), true);
  assert.equal(fatal.length, 0);
});

test('what stays in other hands is given up as well while others never stop coming', async (t) => {
  const { manager, passed } = inOtherHands(t, () => 'held');
  let isOver = false;
  const over = assert.rejects(manager.createWorkflow('held', PERSON), { code: 'store-busy' });
  void over.then(() => {
    isOver = true;
  });
  for (let i = 0; i < 20; i++) await manager.createWorkflow(`w${i}`, PERSON);
  assert.equal(isOver, true, `${passed.seconds} s, and it still waits`);
});

test('what was in other hands and now only waits for its turn is not given up', async (t) => {
  const { manager, passed } = inOtherHands(
    t,
    (seconds) => (seconds < 5 && 'held') || (seconds < 40 && 'changed') || undefined,
  );
  const waits = manager.createWorkflow('held', PERSON);
  for (let i = 0; passed.seconds < 40; i++) await manager.createWorkflow(`w${i}`, PERSON);
  assert.ok((await waits).workflow);
});

test('where the store says what time it is, its clock decides', async () => {
  const { store, manager } = setUp();
  const commit = store.memory.commit.bind(store.memory);
  store.memory.commit = (units) => commit(units.map((unit) => ({ decide: (source) => unit.decide(source, 77) })));
  const { workflow } = await manager.createWorkflow('a', PERSON);
  assert.equal(store.memory.rows.workflows.get(workflow)?.createdAt, 77);
});

test('a unit foresees its commands as far as they do not depend on replies', async () => {
  const { store, manager } = setUp();
  const foreseen: unknown[] = [];
  const commit = store.memory.commit.bind(store.memory);
  store.memory.commit = (units) => {
    foreseen.push(...units.map((unit) => unit.foresee?.(() => undefined)));
    return commit(units);
  };
  await manager.createWorkflow('a', PERSON);
  await manager.together((model) => {
    const { workflow } = model.createWorkflow('b', PERSON);
    if (!workflow.startsWith('wf_')) throw new Error('never');
    model.archiveWorkflow(workflow, PERSON);
  });
  const question = (name: string) => ({ name: 'workflowNamed', by: [name] });
  assert.deepEqual(foreseen, [
    { kind: 'createWorkflow', questions: [question('a')], fresh: [] },
    { kind: 'createWorkflow', questions: [question('b')], fresh: [] },
  ]);
});
