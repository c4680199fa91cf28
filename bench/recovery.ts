// npm run bench:recovery: how long a start takes after a death with 10,000 interrupted runs among 1,000,000 stored events.
// A child process builds that state through the one door and is then killed; this one opens the folder and recovers.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowId } from '#base';
import { openEngine } from '#execution';
import { INVARIANTS } from '#model';
import { applied, begin, call, deploy, publish } from './workload.ts';

const QUICK = process.argv.includes('--quick');
const RUNS = QUICK ? 1_000 : 10_000;
const EVENTS = QUICK ? 100_000 : 1_000_000;
const TOGETHER = 64;
const READY_MS_AIM = 5_000;

const built = process.argv.at(-1);
if (process.argv.includes('--build') && built !== undefined) await build(built);
else await measure();

async function measure(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-recovery-'));
  try {
    console.log(`building ${RUNS} interrupted runs among ${EVENTS} stored events, then SIGKILL …`);
    await buildAndKill(dataDir);
    const startedAt = performance.now();
    const engine = await openEngine({ dataDir });
    const ms = performance.now() - startedAt;
    console.log(
      `recovered ${engine.recovered.runs} runs, ready in ${(ms / 1_000).toFixed(2)} s (aim: under ${READY_MS_AIM / 1_000} s)`,
    );
    const found = await Promise.all(INVARIANTS.map(({ sql }) => engine.reader.offenders(sql)));
    const broken = INVARIANTS.filter((_, i) => (found[i]?.length ?? 0) > 0);
    console.log(
      broken.length === 0
        ? `all ${INVARIANTS.length} invariants hold`
        : `BROKEN: ${broken.map(({ name }) => name).join(', ')}`,
    );
    await engine.close();
    if (engine.recovered.runs !== RUNS || broken.length > 0 || ms > READY_MS_AIM) process.exitCode = 1;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function buildAndKill(dataDir: string): Promise<void> {
  const args = [...process.execArgv, import.meta.filename, ...(QUICK ? ['--quick'] : []), '--build', dataDir];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const signal = await new Promise((resolve) => child.once('exit', (_code, by) => resolve(by)));
  if (signal !== 'SIGKILL') throw new Error(`building ended otherwise than planned: ${String(signal)}`);
}

/** A third of the runs is preparing, a third has its call in flight, a third is past it. */
async function build(dataDir: string): Promise<void> {
  const engine = await openEngine({ dataDir });
  const each = Math.ceil(EVENTS / RUNS);
  for (let from = 0; from < RUNS; from += TOGETHER) {
    const numbers = Array.from({ length: Math.min(TOGETHER, RUNS - from) }, (_, i) => from + i);
    await Promise.all(
      numbers.map(async (number) => {
        const workflow: WorkflowId = await deploy(engine, `w${number}`);
        await publish(engine, workflow, each);
        const working = await begin(engine, workflow);
        if (number % 3 === 0) return;
        const mutation = await call(engine, working, '0');
        if (number % 3 === 1) await applied(engine, working, mutation);
      }),
    );
  }
  process.kill(process.pid, 'SIGKILL');
}
