// npm run bench: whole workflows: real sandbox, real HTTP effect on loopback, a file with synchronous=FULL, at 1 and 32 workflows.
// Beside it, turn by turn in the same run, a bare loop that makes the same sandbox calls, the same HTTP calls and the same durable
// writes, and nothing else.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, deploy, startApp } from '#app';
import type { RunId, ScriptId, WorkflowId } from '#base';
import { type Connections, openConnections } from '#connector';
import { createSandboxPool, type SandboxPool, type SandboxRequest } from '#sandbox';
import { Disk, record, type Tape, transactionsOf } from './recorded.ts';

const QUICK = process.argv.includes('--quick');
const IN_FLIGHT = [1, 32];
const EVENTS = QUICK ? 320 : 1_280;
const ROUNDS = QUICK ? 3 : 5;
const PACED = QUICK ? 100 : 400;
const SETTINGS = { type: 'http', timeoutMs: 10_000, visibilityMs: 0, concurrency: 64 } as const;

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"ref":"b1"}');
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const config = { connections: { shop: { ...SETTINGS, baseUrl } } };

try {
  console.log(
    `${EVENTS} events a round, ${ROUNDS} rounds, medians; one event = prepare, mutate, POST, next, and what makes them durable\n`,
  );
  console.log('workflows   engine/s   bare/s   engine:bare   p50 ms   p99 ms');
  for (const inFlight of IN_FLIGHT) await compare(inFlight);
  const { rss } = process.memoryUsage();
  console.log(`\nmain process ${(rss / 1_048_576).toFixed(0)} MB (bench included)`);
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}

