import assert from 'node:assert/strict';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { STATUS_STEPS } from './judge.ts';
import { COMMAND_NAMES } from './moves.ts';
import type { Walked } from './walk.ts';
import type { Errand } from './walk-thread.ts';
import { type Size, worlds } from './worlds.ts';

// Every command, with right and wrong arguments, in every state that small worlds can come to. In each state every invariant
// is asked, every step is held against the tables of states, effects outside are counted, and the way to rest is gone.
// PAWL_WALK=large walks the same worlds with one event more: millions of transitions, minutes.

const SIZE: Size = process.env.PAWL_WALK === 'large' ? 'large' : 'small';
const THREADS_MAX = 4;

/** Worlds are handed out one by one to as many threads as there are processors. */
async function walkAll(size: Size): Promise<Walked[]> {
  const errands = worlds(size).map((_, position): Errand => ({ size, position }));
  const walked: Walked[] = [];
  const threads = Array.from({ length: Math.min(availableParallelism(), THREADS_MAX, errands.length) }, async () => {
    const thread = new Worker(new URL('./walk-thread.ts', import.meta.url));
    for (let errand = errands.shift(); errand; errand = errands.shift()) {
      thread.postMessage(errand);
      const [result] = (await once(thread, 'message')) as [Walked];
      walked[errand.position] = result;
    }
    await thread.terminate();
  });
  await Promise.all(threads);
  return walked;
}

/** Deploying is not walked: every world begins with a version. The other two no rule takes. */
const STEPS_NOT_WALKED = [
  'workflows: draft → ready',
  'workflows: draft → archived',
  'workflows: ready → active',
  'workflows: ready → error',
  'workflows: ready → archived',
  'executions: requested → failed',
  'executions: scheduling → failed',
];

function allSteps(): string[] {
  return Object.entries(STATUS_STEPS).flatMap(([table, steps]) =>
    Object.entries(steps).flatMap(([from, tos]) => tos.map((to) => `${table}: ${from} → ${to}`)),
  );
}

function unionOf<T>(walked: readonly Walked[], of: (world: Walked) => ReadonlySet<T>): Set<T> {
  return walked.reduce((all, world) => all.union(of(world)), new Set<T>());
}

function sumOf(walked: readonly Walked[], of: (world: Walked) => number): number {
  return walked.reduce((sum, world) => sum + of(world), 0);
}

function tableOf(walked: readonly Walked[]): string[] {
  const total: Walked = {
    world: 'all worlds',
    states: sumOf(walked, (world) => world.states),
    transitions: sumOf(walked, (world) => world.transitions),
    refusals: sumOf(walked, (world) => world.refusals),
    applied: unionOf(walked, (world) => world.applied),
    accepted: unionOf(walked, (world) => world.accepted),
    steps: unionOf(walked, (world) => world.steps),
    faults: [],
    seconds: sumOf(walked, (world) => world.seconds),
  };
  const rows = [...walked, total].map((world) => [
    world.world.padEnd(70),
    String(world.states).padStart(9),
    String(world.transitions).padStart(11),
    String(world.refusals).padStart(9),
    `${world.applied.size}/${world.accepted.size}`.padStart(16),
    `${world.seconds.toFixed(1)} s`.padStart(8),
  ]);
  const head = 'world'.padEnd(70);
  return [`${head}    states transitions  refusals applied/accepted    time`, ...rows.map((row) => row.join(' '))];
}

test('no command in any state of any world breaks a rule, a promise, or the way to rest', async (t) => {
  const walked = await walkAll(SIZE);
  for (const line of tableOf(walked)) t.diagnostic(line);
  for (const { world, faults } of walked) {
    const [first] = faults;
    assert.equal(first, undefined, `${world}: ${first?.says}\n  ${first?.trace.join('\n  ')}`);
  }
  // A world without events has none to park, skip or redo; taken together the worlds leave nothing out.
  const applied = unionOf(walked, (world) => world.applied);
  assert.deepEqual([...applied].sort(), [...COMMAND_NAMES].sort(), 'a command is never applied');
  const accepted = unionOf(walked, (world) => world.accepted);
  assert.deepEqual([...accepted].sort(), [...COMMAND_NAMES].sort(), 'a command is only ever refused');
  const taken = unionOf(walked, (world) => world.steps);
  const untaken = allSteps().filter((step) => !taken.has(step));
  assert.deepEqual(untaken.sort(), [...STEPS_NOT_WALKED].sort(), 'a legal step is never taken');
});
