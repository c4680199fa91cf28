// npm run bench:fleet: whole workflows on PostgreSQL, at 1 and 32 in flight: the engine as one process that is executor and worker; the same
// statements in the same transactions without the engine; and, turn by turn on the same server, DBOS and graphile-worker with
// the same POST for each event; graphile-worker also with a job that keeps by itself what the others keep. Events are there at once, or come one by one, the next when the one before is done; what DBOS is given always
// comes one by one. Then how long a handoff takes from an executor to a worker. With --growth, instead: what an event costs as the
// database grows (growth.ts); with --idle: what a fleet costs that has nothing to do (idle.ts). --quick is for a first look, --at 32 for one of the two.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client, type Connection, type Submittable } from 'pg';
import { type App, deploy, startApp } from '#app';
import type { WorkflowId } from '#base';
import { startOwnPostgres } from '../test/support/postgres-server.ts';
import { growth } from './growth.ts';
import { idle } from './idle.ts';

const QUICK = process.argv.includes('--quick');
const EVENTS = QUICK ? 320 : 1_280;
/** Before the clock starts, of whoever is measured: what runs for weeks is not to be judged by its first seconds, while its code is compiled. */
const WARM = QUICK ? 960 : 1_920;
const ROUNDS = QUICK ? 2 : 5;
const HANDOFFS = QUICK ? 60 : 300;
const AT = process.argv.includes('--at') ? [Number(process.argv[process.argv.indexOf('--at') + 1])] : [1, 32];
type Intake = 'at once' | 'one by one';
type Hand = (app: App, workflow: WorkflowId, count: number, prefix?: string) => Promise<void>;

const OPEN = `SELECT id FROM events WHERE status <> 'consumed' LIMIT 1`;
/** What was decided on what a process remembers is refused a second later; on the tape it is as it was then. */
const AT_ANY_TIME = `CREATE OR REPLACE FUNCTION pawl_as_known(known_guarded bigint, known_guards text, decided_at bigint)
  RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT last_value FROM pawl_guarded) <> known_guarded OR (SELECT guards FROM schema_version) <> known_guards THEN
      RAISE EXCEPTION 'not as it was known';
    END IF;
    RETURN decided_at;
  END $$`;