function script(name: string): string {
  return `import { defineWorkflow, topic } from 'pawl';
export default defineWorkflow({ name: '${name}', uses: { shop: 'http' }, topics: { in: topic<{ id: string }>() } })
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

async function compare(inFlight: number): Promise<void> {
  const rates: number[] = [];
  const bareRates: number[] = [];
  const start = join(folder, `start-${inFlight}`);
  const codes = await deployed(start, inFlight);
  const tape = await recordedTape(start, inFlight);
  // The first round of each is for the compiler of the machine's own code, and not counted.
  for (let round = -1; round < ROUNDS; round++) {
    const engineMs = await onCopy(start, (dataDir) => engineRound(dataDir, inFlight));
    const bareMs = await onCopy(start, (dataDir) => bareRound(dataDir, inFlight, codes, tape));
    if (round < 0) continue;
    rates.push((EVENTS * 1_000) / engineMs);
    bareRates.push((EVENTS * 1_000) / bareMs);
  }
  const waits = await onCopy(start, (dataDir) => paced(dataDir, median(rates) / 4));
  const at = (share: number) => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(0);
  const ratios = rates.map((rate, i) => rate / (bareRates[i] ?? 1));
  const cells = [
    inFlight,
    median(rates).toFixed(0),
    median(bareRates).toFixed(0),
    median(ratios).toFixed(2),
    at(0.5),
    at(0.99),
  ];
  console.log(cells.map((cell, i) => String(cell).padStart([9, 11, 9, 14, 9, 9][i] ?? 9)).join(''));
}

async function onCopy<T>(start: string, act: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = `${start}-copy`;
  cpSync(start, dataDir, { recursive: true });
  try {
    return await act(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** A data folder with the workflows in it, and nothing to do. */
async function deployed(dataDir: string, count: number): Promise<string[]> {
  const app = await startApp({ dataDir, config });
  const codes: string[] = [];
  for (let i = 0; i < count; i++) {
    const file = join(folder, `w${i}.ts`);
    writeFileSync(file, script(`w${i}`));
    codes.push((await deploy(app, file, { by: 'bench' })).compiled.code);
  }
  await app.stop();
  return codes;
}

async function engineRound(dataDir: string, inFlight: number): Promise<number> {
  const app = await startApp({ dataDir, config });
  await warm(app.sandbox, await loadedScripts(app));
  const startedAt = performance.now();
  await workOff(app, inFlight);
  const ms = performance.now() - startedAt;
  await app.stop();
  return ms;
}

interface Loaded {
  readonly scriptId: string;
  readonly code: string;
}

async function loadedScripts({ engine }: App): Promise<Loaded[]> {
  const scripts = await engine.reader.table('scripts');
  const code = async (id: ScriptId): Promise<string> => (await engine.reader.scriptCode(id))?.code ?? '';
  return Promise.all(scripts.map(async ({ id }) => ({ scriptId: id, code: await code(id) })));
}

/** Children are started and know the scripts, on either side: starting them is not what is compared. */
async function warm(sandbox: SandboxPool, scripts: readonly Loaded[]): Promise<void> {
  for (const script of scripts) {
    const call = { ...script, handler: 'work', runId: 'warm', startedAt: 0, uses: ['shop'], phase: 'prepare' as const };
    const onCall = async () => '[]';
    await Promise.all([1, 2].map(() => sandbox.run({ ...call, args: '[{"count":1}]', onCall })));
  }
}

async function recordedTape(start: string, inFlight: number): Promise<Tape> {
  return onCopy(start, async (dataDir) => {
    let app: App | undefined;
    const introduction = (
      await record(async () => {
        app = await startApp({ dataDir, config });
      })
    ).filter(({ text }) => /^insert into workers/i.test(text));
    const opened = app as unknown as App;
    const made = await record(() => workOff(opened, inFlight));
    await opened.stop();
    return { introduction, transactions: transactionsOf(made) };
  });
}

/** Everything published at once, shared out evenly, until the last commit. */
async function workOff(app: App, inFlight: number): Promise<void> {
  const workflows = (await app.engine.reader.table('workflows')).map(({ id }) => id);
  const each = Math.ceil(EVENTS / inFlight);
  const done = new Promise<void>((resolve, reject) => {
    let left = each * inFlight;
    const count = async (run: RunId): Promise<void> => {
      if ((await app.engine.reader.fetch('run', run))[0]?.status !== 'committed' || --left > 0) return;
      stop();
      resolve();
    };
    const stop = app.engine.listen((changes) => {
      for (const { kind, id } of changes) if (kind === 'run') count(id as RunId).catch(reject);
    });
  });
  await Promise.all(workflows.map((workflow) => publishSome(app, workflow, each)));
  await done;
}

async function publishSome(app: App, workflow: WorkflowId, count: number, from = 0): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    const publishes = Array.from({ length: Math.min(500, count - done) }, (_, i) => {
      const id = String(from + done + i);
      return { topic: 'in', messageId: id, payload: JSON.stringify({ id }) };
    });
    await app.engine.manager.publishEvents(workflow, publishes, 'bench');
  }
}

/** A quarter of the peak, one event at a time: how long one waits from publish to commit, in milliseconds. */
async function paced(dataDir: string, perSecond: number): Promise<number[]> {
  const app = await startApp({ dataDir, config });
  await warm(app.sandbox, await loadedScripts(app));
  const workflows = (await app.engine.reader.table('workflows')).map(({ id }) => id);
  const startedAt = performance.now();
  for (let i = 0; i < PACED; i++) {
    const workflow = workflows[i % workflows.length] as WorkflowId;
    await publishSome(app, workflow, 1, i);
    const waitMs = startedAt + ((i + 1) * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  while ((await app.engine.reader.table('events')).some(({ status }) => status !== 'consumed'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const ends = new Map((await app.engine.reader.table('handler_runs')).map((run) => [run.id, run.endTimestamp ?? 0]));
  const waits = (await app.engine.reader.table('events')).map(
    (event) => (ends.get(event.reservedByRunId as RunId) ?? 0) - event.createdAt,
  );
  await app.stop();
  return waits.sort((a, b) => a - b);
}

/** The same sandbox calls, HTTP calls and durable writes, by loops that know nothing of what they write. */
async function bareRound(dataDir: string, inFlight: number, codes: readonly string[], tape: Tape): Promise<number> {
  const sandbox = createSandboxPool();
  const connections = openConnections(config);
  const disk = new Disk(join(dataDir, 'pawl.db'), tape);
  await warm(
    sandbox,
    codes.map((code, number) => ({ scriptId: `s${number}`, code })),
  );
  const each = Math.ceil(EVENTS / inFlight);
  const startedAt = performance.now();
  await Promise.all(
    codes.slice(0, inFlight).map(async (code, number) => {
      await bareEvents(sandbox, connections, disk, { code, scriptId: `s${number}` }, each);
    }),
  );
  disk.finish();
  const ms = performance.now() - startedAt;
  await sandbox.close();
  await connections.close();
  return ms;
}

/** As the engine does it: the next event is prepared behind the `next` of the one before, and both are one commit. */
async function bareEvents(
  sandbox: SandboxPool,
  connections: Connections,
  disk: Disk,
  script: Loaded,
  count: number,
): Promise<void> {
  let prepared = await sandbox.run(bareRequest(script, 0, 'prepare', '[{"count":1}]'));
  await disk.commit();
  for (let i = 0; i < count; i++) {
    if (prepared.kind !== 'returned' || !prepared.mutate?.call) throw new Error(JSON.stringify(prepared));
    const { connection, method, params } = prepared.mutate.call;
    const outcome = await connections.mutate(connection, method, JSON.parse(params), {
      idempotencyKey: String(i),
      deadline: Date.now() + 10_000,
    });
    if (outcome.kind !== 'applied') throw new Error(JSON.stringify(outcome));
    const args = `[${prepared.result},{"status":"applied","result":${JSON.stringify(outcome.result)}}]`;
    const following = i + 1 < count ? bareRequest(script, i + 1, 'prepare', '[{"count":1}]') : undefined;
    const next = await sandbox.run({ ...bareRequest(script, i, 'next', args), following });
    if (next.kind !== 'returned') throw new Error(JSON.stringify(next));
    if (next.following) prepared = await next.following;
    await disk.commit();
  }
}

function bareRequest(script: Loaded, position: number, phase: 'prepare' | 'next', args: string): SandboxRequest {
  const id = String(position);
  const answer = JSON.stringify([{ topic: 'in', messageId: id, payload: { id }, createdAt: 0 }]);
  const foreseen = { args: '["in",{"limit":1}]', answer, onTaken: () => undefined };
  return {
    ...{ ...script, handler: 'work', runId: `run_${id}`, startedAt: Date.now(), uses: ['shop'], phase, args },
    onCall: async () => 'null',
    ...(phase === 'prepare' && { andMutate: true, foreseen }),
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
