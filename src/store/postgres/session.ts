import { StoreFailedError } from '#base';
import type { AddressName } from './address.ts';
import { PostgresConnection } from './connection.ts';
import { takeRole } from './executor-role.ts';
import { shownUrl } from './failures.ts';

const VERSION_MIN = 150_000;

/**
 * How long others wait for us at most. A process that freezes between reading and writing holds the rows of its workflows: the
 * server ends its session, well before its lease has run out.
 */
const IDLE_IN_TRANSACTION_MS = 5_000;
const LOCK_MS_MAX = 15_000;
const STATEMENT_MS_MAX = 30_000;

/**
 * Every statement has an index that answers it. Plans made while the tables were empty would read them whole for as long as
 * nobody looks at them again, so the other ways are closed.
 */
export const SETTINGS: readonly string[] = [
  `SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
  `SET lock_timeout = ${LOCK_MS_MAX}`,
  `SET statement_timeout = ${STATEMENT_MS_MAX}`,
  'SET plan_cache_mode = force_generic_plan',
  'SET enable_seqscan = off',
  'SET enable_hashjoin = off',
  'SET enable_mergejoin = off',
  'SET jit = off',
];

/** What the engine's promise stands on: where one does not hold, an answered command could be lost or a broken row be kept. */
const FACTS = `SELECT current_setting('server_version_num')::int, current_setting('fsync'),
    current_setting('synchronous_commit'), current_setting('full_page_writes'), current_setting('server_encoding'),
    current_setting('session_replication_role'), pg_is_in_recovery()::text`;

const FACT_NAMES = [
  'server_version_num',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'server_encoding',
  'session_replication_role',
  'pg_is_in_recovery',
] as const;

const WANTED: Readonly<Record<(typeof FACT_NAMES)[number], (found: unknown) => boolean>> = {
  server_version_num: (found) => Number(found) >= VERSION_MIN,
  fsync: (found) => found === 'on',
  // Every other value waits at least for the server's own disk.
  synchronous_commit: (found) => found !== 'off',
  full_page_writes: (found) => found === 'on',
  server_encoding: (found) => found === 'UTF8',
  // Else the guards would not be asked.
  session_replication_role: (found) => found === 'origin',
  pg_is_in_recovery: (found) => found === 'false',
};

const WHAT_TO_DO: Readonly<Record<(typeof FACT_NAMES)[number], string>> = {
  server_version_num: 'use PostgreSQL 15 or newer',
  fsync: 'set fsync = on in postgresql.conf',
  synchronous_commit: 'set synchronous_commit = on for this database and its user',
  full_page_writes: 'set full_page_writes = on in postgresql.conf',
  server_encoding: 'create the database with ENCODING UTF8',
  session_replication_role: 'set session_replication_role = origin for this database and its user',
  pg_is_in_recovery: 'name the address of the primary, not of a standby',
};

/** A connection with our settings, to a server that keeps what it says it has. Looked at anew each time: settings change. */
export async function openSession(
  url: string,
  role?: 'executor' | 'worker',
  named: AddressName = 'DATABASE_URL',
): Promise<PostgresConnection> {
  const connection = await PostgresConnection.open(url, named);
  try {
    const answers = await connection.flight([...SETTINGS, FACTS].map((text) => ({ text })));
    const found = answers.at(-1)?.rows[0] ?? [];
    for (const [position, name] of FACT_NAMES.entries()) {
      if (!WANTED[name](found[position])) refuseUnsafe(url, name, String(found[position]));
    }
    return await takeRole(connection, role);
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function refuseUnsafe(url: string, name: (typeof FACT_NAMES)[number], found: string): never {
  throw new StoreFailedError({
    code: 'store-unsafe',
    message: `${shownUrl(url)} would run with ${name} = ${found}`,
    why: 'with it, an answered command could be lost or a broken row be kept',
    next: [{ label: WHAT_TO_DO[name] }],
  });
}
