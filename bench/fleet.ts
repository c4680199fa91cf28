// npm run bench:fleet: whole workflows on PostgreSQL, at 1 and 32 in flight: the engine as one process that is executor and worker; the same
// statements in the same transactions without the engine; and, turn by turn on the same server, DBOS and graphile-worker with
// the same POST for each event; graphile-worker also with a job that keeps by itself what the others keep. Events are there at once, or come one by one, the next when the one before is done; what DBOS is given always
// comes one by one. Then how long a handoff takes from an executor to a worker. With --growth, instead: what an event costs as the
// database grows (growth.ts); with --idle: what a fleet costs that has nothing to do (idle.ts). The heap is that of a member of a fleet (bin/pawl.js), for everybody. --quick is for a first look, --at 32 for one of the two.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type Connection, type Submittable } from 'pg';
import { type App, startApp } from '#app';
import type { WorkflowId } from '#base';
import { startOwnPostgres } from '../test/support/postgres-server.ts';
import {
  deployMany,
  Effects,
  engineRound,
  type Intake,
  installed,
  type Measured,
  median,
  otherRound,
  publish,
  type Took,
  withHost,
} from './booking.ts';
import { growth } from './growth.ts';
import { idle } from './idle.ts';
import { postmasterOf } from './processor.ts';

const QUICK = process.argv.includes('--quick');
const EVENTS = QUICK ? 320 : 1_280;
const WARM_MS = QUICK ? 3_000 : 15_000;
/** For the tape, which is played from its beginning. */
const TAPED_WARM_MS = 2_000;
const ROUNDS = QUICK ? 2 : 5;
const HANDOFFS = QUICK ? 60 : 300;
const AT = process.argv.includes('--at') ? [Number(process.argv[process.argv.indexOf('--at') + 1])] : [1, 32];

/** What was decided on what a process remembers is refused a second later; on the tape it is as it was then. */
const AT_ANY_TIME = `CREATE OR REPLACE FUNCTION pawl_as_known(known_guarded bigint, known_guards text, decided_at bigint)
  RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT last_value FROM pawl_guarded) <> known_guarded OR (SELECT guards FROM schema_version) <> known_guards THEN
      RAISE EXCEPTION 'not as it was known';
    END IF;
    RETURN decided_at;
  END $$`;

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-fleet-'));
const effects = await Effects.start();
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
  effects.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function compareAll(): Promise<void> {
  console.log(
    `${EVENTS} events a round after ${WARM_MS / 1_000} s to warm up, ${ROUNDS} rounds, medians; one event = one POST and everything that makes it durable\n`,
  );
  console.log(
    'in flight   events come   engine/s   bare/s   DBOS/s   graphile/s   with a ledger/s   commits   round trips   ms of a processor an event: engine, DBOS, graphile, with a ledger',
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
    called: (count) => effects.more(count),
    isQuick: QUICK,
  });
}

async function compare(inFlight: number, intake: Intake): Promise<void> {
  const start = await deployed(inFlight);
  const took = { engine: [] as Took[], dbos: [] as Took[], graphile: [] as Took[], ledger: [] as Took[] };
  const bare: number[] = [];
  const measured = { inFlight, intake, events: EVENTS, warmMs: WARM_MS, database: postmasterOf(server) };
  const seen = effects.seen;
  const tape = await onCopy(start, (url) => recorded(() => onServer(url, { ...measured, warmMs: TAPED_WARM_MS })));
  const taped = effects.seen - seen;
  const others = installed();
  for (let round = 0; round < ROUNDS; round++) {
    took.engine.push(await onCopy(start, (url) => onServer(url, measured)));
    bare.push((taped * 1_000) / (await onCopy(start, (url) => replay(url, tape))));
    if (!others) continue;
    const beside = (program: string, keeps = 'nothing') =>
      onCopy('template1', (url) => otherRound(program, withHost(url), effects, measured, keeps));
    took.dbos.push(await beside('dbos.mjs'));
    took.graphile.push(await beside('graphile.mjs'));
    took.ledger.push(await beside('graphile.mjs', 'ledger'));
  }
  const shown = (each: readonly number[], digits: number) => (each.length === 0 ? '–' : median(each).toFixed(digits));
  const [engine, ...rates] = Object.values(took).map((each) =>
    shown(
      each.map(({ ms }) => (EVENTS * 1_000) / ms),
      0,
    ),
  );
  const costs = Object.values(took).map((each) =>
    shown(
      each.map(({ processorMs }) => processorMs / EVENTS),
      2,
    ),
  );
  const perEvent = [commitsIn(tape), tape.length].map((count) => (count / taped).toFixed(2));
  const cells = [inFlight, intake, engine, shown(bare, 0), ...rates, ...perEvent, costs.join('  ')];
  console.log(cells.map((cell, i) => String(cell).padStart([9, 14, 11, 9, 9, 13, 18, 10, 14, 28][i] ?? 9)).join(''));
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
  await deployMany(app, folder, count);
  await app.stop();
  return name;
}

function start(url: string, concurrency: number, role: 'both' | 'executor' | 'worker' = 'both'): Promise<App> {
  return startApp({
    dataDir: folder,
    config: effects.config,
    fleet: { url, role, name: role, concurrency },
    onError: (error) => console.error(error),
  });
}

async function onServer(url: string, measured: Measured): Promise<Took> {
  const app = await start(url, Math.max(measured.inFlight, 2));
  const took = await engineRound(app, effects, measured);
  await app.stop();
  return took;
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
    const done = effects.committed(worker, 1);
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
