import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Clock } from '#base';
import { INVARIANTS, Rows } from '#model';
import { type DistantStore, type LaterReader, openPostgresReader, openPostgresStore } from '#store';
import { MemoryReader } from './memory-reader.ts';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';
import { rowsRead, TABLE_NAMES } from './row-dump.ts';

/** One server for all tests of a file. It ends with the process. */
let shared: Promise<PostgresServer> | undefined;
let databases = 0;

const TEMPLATE = `pawl_template_${process.pid}`;

export function sharedServer(): Promise<PostgresServer> {
  shared ??= startPostgres().then(async (server) => {
    assert.ok(server, 'there is no PostgreSQL 15 or newer here: see scripts/setup.mjs');
    await server.createDatabase(TEMPLATE);
    const store = await openPostgresStore({ url: server.url(TEMPLATE) });
    await store.close();
    return server;
  });
  return shared;
}

export const HAS_POSTGRES = process.env.PAWL_TEST_POSTGRES !== undefined || findPostgres() !== undefined;

/** A test on a real server; left out, and said so, where there is none. */
export function onPostgres(name: string, tell: (t: TestContext) => Promise<void>): void {
  test(name, { skip: HAS_POSTGRES ? false : 'there is no PostgreSQL 15 or newer on this machine' }, tell);
}

export interface TestDatabase {
  readonly server: PostgresServer;
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

/** A database of its own, with all tables and guards. */
export async function freshDatabase(): Promise<TestDatabase> {
  const server = await sharedServer();
  const name = `pawl_${process.pid}_${++databases}`;
  await server.createDatabase(name, TEMPLATE);
  return { server, name, url: server.url(name), drop: () => server.dropDatabase(name) };
}

export interface PostgresWorld {
  readonly url: string;
  readonly store: DistantStore;
  /** Says what the rows were when they were last read. */
  readonly reader: MemoryReader;
  readonly rows: () => Rows;
  /** Reads all rows anew, and asks every invariant in SQL. */
  refresh(isWatched: boolean): Promise<void>;
  tamper(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** A database with a reader that knows its statements, until it is given back. */
export interface Borrowed {
  readonly database: TestDatabase;
  readonly reader: LaterReader;
  giveBack(): Promise<void>;
}

/** Emptied databases: making one takes longer than most tests. */
const spare: Omit<Borrowed, 'giveBack'>[] = [];

/** Also those that a failing test never gave back: an open connection keeps a process from ending. */
const readers: LaterReader[] = [];

after(async () => {
  for (const reader of readers) await reader.close();
});

export async function borrowDatabase(): Promise<Borrowed> {
  const { database, reader } = spare.pop() ?? (await newDatabase());
  return {
    database,
    reader,
    giveBack: async () => {
      await database.server.query(database.name, EMPTY);
      spare.push({ database, reader });
    },
  };
}

async function newDatabase(): Promise<Omit<Borrowed, 'giveBack'>> {
  const database = await freshDatabase();
  const reader = await openPostgresReader(database.url);
  readers.push(reader);
  return { database, reader };
}

/** What nobody may do: neither guards nor keys are asked. */
const EMPTY = `SET session_replication_role = replica; ${TABLE_NAMES.map((name) => `DELETE FROM ${name}`).join('; ')}`;

export async function openPostgresWorld(clock: Clock): Promise<PostgresWorld> {
  const { database, reader, giveBack } = await borrowDatabase();
  const store = await openPostgresStore({ url: database.url, clock, doubts: true });
  let rows = new Rows();
  return {
    url: database.url,
    store,
    reader: new MemoryReader(() => rows),
    rows: () => rows,
    refresh: async (isWatched) => {
      const read = rowsRead(reader);
      if (isWatched) await assertInvariants(reader);
      rows = await read;
    },
    tamper: async (sql) => {
      await database.server.query(database.name, sql);
    },
    close: async () => {
      await store.close();
      await giveBack();
    },
  };
}

async function assertInvariants(reader: LaterReader): Promise<void> {
  const found = await Promise.all(INVARIANTS.map(({ sql }) => reader.offenders(sql)));
  for (const [position, { says }] of INVARIANTS.entries()) assert.deepEqual(found[position], [], `in SQL: ${says}`);
}