const OTHERS = join(import.meta.dirname, 'others');
const SETTINGS = { type: 'http', timeoutMs: 10_000, visibilityMs: 0, concurrency: 64 } as const;

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-fleet-'));
let seen = 0;
const effects = spawn(process.execPath, [join(OTHERS, 'effects.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
const [port] = await once(effects.stdout, 'data');
const baseUrl = `http://127.0.0.1:${String(port).trim()}`;
effects.stdout.on('data', (dots: Buffer) => {
  seen += dots.length;
  effects.emit('seen');
});
const config = { connections: { shop: { ...SETTINGS, baseUrl } } };
// On the disk: what a commit costs is a part of what is measured.
const server = await startOwnPostgres(tmpdir());
let databases = 0;
const made = new Set<string>();

try {
  if (process.argv.includes('--growth')) await grow();
  else if (process.argv.includes('--idle')) await idle(QUICK);
  else await compareAll();
} finally {
  await server.stop();
  effects.stdin.end();
  rmSync(folder, { recursive: true, force: true });
}

async function compareAll(): Promise<void> {
  console.log(
    `${EVENTS} events a round, ${ROUNDS} rounds, medians; one event = one POST and everything that makes it durable\n`,
  );
  console.log(
    'in flight   events come   engine/s   bare/s   DBOS/s   graphile/s   with a ledger/s   commits   round trips',
  );
  for (const intake of ['at once', 'one by one'] as const) {
    for (const inFlight of AT) await compare(inFlight, intake);
  }
  if (AT.includes(32)) await handOffs();
}

function grow(): Promise<void> {
  return growth({
    server,
    deployed,
    start,
    publish: (app, workflow, prefix) => publish(app, workflow, 1, prefix),
    called: async (count) => {
      for (const aim = seen + count; seen < aim; ) await once(effects, 'seen');
    },
    isQuick: QUICK,
  });
}

async function compare(inFlight: number, intake: Intake): Promise<void> {
  const start = await deployed(inFlight);
  const rates = {
    engine: [] as number[],
    bare: [] as number[],
    dbos: [] as number[],
    graphile: [] as number[],
    ledger: [] as number[],
  };
  const tape = await onCopy(start, (url) => recorded(() => engineRound(url, inFlight, intake)));
  const others = installed();
  for (let round = 0; round < ROUNDS; round++) {
    rates.engine.push((EVENTS * 1_000) / (await onCopy(start, (url) => engineRound(url, inFlight, intake))));
    rates.bare.push(((WARM + EVENTS) * 1_000) / (await onCopy(start, (url) => replay(url, tape))));
    if (!others) continue;
    const rateOf = async (program: string, keeps = 'nothing') =>
      (EVENTS * 1_000) / (await onCopy('template1', (url) => other(program, url, inFlight, intake, keeps)));
    rates.dbos.push(await rateOf('dbos.mjs'));
    rates.graphile.push(await rateOf('graphile.mjs'));
    rates.ledger.push(await rateOf('graphile.mjs', 'ledger'));
  }
  const cells = [
    inFlight,
    intake,
    ...Object.values(rates).map((each) => (each.length === 0 ? '–' : median(each).toFixed(0))),
    (commitsIn(tape) / (WARM + EVENTS)).toFixed(2),
    (tape.length / (WARM + EVENTS)).toFixed(2),
  ];
  console.log(cells.map((cell, i) => String(cell).padStart([9, 14, 11, 9, 9, 13, 18, 10, 14][i] ?? 9)).join(''));
}

/** Whether they are there; without a network only the engine is measured. */
function installed(): boolean {
  const { status } = spawnSync('npm', ['ci', '--prefix', OTHERS, '--no-audit', '--no-fund'], { stdio: 'ignore' });
  return status === 0;
}

async function onCopy<T>(template: string, act: (url: string) => Promise<T>): Promise<T> {
  const name = `bench${++databases}`;
  await server.createDatabase(name, template);
  try {
    return await act(server.url(name));
  } finally {
    await server.dropDatabase(name);
  }
}

/** A database with the workflows in it, and nothing to do. */
async function deployed(count: number): Promise<string> {
  const name = `start${count}`;
  if (made.has(name)) return name;
  made.add(name);
  await server.createDatabase(name);
  const app = await start(server.url(name), 1);
  for (let i = 0; i < count; i++) {
    const file = join(folder, `w${i}.ts`);
    writeFileSync(file, script(`w${i}`));
    await deploy(app, file, { by: 'bench' });
  }
  await app.stop();
  return name;
}

function start(url: string, concurrency: number, role: 'both' | 'executor' | 'worker' = 'both'): Promise<App> {
  return startApp({
    dataDir: folder,
    config,
    fleet: { url, role, name: role, concurrency },
    onError: (error) => console.error(error),
  });
}

async function engineRound(url: string, inFlight: number, intake: Intake): Promise<number> {
  const app = await start(url, Math.max(inFlight, 2));
  const workflows = (await app.engine.reader.table('workflows')).map(({ id }) => id);
  const each = Math.ceil(EVENTS / inFlight);
  const hand = intake === 'at once' ? publish : publishOneByOne(app);
  await warm(app, workflows, hand);
  const done = committed(app, each * inFlight);
  const startedAt = performance.now();
  await Promise.all(workflows.map((workflow) => hand(app, workflow, each)));
  await done;
  const ms = performance.now() - startedAt;
  await app.stop();
  return ms;
}

/** In the way that is measured afterwards, as everybody else warms up. */
async function warm(app: App, workflows: readonly WorkflowId[], hand: Hand): Promise<void> {
  const each = Math.ceil(WARM / workflows.length);
  const done = committed(app, each * workflows.length);
  await Promise.all(workflows.map((workflow) => hand(app, workflow, each, 'warm')));
  await done;
}

/** When so many more events have come to their end. Nobody asks the database before the last effect was seen. */
async function committed(app: App, count: number): Promise<void> {
  const aim = seen + count;
  while (seen < aim) await once(effects, 'seen');
  while ((await app.engine.reader.offenders(OPEN)).length > 0) await setTimeout(1);
}

async function publish(app: App, workflow: WorkflowId, count: number, prefix = 'e'): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    const publishes = Array.from({ length: Math.min(500, count - done) }, (_, i) => {
      const id = `${prefix}${done + i}`;
      return { topic: 'in', messageId: id, payload: JSON.stringify({ id }) };
    });
    await app.engine.manager.publishEvents(workflow, publishes, 'bench');
  }
}

/**
 * Each when the one before is done. What a commit changed is told workflow by workflow: a session's beginning names both, and the commit
 * that ends a run names it and its session.
 */
function publishOneByOne(app: App): Hand {
  const workflows = new Map<string, string>();
  const waiting = new Map<string, () => void>();
  app.engine.listen((changes) => {
    const idOf = (wanted: (typeof changes)[number]['kind']) => changes.find(({ kind }) => kind === wanted)?.id;
    const [session, workflow] = [idOf('session'), idOf('workflow')];
    if (session === undefined) return;
    const known = workflows.get(session);
    if (known === undefined && workflow !== undefined) workflows.set(session, workflow);
    else if (known !== undefined && idOf('run') !== undefined) waiting.get(known)?.();
  });
  return async (_, workflow, count, prefix = 'e') => {
    for (let i = 0; i < count; i++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(workflow, resolve);
      await publish(app, workflow, 1, `${prefix}${i}-`);
      await promise;
    }
  };
}

/** Everything that was sent on the connection that writes, flight by flight; taken from the driver while the engine works. */
async function recorded(act: () => Promise<unknown>): Promise<readonly Buffer[]> {
  const tapes = new Map<Client, Buffer[]>();
  const { query } = Client.prototype as { query(this: Client, flight: Submittable): Submittable };
  Client.prototype.query = function recording(this: Client, flight: Submittable) {
    const tape = tapes.get(this) ?? [];
    tapes.set(this, tape);
    const submit = flight.submit.bind(flight);
    flight.submit = ({ stream }) => {
      const write = (bytes: Buffer) => {
        tape.push(Buffer.from(bytes));
        return stream.write(bytes);
      };
      submit({ stream: { write } } as unknown as Connection);
    };
    return query.call(this, flight);
  } as typeof Client.prototype.query;
  try {
    await act();
  } finally {
    Client.prototype.query = query as typeof Client.prototype.query;
  }
  return [...tapes.values()].sort((a, b) => commitsIn(b) - commitsIn(a))[0] ?? [];
}

function commitsIn(flights: readonly Buffer[]): number {
  return flights.filter((bytes) => bytes.includes(' commit\0')).length;
}

/** The same bytes, flight by flight, and nothing else: what the server alone takes. */
async function replay(url: string, flights: readonly Buffer[]): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(AT_ANY_TIME);
    const startedAt = performance.now();
    for (const bytes of flights)
      await new Promise<void>((resolve, reject) => client.query(answered(bytes, resolve, reject)));
    return performance.now() - startedAt;
  } finally {
    await client.end();
  }
}

