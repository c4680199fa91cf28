// npm run bench:process: the real `pawl start` as a process of its own. How soon it is ready, what it takes of memory over 50,000
// events, and what it does with 1,000 workflows when there is nothing to do. Linux only: it reads /proc.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deploy, startApp } from '#app';
import { openReader } from '#store';

const QUICK = process.argv.includes('--quick');
const EVENTS = QUICK ? 5_000 : 50_000;
const WORKFLOWS = 8;
const IDLE_WORKFLOWS = QUICK ? 100 : 1_000;
const IDLE_MS = 10_000;
const SAMPLES = 10;
const STARTS = 5;
const AIMS = { readyMs: 1_000, mainMb: 150, childMb: 80, idleShare: 0.01, growth: 1.25 };
/** The API takes at most 2 MiB and 1,000 events a request. */
const PUBLISHED_AT_ONCE = 500;
const PATIENCE_MS = 1_200_000;

const folder = mkdtempSync(join(tmpdir(), 'pawl-process-'));
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(201, { 'content-type': 'application/json' }).end('{"ref":1}'));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const connections = { shop: { type: 'http', baseUrl, timeoutMs: 10_000, visibilityMs: 0, concurrency: 64 } };
const config = join(folder, 'pawl.config.ts');
writeFileSync(config, `export default ${JSON.stringify({ connections })};\n`);

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  readonly readyMs: number;
}

try {
  await soak();
  await idle();
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}

async function soak(): Promise<void> {
  const dataDir = join(folder, 'soak');
  await fill(dataDir, WORKFLOWS);
  const starts: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const started = await start(dataDir);
    starts.push(started.readyMs);
    await stop(started);
  }
  tell('ready after', median(starts), 'ms', AIMS.readyMs);
  const running = await start(dataDir);
  console.log(`\n${EVENTS} events through ${WORKFLOWS} workflows; resident memory in MB`);
  console.log('   events   main   largest child   children');
  const mains: number[] = [];
  let largest = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    await work(running, dataDir, sample);
    const { main, children } = memoryOf(running.child.pid ?? 0);
    const child = Math.max(0, ...children);
    mains.push(main);
    largest = Math.max(largest, child);
    const cells = [((sample + 1) * EVENTS) / SAMPLES, main.toFixed(0), child.toFixed(0), children.length];
    console.log(cells.map((cell, i) => String(cell).padStart([9, 7, 16, 11][i] ?? 9)).join(''));
  }
  tell('main process at most', Math.max(...mains), 'MB', AIMS.mainMb);
  tell('a child at most', largest, 'MB', AIMS.childMb);
  tell('last samples : middle ones', median(mains.slice(-3)) / median(mains.slice(3, 6)), '×', AIMS.growth);
  await stop(running);
}

async function idle(): Promise<void> {
  const dataDir = join(folder, 'idle');
  await fill(
    dataDir,
    IDLE_WORKFLOWS,
    `.producer('poll', { publishes: ['in'], schedule: { interval: '1d' }, handler() {} })`,
  );
  const running = await start(dataDir);
  console.log(`\n${IDLE_WORKFLOWS} workflows`);
  tell('ready after', running.readyMs, 'ms', AIMS.readyMs);
  await settled(dataDir);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const before = cpuMsOf(running.child.pid ?? 0);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const share = (cpuMsOf(running.child.pid ?? 0) - before) / IDLE_MS;
  tell('share of a core while idle', share, '', AIMS.idleShare);
  tell('main process', memoryOf(running.child.pid ?? 0).main, 'MB', AIMS.mainMb);
  await stop(running);
}

async function fill(dataDir: string, count: number, producer = ''): Promise<void> {
  const app = await startApp({ dataDir, config: { connections } });
  for (let i = 0; i < count; i++) {
    const file = join(folder, 'workflow.ts');
    writeFileSync(file, script(`w${i}`, producer));
    await deploy(app, file, { by: 'bench' });
  }
  await app.stop();
}

function script(name: string, producer: string): string {
  return `import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({ name: '${name}', uses: { shop: 'http' }, topics: { in: topic<{ id: string }>() } })${producer}
  .consumer('work', { subscribe: ['in'], state: { count: 0 },
    async prepare(ctx, state) {
      const [e] = await ctx.peek('in', { limit: 1 });
      if (!e) return ctx.idle();
      return ctx.take(e, { data: { id: e.payload.id, count: state.count + 1 }, title: 'Book ' + e.payload.id });
    },
    async mutate(ctx, { data }) { return ctx.shop.post({ path: '/bookings', json: data }); },
    async next(_ctx, { data }) { return { count: data.count }; },
  });
`;
}

function start(dataDir: string): Promise<Running> {
  const startedAt = performance.now();
  const root = join(import.meta.dirname, '..');
  // As bin/pawl.js starts it.
  const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2', '--heap-growing-percent=20'];
  const argv = [...flags, join(root, 'src', 'main.ts'), 'start', '--config', config, '--data', dataDir, '--port', '0'];
  const cache = join(root, 'node_modules', '.cache', 'pawl');
  const frugal = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TRIM_THRESHOLD_: '131072' };
  const env = { ...process.env, ...frugal, NODE_COMPILE_CACHE: cache };
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the engine ended with ${code}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      const [, url] = /^pawl ready (\S+)/m.exec(chunk.toString()) ?? [];
      if (url !== undefined) resolve({ child, url, readyMs: performance.now() - startedAt });
    });
  });
}

function stop({ child }: Running): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** One share of the events, published over the API, until all of them are done. */
async function work({ url }: Running, dataDir: string, sample: number): Promise<void> {
  const token = readFileSync(join(dataDir, 'token'), 'utf8').trim();
  const each = EVENTS / SAMPLES / WORKFLOWS;
  for (let w = 0; w < WORKFLOWS; w++) {
    for (let from = 0; from < each; from += PUBLISHED_AT_ONCE) {
      const events = Array.from({ length: Math.min(PUBLISHED_AT_ONCE, each - from) }, (_, i) => {
        const id = `${sample}-${from + i}`;
        return { topic: 'in', messageId: id, payload: { id, note: 'an order of ordinary size '.repeat(4) } };
      });
      const answer = await fetch(`${url}/api/workflows/w${w}/publish`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ events }),
      });
      if (!answer.ok) throw new Error(await answer.text());
    }
  }
  await settled(dataDir);
}

/** Nothing is pending, reserved or under way. */
async function settled(dataDir: string): Promise<void> {
  const reader = openReader(dataDir);
  const until = performance.now() + PATIENCE_MS;
  try {
    while (performance.now() < until) {
      const open = reader.offenders(`SELECT 1 AS open FROM workflows WHERE due_at <= ${Date.now()}
        UNION ALL SELECT 1 FROM executions WHERE status IN ('requested', 'scheduling', 'scheduled', 'running') LIMIT 1`);
      if (open.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    reader.close();
  }
  throw new Error('the engine did not come to rest');
}

/** Resident memory in MB of a process and of each of its children. */
function memoryOf(pid: number): { main: number; children: number[] } {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return { main: residentMb(pid), children: children.map(residentMb) };
}

function residentMb(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib ?? 0) / 1_024;
}

/** User and system time, in ticks of 10 ms. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function tell(what: string, value: number, unit: string, aim: number): void {
  const isMet = value <= aim;
  if (!isMet) process.exitCode = 1;
  const shown = value >= 10 ? value.toFixed(0) : value.toFixed(3);
  console.log(`${what}: ${shown} ${unit} (aim: at most ${aim}${isMet ? '' : ', MISSED'})`);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
