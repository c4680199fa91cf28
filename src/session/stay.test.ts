import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionId, RunId, WorkerId, WorkflowId } from '#base';
import { Arrivals } from '#execution';
import type { HandlerHost } from '#handler';
import { type Heard, Stay, StayHabits } from './stay.ts';

const WORKFLOW = 'wf_1' as WorkflowId;
const RUN = 'run_1' as RunId;
const FENCE = { execution: 'exe_1' as ExecutionId, epoch: 1, owner: 'wrk_1' as WorkerId };

type Listener = Parameters<HandlerHost['engine']['listen']>[0];

/** A change feed that a test tells things. */
function feed() {
  const listeners = new Set<Listener>();
  return {
    listeners,
    tell: (...changes: Parameters<Listener>[0]) => {
      for (const listener of listeners) listener(changes);
    },
    manager: { arrivals: new Arrivals() },
    listen: (listener: Listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Habits whose moment is as long as a test says, however slow the machine is. */
class Timed extends StayHabits {
  override stayMs = 60_000;
  override readonly closeMs = 60_000;

  /** What a stay comes to when its moment is over. */
  async over(stay: Stay): Promise<Heard> {
    this.stayMs = 0;
    const heard = await stay.wait();
    this.stayMs = 60_000;
    return heard;
  }
}

/** As of a workflow whose sessions always follow each other closely. */
class Close extends Timed {
  override isWorthIt(): boolean {
    return true;
  }
}

function staying(habits: StayHabits, engine = feed(), isCrowded = () => false) {
  return { engine, stay: new Stay(engine, { habits, isCrowded }, WORKFLOW, FENCE) };
}

/** Begins and ends sessions one right after the other; whether each was worth staying. */
function inARow(habits: StayHabits, count: number): boolean[] {
  return Array.from({ length: count }, () => {
    const { stay } = staying(habits);
    const { isWorthIt } = stay;
    stay.end();
    return isWorthIt;
  });
}

test('sessions that follow each other closely stay from the fourth on, and those of nobody else', () => {
  const habits = new Timed();
  assert.deepEqual(inARow(habits, 6), [false, false, false, true, true, true]);
  assert.equal(habits.closeOnes('wf_2' as WorkflowId), 0);
});

test('one that stayed for nothing makes those after it wait for proof', async () => {
  const habits = new Timed();
  inARow(habits, 3);
  const { stay } = staying(habits);
  assert.equal(await habits.over(stay), 'nothing');
  stay.end();
  assert.deepEqual(new Set(inARow(habits, 300)), new Set([false]));
});

test('one that stayed for more is followed by others that do', async () => {
  const habits = new Timed();
  inARow(habits, 3);
  const { stay, engine } = staying(habits);
  engine.tell({ kind: 'workflow', id: WORKFLOW });
  assert.equal(await stay.wait(), 'change');
  stay.running(RUN);
  stay.ran();
  assert.equal(await habits.over(stay), 'nothing');
  stay.end();
  assert.deepEqual(inARow(habits, 1), [true]);
});

test('one that had not heard of what came waits no more, and was for nothing', async () => {
  const habits = new Timed();
  inARow(habits, 3);
  const { stay } = staying(habits);
  assert.equal(await habits.over(stay), 'nothing');
  stay.missed();
  stay.running(RUN);
  stay.ran();
  assert.equal(stay.isWorthIt, false);
  stay.end();
  assert.deepEqual(new Set(inARow(habits, 300)), new Set([false]));
});

test('one that had heard of what came before waits no more either, but was not for nothing', async () => {
  const habits = new Timed();
  inARow(habits, 3);
  const { stay, engine } = staying(habits);
  engine.tell({ kind: 'workflow', id: WORKFLOW });
  assert.equal(await stay.wait(), 'change');
  stay.running(RUN);
  stay.ran();
  assert.equal(await habits.over(stay), 'nothing');
  stay.missed();
  assert.equal(stay.isWorthIt, false);
  stay.end();
  assert.deepEqual(inARow(habits, 1), [true]);
});

test('one that stayed for nothing after one that stayed for more is forgiven, and a second one is not', async () => {
  const habits = new Timed();
  inARow(habits, 3);
  const { stay, engine } = staying(habits);
  engine.tell({ kind: 'workflow', id: WORKFLOW });
  assert.equal(await stay.wait(), 'change');
  stay.running(RUN);
  stay.ran();
  stay.end();
  const forNothing = async () => {
    const { stay } = staying(habits);
    assert.equal(stay.isWorthIt, true);
    assert.equal(await habits.over(stay), 'nothing');
    stay.end();
  };
  await forNothing();
  assert.deepEqual(inARow(habits, 2), [false, false]);
  await forNothing();
  assert.deepEqual(new Set(inARow(habits, 300)), new Set([false]));
});

test('changes that bring nothing to do keep it open only so often, and a run makes it listen again', async () => {
  const { stay, engine } = staying(new Close());
  const heard = async () => {
    engine.tell({ kind: 'workflow', id: WORKFLOW });
    return stay.wait();
  };
  assert.deepEqual(
    [await heard(), await heard(), await heard(), await heard()],
    ['change', 'change', 'change', 'nothing'],
  );
  stay.running(RUN);
  stay.ran();
  assert.equal(await heard(), 'change');
  stay.end();
});

test('it hears of its workflow and of its execution, also before it waits, and of nothing else', async () => {
  for (const change of [
    { kind: 'workflow', id: WORKFLOW },
    { kind: 'execution', id: FENCE.execution },
  ] as const) {
    const { stay, engine } = staying(new Close());
    const waiting = stay.wait();
    engine.tell({ kind: 'workflow', id: 'wf_2' }, { kind: 'run', id: 'run_1' });
    engine.tell(change);
    assert.equal(await waiting, 'change');
    engine.tell(change);
    assert.equal(await stay.wait(), 'change', 'what came before it waited');
    stay.end();
    assert.equal(engine.listeners.size, 0);
  }
});

test('what was heard before a run began is the business of its commit', async () => {
  const habits = new Close();
  const { stay, engine } = staying(habits);
  engine.tell({ kind: 'workflow', id: WORKFLOW });
  stay.running(RUN);
  stay.ran();
  assert.equal(await habits.over(stay), 'nothing');
  stay.end();
});

test('what its own run has changed is no news to it, what others have meanwhile is', async () => {
  const habits = new Close();
  const { stay, engine } = staying(habits);
  stay.running(RUN);
  engine.tell({ kind: 'run', id: RUN }, { kind: 'workflow', id: WORKFLOW });
  stay.ran();
  assert.equal(await habits.over(stay), 'nothing');
  stay.running(RUN);
  engine.tell({ kind: 'workflow', id: WORKFLOW });
  stay.ran();
  assert.equal(await stay.wait(), 'change');
  stay.end();
});

test('a session gives its place away where somebody waits for one, and without habits none stays', () => {
  let isCrowded = false;
  const { stay } = staying(new Close(), feed(), () => isCrowded);
  assert.equal(stay.isWorthIt, true);
  isCrowded = true;
  assert.equal(stay.isWorthIt, false);
  const engine = feed();
  assert.equal(new Stay(engine, undefined, WORKFLOW, FENCE).isWorthIt, false);
  assert.equal(engine.listeners.size, 0);
});

test('where sessions have time limits one stays only while it is young', () => {
  const young = new Stay(feed(), { habits: new Close(), isCrowded: () => false, hasTimeLimits: true }, WORKFLOW, FENCE);
  assert.equal(young.isWorthIt, true);
  class Old extends Close {
    override readonly limitedMs = 0;
  }
  const old = { habits: new Old(), isCrowded: () => false };
  assert.equal(new Stay(feed(), { ...old, hasTimeLimits: true }, WORKFLOW, FENCE).isWorthIt, false);
  assert.equal(new Stay(feed(), old, WORKFLOW, FENCE).isWorthIt, true);
});

test('what is published while it waits arrives, however often it was woken for nothing; before and after that it is published by itself', async () => {
  const { stay, engine } = staying(new Close());
  const alone: string[] = [];
  const publish = (id: string) => {
    const reply = { published: [] };
    const byItself = async () => {
      alone.push(id);
      return reply;
    };
    return engine.manager.arrivals.publish(WORKFLOW, [{ topic: 'in', messageId: id, payload: '{}' }], 'ann', byItself);
  };
  await publish('before');
  for (let i = 0; i < 5; i++) {
    engine.tell({ kind: 'workflow', id: WORKFLOW });
    await stay.wait();
  }
  const waiting = stay.wait();
  const answered = publish('now');
  const heard = await waiting;
  assert.ok(typeof heard === 'object');
  assert.equal(heard.publish.messageId, 'now');
  heard.published({ published: [] });
  await answered;
  await publish('after');
  stay.end();
  await publish('at the end');
  assert.deepEqual(alone, ['before', 'after', 'at the end']);
});