function answered(bytes: Buffer, resolve: () => void, reject: (error: unknown) => void): Submittable {
  const nothing = () => undefined;
  return {
    submit: ({ stream }: Connection) => void stream.write(bytes),
    handleRowDescription: nothing,
    handleDataRow: nothing,
    handleCommandComplete: nothing,
    handleReadyForQuery: resolve,
    handleError: reject,
  } as Submittable;
}

async function other(
  program: string,
  socket: string,
  inFlight: number,
  intake: Intake,
  keeps: string,
): Promise<number> {
  // DBOS wants to see a name and a host; where the socket is says the rest.
  const url = socket.replace('postgres:///', 'postgres://pawl:none@localhost/').replace('&user=pawl', '');
  const child = spawn(
    process.execPath,
    [join(OTHERS, program), url, baseUrl, String(EVENTS), String(inFlight), String(WARM), intake, keeps],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  await once(child, 'exit');
  return Number(out.trim());
}

/** From the commit of a handoff to the commit of its claim, each in a process of its own in all but name. */
async function handOffs(): Promise<void> {
  const name = 'start32';
  const [executor, worker] = await Promise.all([
    start(server.url(name), 1, 'executor'),
    start(server.url(name), 32, 'worker'),
  ]);
  const workflows = (await executor.engine.reader.table('workflows')).map(({ id }) => id);
  const waits: number[] = [];
  for (let i = 0; i < HANDOFFS; i++) {
    const workflow = workflows[i % workflows.length] as WorkflowId;
    const startedAt = performance.now();
    const running = new Promise<number>((resolve) => {
      const stop = worker.engine.listen((changes) => {
        if (!changes.some(({ kind }) => kind === 'session')) return;
        stop();
        resolve(performance.now() - startedAt);
      });
    });
    const done = committed(worker, 1);
    await publish(executor, workflow, 1, `h${i}`);
    waits.push(await running);
    await done;
  }
  await executor.stop();
  await worker.stop();
  waits.sort((a, b) => a - b);
  const at = (share: number) => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(1);
  console.log(`\nfrom publish at an executor to running at a worker: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
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

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
