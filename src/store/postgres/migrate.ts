import { reach, sha256 } from '#base';
import { postgresDialect as dialect } from '../dialect.ts';
import { RETENTION_INDEXES } from '../schema/004-retention.ts';
import { guards } from '../schema/guards.ts';
import { FIRST_VERSION, refuseForeign, refuseNewer } from '../schema/migrate.ts';
import { MIGRATIONS, type Migration, versionTable } from '../schema/migrations.ts';
import type { PostgresConnection } from './connection.ts';
import { executorGuards, guardWithOwner } from './executor-guards.ts';
import { executorRole } from './executor-role.ts';
import { isMissingTable, isRace } from './failures.ts';
import { CLOSED_MARKS, MARKS_TABLE } from './lost-commit.ts';
import { CLUSTER_ORIGIN, DATABASE_ORIGIN } from './origin.ts';
import { REVISIONS } from './revisions.ts';

/** Any number, as long as no other program asks the same database for it. */
const MIGRATION_LOCK = 7_029_551_001;

/** Building an index over many rows takes its time, and whoever starts meanwhile waits for it. */
const MIGRATION_MS_MAX = 30 * 60_000;

/** Readers go on; before the first migration there is nobody to hold. */
const HOLD_WRITERS = `DO $$ BEGIN
    IF to_regclass('commit_marks') IS NOT NULL THEN LOCK TABLE commit_marks IN EXCLUSIVE MODE; END IF;
  END $$`;
const TRIES_MAX = 20;

/**
 * The same migrations and guards as everywhere, each in a transaction under a lock that all processes ask for: of several that
 * start at once one migrates, and the others find it done. One that dies in between leaves the last whole version.
 */
export async function migratePostgres(
  connection: PostgresConnection,
  where: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const known = migrations.at(-1)?.version ?? 0;
  if (await isCurrent(connection, known)) return;
  for (const { version, steps } of migrations) {
    await locked(connection, async () => {
      const { tables, found } = await stateOf(connection);
      refuseForeign(where, tables, found !== undefined);
      if ((found ?? 0) > known) refuseNewer(where, found ?? 0, known);
      if (version <= (found ?? 0)) return [];
      return [
        ...(version === 1 ? [versionTable(dialect), FIRST_VERSION, MARKS_TABLE, ...CLUSTER_ORIGIN] : []),
        ...steps(dialect),
        `UPDATE schema_version SET version = ${version}`,
      ].flatMap(dialect.schema);
    });
  }
  await locked(connection, () => guardSteps(connection));
}

/** What finds the rows that refer to one that goes, made once. Whoever writes to these tables meanwhile waits. */
export async function indexForRetention(connection: PostgresConnection): Promise<void> {
  const names = RETENTION_INDEXES.map((text) => text.split(' ')[5] ?? '');
  const [found] = await connection.flight([
    {
      text: `SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexname = ANY ($1::text[])`,
      values: [names],
    },
  ]);
  if (found?.rows[0]?.[0] !== names.length) await locked(connection, () => Promise.resolve(RETENTION_INDEXES));
}

/** Nearly always: then nobody has to wait for anybody. */
async function isCurrent(connection: PostgresConnection, known: number): Promise<boolean> {
  try {
    const [found] = await connection.flight([{ text: 'SELECT version, guards FROM schema_version' }]);
    const [version, hash] = found?.rows[0] ?? [];
    return version === known && hash === guardTexts().hash;
  } catch (error) {
    if (isMissingTable(error)) return false;
    throw error;
  }
}

function guardTexts(): { readonly texts: readonly string[]; readonly hash: string } {
  const texts = [
    ...DATABASE_ORIGIN,
    ...dialect.functions,
    CLOSED_MARKS,
    ...REVISIONS,
    ...guards().flatMap(guardWithOwner),
    ...executorGuards(),
    executorRole(),
  ];
  return { texts, hash: sha256(texts.join('\n')) };
}

/** What tells the guards of this version from those of another. */
export function ownGuards(): string {
  return guardTexts().hash;
}

async function guardSteps(connection: PostgresConnection): Promise<readonly string[]> {
  const { texts, hash } = guardTexts();
  const [current, old] = await connection.flight([
    { text: 'SELECT guards FROM schema_version' },
    { text: dialect.listGuards },
  ]);
  if (current?.rows[0]?.[0] === hash) return [];
  const drops = (old?.rows ?? []).map(([name, table]) => dialect.dropGuard(String(name), String(table)));
  return [...drops, ...texts, `UPDATE schema_version SET guards = '${hash}'`];
}

/**
 * With others at work on the same tables. Each of their transactions begins with its mark: whoever holds the marks has let those under way
 * come to their end, and keeps the next ones from their beginning, so that no two hold what the other wants. One who only reads
 * may still be in the way of it; then it is tried again.
 */
async function locked(connection: PostgresConnection, stepsOf: () => Promise<readonly string[]>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await lockedOnce(connection, stepsOf);
    } catch (error) {
      if (!isRace(error) || tries >= TRIES_MAX) throw error;
      await connection.flight([{ text: 'ROLLBACK' }]);
    }
  }
}

async function lockedOnce(connection: PostgresConnection, stepsOf: () => Promise<readonly string[]>): Promise<void> {
  const begin = [
    'BEGIN',
    `SET LOCAL lock_timeout = ${MIGRATION_MS_MAX}`,
    'SET LOCAL statement_timeout = 0',
    `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
  ];
  const send = (...texts: string[]) =>
    connection.flight(
      texts.map((text) => ({ text })),
      MIGRATION_MS_MAX,
    );
  // Whatever goes wrong, whoever opened the connection closes it, and nothing of this stays.
  await send(...begin);
  const steps = await stepsOf();
  if (steps.length > 0) await send(HOLD_WRITERS);
  for (const step of steps) {
    reach('migration-step');
    await send(step);
  }
  reach('migration-step');
  await send('COMMIT');
}

async function stateOf(connection: PostgresConnection): Promise<{ tables: number; found: number | undefined }> {
  const [counted] = await connection.flight([{ text: dialect.countTables }]);
  const [tables, versions] = counted?.rows[0] ?? [];
  if (versions === 0) return { tables: Number(tables), found: undefined };
  const [version] = await connection.flight([{ text: 'SELECT version FROM schema_version' }]);
  return { tables: Number(tables), found: Number(version?.rows[0]?.[0] ?? 0) };
}
