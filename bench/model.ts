// npm run bench:model: full consumer cycles a second on a file, synchronous=FULL, at 1, 8 and 64 workflows in flight; beside each,
// in the same run and turn by turn, the same statements as a bare node:sqlite loop. Then the cost of a cycle as the store grows.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowId } from '#base';
import { type Engine, openEngine } from '#execution';
import { copyHistory } from '../test/support/old-history.ts';
import { prepareReplay, record } from './recorded.ts';
import { deploy, publish, work } from './workload.ts';

const QUICK = process.argv.includes('--quick');
const IN_FLIGHT = [1, 8, 64];
const ROUNDS = QUICK ? 3 : 7;
const CYCLES_PER_ROUND = QUICK ? 640 : 1_920;
const GROW_CYCLES = 40;
/** Message ids of what the rounds do not take. */
const FIRST = 10_000;
const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));

try {
  console.log(`three durable commits a cycle, synchronous=FULL, ${ROUNDS} rounds, medians\n`);
  console.log('in flight   engine/s   bare/s   engine:bare   statements/cycle   commits/cycle/workflow');
  for (const inFlight of IN_FLIGHT) await compare(inFlight);
  console.log('\nas the store grows (8 in flight)');
  await grow('stored events', QUICK ? [1_000, 100_000] : [1_000, 1_000_000], (count) => ({
    events: count,
    workflows: 10,
  }));
  await grow('workflows', QUICK ? [10, 1_000] : [10, 10_000], (count) => ({ events: 1_000, workflows: count }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function compare(inFlight: number): Promise<void> {
  const cycles = Math.ceil(CYCLES_PER_ROUND / inFlight);
  const engineMs: number[] = [];
  const bareMs: number[] = [];
  let statements = 0;
  let commits = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = join(folder, `${inFlight}-${round}`);
    const { workflows } = await filled(start, inFlight, cycles);
    for (const copy of ['timed', 'recorded', 'bare']) cpSync(start, `${start}-${copy}`, { recursive: true });
    engineMs.push(await timed(`${start}-timed`, workflows, cycles));
    const { introduction, made } = await recorded(`${start}-recorded`, workflows, cycles);
    const bare = join(`${start}-bare`, 'pawl.db');
    const replay = prepareReplay(bare, introduction, made);
    const startedAt = performance.now();
    replay.run();
    bareMs.push(performance.now() - startedAt);
    replay.close();
    statements = made.length / (inFlight * cycles);
    commits = replay.commits / cycles;
    for (const copy of ['', '-timed', '-recorded', '-bare'])
      rmSync(`${start}${copy}`, { recursive: true, force: true });
  }
  const perSecond = (ms: number[]) => (inFlight * cycles * 1_000) / median(ms);
  const ratios = engineMs.map((ms, round) => (bareMs[round] ?? 0) / ms);
  const cells = [
    inFlight,
    perSecond(engineMs).toFixed(0),
    perSecond(bareMs).toFixed(0),
    median(ratios).toFixed(2),
    statements.toFixed(1),
    commits.toFixed(1),
  ];
  console.log(cells.map((cell, i) => String(cell).padStart([9, 11, 9, 14, 19, 25][i] ?? 9)).join(''));
}

async function filled(dataDir: string, workflowCount: number, events: number): Promise<{ workflows: WorkflowId[] }> {
  const engine = await openEngine({ dataDir });
  const workflows = await Promise.all(Array.from({ length: workflowCount }, (_, i) => deploy(engine, `w${i}`)));
  await Promise.all(workflows.map((workflow) => publish(engine, workflow, events)));
  await engine.close();
  return { workflows };
}

async function timed(dataDir: string, workflows: readonly WorkflowId[], cycles: number): Promise<number> {
  const engine = await openEngine({ dataDir });
  const startedAt = performance.now();
  await Promise.all(workflows.map((workflow) => work(engine, workflow, cycles)));
  const ms = performance.now() - startedAt;
  await engine.close();
  return ms;
}

/** The statements of the work, and before them the one that introduces the engine itself, which the work's rows refer to. */
async function recorded(dataDir: string, workflows: readonly WorkflowId[], cycles: number) {
  let engine: Engine | undefined;
  const opening = await record(async () => {
    engine = await openEngine({ dataDir });
  });
  const opened = engine as unknown as Engine;
  const made = await record(async () => {
    await Promise.all(workflows.map((workflow) => work(opened, workflow, cycles)));
  });
  await opened.close();
  return { introduction: opening.filter(({ text }) => /^insert into workers/i.test(text)), made };
}

interface Size {
  readonly events: number;
  readonly workflows: number;
}

/** The same cycles on a small and a large store, turn by turn. */
async function grow(what: string, counts: readonly number[], sizeOf: (count: number) => Size): Promise<void> {
  const worlds = await Promise.all(
    counts.map(async (count) => ({ count, ...(await world(`${what}-${count}`, sizeOf(count))), ms: [] as number[] })),
  );
  for (let round = 0; round < ROUNDS; round++) {
    for (const { engine, busy, ms } of worlds) {
      const startedAt = performance.now();
      await Promise.all(busy.map((workflow) => work(engine, workflow, GROW_CYCLES, round * GROW_CYCLES)));
      ms.push((performance.now() - startedAt) / (busy.length * GROW_CYCLES));
    }
  }
  const [small, large] = worlds;
  if (!small || !large) return;
  const ratio = median(large.ms) / median(small.ms);
  for (const { count, ms } of worlds)
    console.log(`  ${String(count).padStart(9)} ${what}: ${(median(ms) * 1_000).toFixed(0)} µs a cycle`);
  console.log(`  ratio ${ratio.toFixed(2)} (aim: within 1.5)`);
  for (const { engine } of worlds) await engine.close();
}

/**
 * Half of what is stored was done long ago, with its runs and calls, the other half waits; all of it in the same few workflows: the worst
 * neighbours a query can have.
 */
async function world(name: string, size: Size): Promise<{ engine: Engine; busy: WorkflowId[] }> {
  const dataDir = join(folder, name);
  const before = await openEngine({ dataDir });
  const workflows: WorkflowId[] = [];
  for (let i = 0; i < size.workflows; i += 64) {
    const names = Array.from({ length: Math.min(64, size.workflows - i) }, (_, j) => `w${i + j}`);
    workflows.push(...(await Promise.all(names.map((workflow) => deploy(before, workflow)))));
  }
  const busy = workflows.slice(0, 8);
  await Promise.all(busy.map((workflow) => publish(before, workflow, 1, 'in', FIRST)));
  await Promise.all(busy.map((workflow) => work(before, workflow, 1, FIRST)));
  await before.close();
  const half = Math.ceil(size.events / busy.length / 2);
  copyHistory(join(dataDir, 'pawl.db'), half);
  const engine = await openEngine({ dataDir });
  await Promise.all(busy.map((workflow) => publish(engine, workflow, ROUNDS * GROW_CYCLES)));
  await Promise.all(busy.map((workflow) => publish(engine, workflow, half, 'in', FIRST + 1)));
  return { engine, busy };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
