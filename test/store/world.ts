import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import type { LookupName, Lookups, Write } from '#model';
import {
  openPostgresStore,
  openReader,
  openSqliteStore,
  type Reader,
  type RowOf,
  type Store,
  type TableName,
} from '#store';
import { borrowDatabase } from '../support/postgres-world.ts';
import { AT, consumerRun, EXE, event, evt, execution, script, session, WF, WORKER, worker, workflow } from './rows.ts';

export const CLOCK = { now: () => AT };

export function temporaryFolder(t: TestContext, above = tmpdir()): string {
  const folder = mkdtempSync(join(above, 'pawl-store-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A disk in memory, where there is one, for tests about rows: each opens a world of its own, and waits for many syncs. */
export const FAST_DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Mounts and file attributes are not everybody's to change; a test that needs one is left out where it may not. */
export function tryRun(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Somebody with a handle that can write, and no manners. Parameters are `?`. */
export interface Rogue {
  run(sql: string, ...values: readonly (string | number | null)[]): Promise<void>;
}

/** What both kinds of reader say, whether it has to be waited for or not. */
interface AnyReader {
  fetch<N extends LookupName>(
    name: N,
    ...by: Lookups[N]['by']
  ): readonly Lookups[N]['gives'][] | Promise<readonly Lookups[N]['gives'][]>;
  table<T extends TableName>(name: T): readonly RowOf<T>[] | Promise<readonly RowOf<T>[]>;
}

/** A database of either kind. */
export interface StoreWorld {
  readonly store: Store;
  readonly reader: AnyReader;
  readonly rogue: Rogue;
}

export const IS_POSTGRES = process.env.PAWL_TEST_STORES === 'postgres';

/** On SQLite; on PostgreSQL where `npm run test:conformance` says so. */
export function openAnyWorld(t: TestContext, ...writes: readonly Write[]): Promise<StoreWorld> {
  return IS_POSTGRES ? openPostgresWorld(t, ...writes) : openSqliteWorld(t, ...writes);
}

async function openSqliteWorld(t: TestContext, ...writes: readonly Write[]): Promise<StoreWorld> {
  const { store, reader, rogue } = await openWorld(t, ...writes);
  return { store, reader, rogue: { run: async (sql, ...values) => void rogue.prepare(sql).run(...values) } };
}

async function openPostgresWorld(t: TestContext, ...writes: readonly Write[]): Promise<StoreWorld> {
  const { database, reader, giveBack } = await borrowDatabase();
  const store = await openPostgresStore({ url: database.url, clock: CLOCK, doubts: true });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await store.close();
    await giveBack();
  });
  if (writes.length > 0) await commit(store, ...writes);
  const run: Rogue['run'] = async (sql, ...values) => {
    let position = 0;
    await client.query(
      sql.replaceAll('?', () => `$${++position}`),
      [...values],
    );
  };
  return { store, reader, rogue: { run } };
}

export interface World {
  readonly dataDir: string;
  readonly store: Store;
  readonly reader: Reader;
  readonly rogue: DatabaseSync;
}

export async function openWorld(t: TestContext, ...writes: readonly Write[]): Promise<World> {
  const dataDir = temporaryFolder(t, FAST_DISK);
  const store = openSqliteStore({ dataDir, clock: CLOCK });
  const reader = openReader(dataDir);
  const rogue = new DatabaseSync(join(dataDir, 'pawl.db'));
  t.after(async () => {
    rogue.close();
    reader.close();
    await store.close();
  });
  if (writes.length > 0) await commit(store, ...writes);
  return { dataDir, store, reader, rogue };
}

/** One command that writes these; throws what it was refused with. */
export async function commit(store: Store, ...writes: readonly Write[]): Promise<void> {
  const [outcome] = await store.commit([{ decide: () => writes }]);
  if (outcome?.kind === 'refused') throw outcome.error;
}

/** A live workflow with a version, and a running session of a registered worker. */
export const RUNNING: readonly Write[] = [
  { set: 'workflow.created', row: workflow() },
  { set: 'script.added', row: script(), code: 'export default {}', manifest: '{}' },
  { set: 'workflow.script', workflow: WF, from: null, to: script().id },
  { set: 'worker.registered', row: worker() },
  { set: 'execution.requested', row: execution() },
  { set: 'execution.scheduling', execution: EXE, until: AT + 15_000, slots: [] },
  { set: 'execution.scheduled', execution: EXE, epoch: 1 },
  { set: 'execution.running', execution: EXE, epoch: 1, owner: WORKER, at: AT },
  { set: 'session.created', row: session() },
];

/** The same with three pending events and a consumer at work. */
export const AT_WORK: readonly Write[] = [
  ...RUNNING,
  { set: 'event.published', row: event({ id: evt(1), pendingSeq: 1 }) },
  { set: 'event.published', row: event({ id: evt(2), pendingSeq: 2 }) },
  { set: 'event.published', row: event({ id: evt(3), pendingSeq: 3 }) },
  { set: 'run.created', row: consumerRun() },
];
