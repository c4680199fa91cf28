import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExecutionId, WorkerId, WorkflowId } from '#base';
import type { HandlerHost } from '#handler';
import { Stay, StayHabits } from './stay.ts';

const WORKFLOW = 'wf_1' as WorkflowId;
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
    listen: (listener: Listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** As of a workflow whose sessions always follow each other closely. */
class Close extends StayHabits {
  override readonly stayMs: number;

  constructor(stayMs: number) {
    super();
    this.stayMs = stayMs;
  }

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
  const habits = new StayHabits();
  assert.deepEqual(inARow(habits, 6), [false, false, false, true, true, true]);
  assert.equal(habits.closeOnes('wf_2' as WorkflowId), 0);
});

test('one that stayed for nothing makes those after it wait for proof', async () => {
  const habits = new StayHabits();
  inARow(habits, 3);
  const { stay } = staying(habits);
  assert.equal(await stay.wait(), false);
  stay.end();
  assert.deepEqual(new Set(inARow(habits, 30)), new Set([false]));
});

test('one that stayed for more is followed by others that do', async () => {
  const habits = new StayHabits();
  inARow(habits, 3);
  const { stay, engine } = staying(habits);
  engine.tell({ kind: 'workflow', id: WORKFLOW });
  assert.equal(await stay.wait(), true);
  stay.running();
  stay.ran();
  assert.equal(await stay.wait(), false);
  stay.end();
  assert.deepEqual(inARow(habits, 1), [true]);
});

test('it hears of its workflow and of its execution, also before it waits, and of nothing else', async () => {
  for (const change of [
    { kind: 'workflow', id: WORKFLOW },
    { kind: 'execution', id: FENCE.execution },
  ] as const) {
    const { stay, engine } = staying(new Close(60_000));
    const waiting = stay.wait();
    engine.tell({ kind: 'workflow', id: 'wf_2' }, { kind: 'run', id: 'run_1' });
    engine.tell(change);
    assert.equal(await waiting, true);
    engine.tell(change);
    assert.equal(await stay.wait(), true, 'what came before it waited');
    stay.end();
    assert.equal(engine.listeners.size, 0);
  }
});

test('what was heard before a run began is the business of its commit', async () => {
  const { stay, engine } = staying(new Close(1));
  engine.tell({ kind: 'workflow', id: WORKFLOW });
  stay.running();
  stay.ran();
  assert.equal(await stay.wait(), false);
  stay.end();
});

test('a session gives its place away where somebody waits for one, and without habits none stays', () => {
  let isCrowded = false;
  const { stay } = staying(new Close(1), feed(), () => isCrowded);
  assert.equal(stay.isWorthIt, true);
  isCrowded = true;
  assert.equal(stay.isWorthIt, false);
  const engine = feed();
  assert.equal(new Stay(engine, undefined, WORKFLOW, FENCE).isWorthIt, false);
  assert.equal(engine.listeners.size, 0);
});
