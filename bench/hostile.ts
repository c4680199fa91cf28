// npm run bench:hostile: what one hostile script costs the others. Workflows at a quarter of their peak load, turn by turn calm and
// beside a script that loops, allocates, recurses or floods without pause, in one engine and one run; the ratios of their p99 are what is
// asked for, of all rounds together, and of each round to the calm one before it: a hiccup of the machine is a whole p99 of its round.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, deployCode, startApp } from '#app';
import type { WorkflowId } from '#base';

const QUICK = process.argv.includes('--quick');
const WORKFLOWS = 16;
const PEAK_EVENTS = QUICK ? 480 : 1_600;
const ROUNDS = QUICK ? 2 : 6;
const ROUND_MS = QUICK ? 3_000 : 8_000;
const SHARE_OF_PEAK = 1 / 4;
const BY = 'bench';
const SOURCE_MAP = JSON.stringify({ version: 3, sources: ['bench.js'], names: [], mappings: '' });

const HOSTILE: Readonly<Record<string, string>> = {
  loops: 'for (;;);',
  'never looks up': "Array(2 ** 30).join('');",
  allocates: 'const all = []; for (;;) all.push(new Uint8Array(1e5).fill(1));',
  recurses: 'const f = () => { try { f(); } catch { f(); } }; f();',
  'floods with events':
    "for (let i = 0; ; i++) ctx.publish('out', { messageId: 'x' + i, payload: 'x'.repeat(20_000) });",
  'floods with calls': "for (;;) ctx.shop.get({ path: '/', query: { x: 'x'.repeat(1_000) } });",
};

const folder = mkdtempSync(join(tmpdir(), 'pawl-hostile-'));
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"ref":"b1"}');
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const shop = { type: 'http', timeoutMs: 10_000, visibilityMs: 0, concurrency: 64, baseUrl };
const app = await startApp({
  dataDir: join(folder, 'data'),
  config: { connections: { shop } },
  onError: console.error,
});
let sent = 0;
let childMbMax = 0;
const watch = setInterval(() => {
  childMbMax = Math.max(childMbMax, ...app.sandbox.pids.map(rssMb));
}, 200);

try {
  const workflows: WorkflowId[] = [];
  for (let i = 0; i < WORKFLOWS; i++) workflows.push(await deployed(app, `w${i}`, honest));
  await peakOf(workflows);
  const perSecond = (await peakOf(workflows)) * SHARE_OF_PEAK;
  console.log(
    `${WORKFLOWS} workflows, ${perSecond.toFixed(0)} events/s, a quarter of their peak; ${ROUNDS} rounds each\n`,
  );
  const calm: number[] = [];
  const beside = new Map<string, Beside>();
  const attackers = new Map<string, WorkflowId>();
  for (const [kind, body] of Object.entries(HOSTILE)) attackers.set(kind, await attacker(kind, body));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [kind, workflow] of attackers) {
      const before = await paced(workflows, perSecond);
      calm.push(...before);
      const attack = attacking(workflow);
      const waits = await paced(workflows, perSecond);
      const known = beside.get(kind) ?? { waits: [], ratios: [], count: 0 };
      beside.set(kind, {
        waits: [...known.waits, ...waits],
        ratios: [...known.ratios, at(waits, 0.99) / at(before, 0.99)],
        count: known.count + (await attack.end()),
      });
    }
  }
  report(calm, beside);
} finally {
  clearInterval(watch);
  await app.stop();
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}

interface Beside {
  readonly waits: readonly number[];
  /** Round by round. */
  readonly ratios: readonly number[];
  readonly count: number;
}

function report(calm: readonly number[], beside: ReadonlyMap<string, Beside>): void {
  console.log('                                              all rounds        a round by the calm one before it');
  console.log('beside a script that       attacks   p50 ms   p99 ms   p99 : calm         median      largest');
  const line = (what: string, waits: readonly number[], count = '', ...ratios: readonly string[]) => {
    const times = [at(waits, 0.5), at(waits, 0.99)].map((ms) => ms.toFixed(1).padStart(9)).join('');
    console.log(`${what.padEnd(24)}${count.padStart(10)}${times}${ratios.map((ratio) => ratio.padStart(13)).join('')}`);
  };
  line('(calm)', calm);
  for (const [kind, { waits, ratios, count }] of beside) {
    const all = [at(waits, 0.99) / at(calm, 0.99), at(ratios, 0.5), Math.max(...ratios)];
    line(kind, waits, String(count), ...all.map((ratio) => ratio.toFixed(2)));
  }
  const mainMb = process.memoryUsage().rss / 1_048_576;
  console.log(
    `\nmain process ${mainMb.toFixed(0)} MB (bench included), the largest child at any moment ${childMbMax.toFixed(0)} MB`,
  );
}

