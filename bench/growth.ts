// What an event costs on PostgreSQL as the database grows: the same work on a small database, on one with a million stored events, and on
// one with a hundred thousand workflows, turn by turn, by processor time. `npm run bench:fleet -- --growth`.

import type { App } from '#app';
import type { WorkflowId } from '#base';
import { type Growth, grow } from '../test/support/grown-database.ts';
import type { OwnServer } from '../test/support/postgres-server.ts';
import { postmasterOf, processorMs } from './processor.ts';

interface World extends Growth {
  readonly name: string;
}

export interface GrowthOptions {
  readonly server: OwnServer;
  /** The name of a database with this many workflows in it, and nothing to do. */
  readonly deployed: (workflows: number) => Promise<string>;
  readonly start: (url: string, concurrency: number) => Promise<App>;
  readonly publish: (app: App, workflow: WorkflowId, prefix: string) => Promise<void>;
  /** Resolves when so many more calls were made. */
  readonly called: (count: number) => Promise<void>;
  readonly isQuick: boolean;
}

const BUSY = 32;
const IN_FLIGHT = 32;
/** Also for longer than PostgreSQL takes to count what was read at the start. */
const WARM = 320;
const RATIO_MAX = 1.5;
/** A table of fewer rows is read faster than its index. */
const SMALL_TABLE = 1_000;

export async function growth(options: GrowthOptions): Promise<void> {
  const { server, isQuick } = options;
  const [large, many, events, rounds] = isQuick ? [20_000, 2_000, 320, 1] : [500_000, 100_000, 640, 3];
  const backlog = (WARM + events + 100 * IN_FLIGHT) * (rounds + 1);
  const worlds: readonly World[] = [
    { name: 'small', done: 1_000, waiting: backlog, idle: 0 },
    { name: `${2 * large} events`, done: large, waiting: Math.max(large, backlog), idle: 0 },
    { name: `${many} workflows`, done: 1_000, waiting: backlog, idle: many },
  ];
  await prepareServer(server);
  const start = await options.deployed(BUSY);
  const busy = (await server.query(start, 'SELECT id FROM workflows')).map(([id]) => id as WorkflowId);
  await onceThrough(options, server.url(start), busy);
  for (const [i, world] of worlds.entries()) {
    const startedAt = performance.now();
    await server.createDatabase(databaseOf(i), start);
    await grow(server, databaseOf(i), world);
    console.log(`${world.name}: filled in ${seconds(startedAt)}`);
  }
  const costs: Cost[][] = worlds.map(() => []);
  for (let round = 0; round <= rounds; round++)
    for (const [i] of worlds.entries()) {
      const cost = await measure(options, databaseOf(i), { events, busy, prefix: `r${round}-` });
      // The first one reads what the others find in memory.
      if (round > 0) costs[i]?.push(cost);
    }
  report(worlds, costs);
}

const databaseOf = (i: number) => `grown${i}`;
const seconds = (startedAt: number) => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;

/** As much memory as a small server has; and nobody tidies up while others are measured. */
async function prepareServer(server: OwnServer): Promise<void> {
  for (const set of [`shared_buffers = '256MB'`, 'autovacuum = off', `max_wal_size = '2GB'`])
    await server.query('postgres', `ALTER SYSTEM SET ${set}`);
  await server.kill('SIGINT');
  await server.start();
}

/** One event of each workflow, so that there is one of every row to copy. */
async function onceThrough(
  { start, publish, called }: GrowthOptions,
  url: string,
  busy: readonly WorkflowId[],
): Promise<void> {
  const app = await start(url, IN_FLIGHT);
  const done = called(BUSY);
  await Promise.all(busy.map((workflow) => publish(app, workflow, 'first')));
  await done;
  await app.stop();
}

interface Cost {
  /** Of an event, in processor time. */
  readonly postgresUs: number;
  readonly engineUs: number;
  /** Rows of the tables and entries of the indexes that PostgreSQL looked at for an event. */
  readonly looked: number;
  /** Tables that were read from end to end, and are no small ones. */
  readonly scanned: readonly string[];
  readonly startMs: number;
}

interface Work {
  readonly events: number;
  readonly busy: readonly WorkflowId[];
  readonly prefix: string;
}

async function measure(options: GrowthOptions, database: string, { events, busy, prefix }: Work): Promise<Cost> {
  const { server, start, publish, called } = options;
  await server.query(database, 'CHECKPOINT');
  const asked = performance.now();
  const app = await start(server.url(database), IN_FLIGHT);
  const startMs = performance.now() - asked;
  const warm = called(WARM);
  await Promise.all(busy.map((workflow) => publish(app, workflow, prefix)));
  await warm;
  const postmaster = postmasterOf(server);
  const before = {
    postgres: processorMs([postmaster]),
    engine: process.cpuUsage(),
    looks: await looks(server, database),
  };
  await called(events);
  const postgresMs = processorMs([postmaster]) - before.postgres;
  const { user, system } = process.cpuUsage(before.engine);
  await app.stop();
  const after = await looks(server, database);
  const per = (total: number) => total / events;
  return {
    postgresUs: per(postgresMs * 1_000),
    engineUs: per(user + system),
    looked: per(after.entries - before.looks.entries),
    scanned: [...after.scans].filter(([table, n]) => n > (before.looks.scans.get(table) ?? 0)).map(([table]) => table),
    startMs,
  };
}

async function looks(
  server: OwnServer,
  database: string,
): Promise<{ readonly entries: number; readonly scans: ReadonlyMap<string, number> }> {
  const [[entries] = []] = await server.query(
    database,
    `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)`,
  );
  const scans = await server.query(
    database,
    `SELECT relname, seq_scan FROM pg_stat_user_tables WHERE n_live_tup > ${SMALL_TABLE}`,
  );
  return { entries: Number(entries), scans: new Map(scans.map(([table, n]) => [String(table), Number(n)])) };
}

function report(worlds: readonly World[], costs: readonly (readonly Cost[])[]): void {
  const middle = (i: number, of: (cost: Cost) => number) => median((costs[i] ?? []).map(of));
  const [postgres, engine] = [middle(0, (cost) => cost.postgresUs), middle(0, (cost) => cost.engineUs)];
  console.log('\nmedians           PostgreSQL µs   ratio   engine µs   ratio   rows and entries   start ms   scans');
  for (const [i, { name }] of worlds.entries()) {
    const [here, there] = [middle(i, (cost) => cost.postgresUs), middle(i, (cost) => cost.engineUs)];
    const scanned = new Set((costs[i] ?? []).flatMap((cost) => cost.scanned));
    const cells = [here.toFixed(0), (here / postgres).toFixed(2), there.toFixed(0), (there / engine).toFixed(2)];
    const more = [middle(i, (cost) => cost.looked).toFixed(0), middle(i, (cost) => cost.startMs).toFixed(0)];
    const widths = [14, 8, 12, 8, 19, 11];
    const line = [...cells, ...more].map((cell, at) => cell.padStart(widths[at] ?? 8)).join('');
    console.log(`${name.padEnd(17)}${line}   ${[...scanned].join(', ') || 'none'}`);
    if (Math.max(here / postgres, there / engine) > RATIO_MAX || scanned.size > 0) process.exitCode = 1;
  }
  console.log(`aim: ratios within ${RATIO_MAX}, no scans`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
