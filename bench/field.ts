// npm run bench:field: the engine beside the others of its field, turn by turn in one run, 32 in flight: embedded on SQLite, and on PostgreSQL
// as one process that is executor and worker; DBOS, graphile-worker and pg-boss on the same PostgreSQL server, BullMQ on a Redis
// that syncs before it answers; the last three also with a job that keeps what an event keeps. One event is one POST and everything that makes it durable. Who is not there (no network,
// no redis-server) is left out. Restate is not among them: its server calls home, and nothing turns that off. --quick is for a first look.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, startApp } from '#app';
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
  type Took,
  withHost,
} from './booking.ts';

const QUICK = process.argv.includes('--quick');
const IN_FLIGHT = 32;
const EVENTS = QUICK ? 960 : 2_560;
const WARM_MS = QUICK ? 3_000 : 15_000;
const ROUNDS = QUICK ? 1 : 3;

const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-field-'));
const effects = await Effects.start();
const postgres = await startOwnPostgres(tmpdir());
const started: ChildProcess[] = [];
let made = 0;

type Contender = (measured: Measured) => Promise<Took>;

try {
  await compare();
} finally {
  for (const child of started) child.kill('SIGKILL');
  await postgres.stop();
  effects.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function compare(): Promise<void> {
  const contenders = await contendersThere();
  console.log(
    `${EVENTS} events a round, ${IN_FLIGHT} in flight, ${ROUNDS} rounds turn by turn, medians, events a second\n`,
  );
  console.log(`${''.padEnd(32)}${'at once'.padStart(10)}${'one by one'.padStart(13)}`);
  const rates = new Map(Object.keys(contenders).map((name) => [name, { 'at once': [], 'one by one': [] } as Rates]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, contend] of Object.entries(contenders)) {
      for (const intake of ['at once', 'one by one'] as const) {
        const { ms } = await contend({ inFlight: IN_FLIGHT, intake, events: EVENTS, warmMs: WARM_MS });
        rates.get(name)?.[intake].push((EVENTS * 1_000) / ms);
      }
    }
  }
  for (const [name, { 'at once': atOnce, 'one by one': oneByOne }] of rates) {
    console.log(
      `${name.padEnd(32)}${median(atOnce).toFixed(0).padStart(10)}${median(oneByOne).toFixed(0).padStart(13)}`,
    );
  }
}

type Rates = Record<Intake, number[]>;

async function contendersThere(): Promise<Readonly<Record<string, Contender>>> {
  const own = { 'Pawl, embedded (SQLite)': embedded, 'Pawl (PostgreSQL)': onPostgres };
  if (!installed()) return own;
  const redis = await startRedis();
  return {
    ...own,
    DBOS: beside('dbos.mjs'),
    'graphile-worker': beside('graphile.mjs'),
    'graphile-worker with a ledger': beside('graphile.mjs', 'ledger'),
    'pg-boss': beside('pg-boss.mjs'),
    'pg-boss with a ledger': beside('pg-boss.mjs', 'ledger'),
    ...(redis && { 'BullMQ (Redis)': onRedis(redis), 'BullMQ with a ledger': onRedis(redis, 'ledger') }),
  };
}

async function embedded(measured: Measured): Promise<Took> {
  const dataDir = join(folder, `data${++made}`);
  const app = await startApp({ dataDir, config: effects.config, onError });
  return played(app, measured);
}

function onPostgres(measured: Measured): Promise<Took> {
  return onDatabase(async (url) => {
    const fleet = { url, role: 'both', name: 'both', concurrency: IN_FLIGHT } as const;
    return played(await startApp({ dataDir: folder, config: effects.config, fleet, onError }), measured);
  });
}

async function played(app: App, measured: Measured): Promise<Took> {
  await deployMany(app, folder, measured.inFlight);
  const took = await engineRound(app, effects, measured);
  await app.stop();
  return took;
}

function beside(program: string, keeps?: string): Contender {
  return (measured) => onDatabase((url) => otherRound(program, withHost(url), effects, measured, keeps));
}

function onRedis(port: string, keeps?: string): Contender {
  return (measured) => otherRound('bullmq.mjs', port, effects, measured, keeps);
}

async function onDatabase<T>(act: (url: string) => Promise<T>): Promise<T> {
  const name = `field${++made}`;
  await postgres.createDatabase(name);
  try {
    return await act(postgres.url(name));
  } finally {
    await postgres.dropDatabase(name);
  }
}

/** Its port, if it is there. What it answers is on the disk, as with the others. */
async function startRedis(): Promise<string | undefined> {
  if (spawnSync('redis-server', ['--version']).error) return undefined;
  const port = String(await freePort());
  const kept = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const child = spawn('redis-server', ['--port', port, '--bind', '127.0.0.1', '--dir', folder, ...kept], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  await said(child, 'Ready to accept connections');
  return port;
}

async function said(child: ChildProcess, words: string): Promise<void> {
  for (let out = ''; !out.includes(words); ) {
    const [chunk] = await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    out += String(chunk);
  }
  child.stdout?.resume();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

function onError(error: unknown): void {
  console.error(error);
}