function honest(name: string): string {
  return `globalThis.__pawl_workflow = { name: '${name}', uses: { shop: 'http' }, topics: { in: {} }, producers: {}, consumers: { work: {
    subscribe: ['in'], publishes: [],
    async prepare(ctx, state) {
      const [e] = await ctx.peek('in', { limit: 1 });
      if (!e) return ctx.idle();
      return ctx.take(e, { data: { id: e.payload.id, count: (state?.count ?? 0) + 1 }, title: 'Book ' + e.payload.id });
    },
    async mutate(ctx, { data }) { return ctx.shop.post({ path: '/bookings', json: data }); },
    async next(_ctx, { data }) { return { count: data.count }; },
  } } };`;
}

async function deployed(to: App, name: string, code: (name: string) => string): Promise<WorkflowId> {
  const { workflow } = await deployCode(to, { name, code: code(name), sourceMap: SOURCE_MAP }, { by: BY });
  return workflow;
}

/** A hostile script, deployed and found out: it has run once, and waits for somebody to look at it. */
async function attacker(kind: string, body: string): Promise<WorkflowId> {
  const workflow = await deployed(app, kind.replaceAll(' ', '-'), (name) => {
    return `globalThis.__pawl_workflow = { name: '${name}', uses: { shop: 'http' }, topics: { out: {} }, consumers: {},
      producers: { h: { publishes: ['out'], schedule: { interval: '1d' }, async handler(ctx) { ${body} } } } };`;
  });
  await stoppedAgain(workflow);
  return workflow;
}

/** Somebody who lets it go on each time it was stopped, without a pause, until they are told to end; gives how often. */
function attacking(workflow: WorkflowId): { end(): Promise<number> } {
  let isOver = false;
  const attack = async (): Promise<number> => {
    let count = 0;
    for (; !isOver; count++) {
      await app.engine.manager.exitMaintenanceMode(workflow, BY, false);
      await app.engine.manager.requestExecution(workflow, 'manual', BY);
      await stoppedAgain(workflow);
    }
    return count;
  };
  const done = attack();
  return {
    end: () => {
      isOver = true;
      return done;
    },
  };
}

function stoppedAgain(workflow: WorkflowId): Promise<void> {
  return until(async () => (await app.engine.reader.fetch('workflow', workflow))[0]?.maintenance === true);
}

/** Events a second when everything is published at once. */
async function peakOf(workflows: readonly WorkflowId[]): Promise<number> {
  const startedAt = performance.now();
  const each = Math.ceil(PEAK_EVENTS / workflows.length);
  const ids = workflows.map((workflow) => ({ workflow, last: '' }));
  for (const one of ids) {
    const publishes = Array.from({ length: each }, () => event());
    one.last = publishes.at(-1)?.messageId ?? '';
    await app.engine.manager.publishEvents(one.workflow, publishes, BY);
  }
  await until(async () => {
    const consumed = await Promise.all(ids.map(({ workflow, last }) => isConsumed(workflow, last)));
    return !consumed.includes(false);
  });
  return (each * workflows.length * 1_000) / (performance.now() - startedAt);
}

/** One event at a time, at this rate, for the time of a round: how long each took from publish to commit, in milliseconds. */
async function paced(workflows: readonly WorkflowId[], perSecond: number): Promise<number[]> {
  const startedAt = performance.now();
  const waiting: Promise<number>[] = [];
  for (let i = 0; performance.now() - startedAt < ROUND_MS; i++) {
    waiting.push(waitOf(workflows[i % workflows.length] as WorkflowId));
    const waitMs = startedAt + ((i + 1) * 1_000) / perSecond - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, waitMs)));
  }
  return Promise.all(waiting);
}

async function waitOf(workflow: WorkflowId): Promise<number> {
  const startedAt = performance.now();
  const published = event();
  await app.engine.manager.publishEvents(workflow, [published], BY);
  await until(() => isConsumed(workflow, published.messageId));
  return performance.now() - startedAt;
}

function event(): { topic: string; messageId: string; payload: string } {
  const id = String(++sent);
  return { topic: 'in', messageId: id, payload: JSON.stringify({ id }) };
}

async function isConsumed(workflow: WorkflowId, messageId: string): Promise<boolean> {
  return (await app.engine.reader.fetch('eventKeyed', workflow, 'in', messageId))[0]?.status === 'consumed';
}

/** Looks again after each commit of a run or a workflow. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  if (await holds()) return;
  await new Promise<void>((resolve, reject) => {
    const look = async (): Promise<void> => {
      if (!(await holds())) return;
      stop();
      resolve();
    };
    const stop = app.engine.listen((changes) => {
      if (changes.some(({ kind }) => kind === 'run' || kind === 'workflow')) look().catch(reject);
    });
  });
}

function at(waits: readonly number[], share: number): number {
  const sorted = waits.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

function rssMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
