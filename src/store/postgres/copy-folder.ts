import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { reach, StoreFailedError } from '#base';
import { INVARIANTS } from '#model';
import type { SqlValue } from '../columns.ts';
import { markMoved, movedTo, refuseMoved, unmarkMoved } from '../moved-mark.ts';
import { databasePath } from '../open-sqlite.ts';
import { isMarkedRestored } from '../restored-mark.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import type { SqliteDatabase } from '../sqlite-database.ts';
import { TABLES, type TableName } from '../statements/all.ts';
import type { PostgresConnection } from './connection.ts';
import { shownUrl } from './failures.ts';
import type { Answer, Statement } from './flight.ts';
import { type FolderAndDatabase, withBoth } from './folder-and-database.ts';
import { migratePostgres } from './migrate.ts';

export interface CopyOptions extends FolderAndDatabase {
  readonly onTable?: (table: string, rows: number) => void;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

/** Rows in one statement: PostgreSQL takes 65,535 parameters, and no table has more than 60 columns. */
const ROWS_AT_ONCE = 500;
/** One statement of a copy, or a look at a whole table. */
const STEP_MS_MAX = 30 * 60_000;

/**
 * Everything of a data folder into an empty PostgreSQL database, in one transaction: when it is done every row is there, as it
 * was, and every invariant holds; else nothing is. The folder is only read, and locked meanwhile, so that nobody works on it.
 */
export async function copyToPostgres(options: CopyOptions): Promise<readonly CopiedTable[]> {
  const { dataDir, url } = options;
  const path = databasePath(dataDir);
  if (!existsSync(path)) throw noDatabase(path);
  const look = (source: SqliteDatabase): void => {
    // A copy that was given up at its very end may be made again; two copies would both be worked on.
    if (movedTo(dataDir) !== shownUrl(url)) refuseMoved(dataDir);
    refuseUnfit(source, dataDir);
  };
  return withBoth(options, look, async (source, target) => {
    await migratePostgres(target, shownUrl(url));
    return copyAll(source, target, options);
  });
}

async function copyAll(
  source: SqliteDatabase,
  target: PostgresConnection,
  { dataDir, url, onTable }: CopyOptions,
): Promise<readonly CopiedTable[]> {
  const send = (...statements: Statement[]): Promise<readonly Answer[]> => target.flight(statements, STEP_MS_MAX);
  await send(
    ...['BEGIN', 'SET LOCAL statement_timeout = 0', 'SET LOCAL idle_in_transaction_session_timeout = 0'].map(
      asStatement,
    ),
    // Nobody begins to work here before the copy is whole.
    asStatement(`LOCK TABLE ${NAMES.join(', ')} IN ACCESS EXCLUSIVE MODE`),
  );
  await refuseOccupied(send, url);
  // Tables refer to each other in circles: all references are looked at together, at the end.
  const references = await referencesOf(send);
  await send(...references.map((each) => asStatement(`${each} DEFERRABLE INITIALLY DEFERRED`)));
  const copied: CopiedTable[] = [];
  for (const table of NAMES) {
    const rows = await copyTable(source, send, table);
    copied.push({ table, rows });
    onTable?.(table, rows);
  }
  reach('migration-step');
  await send(
    asStatement('SET CONSTRAINTS ALL IMMEDIATE'),
    ...references.map((each) => asStatement(`${each} NOT DEFERRABLE`)),
  );
  await refuseBroken(send, url);
  reach('migration-step');
  // From here on nobody may start on the folder: whether the commit was kept is not known if its answer is lost.
  markMoved(dataDir, shownUrl(url));
  const [ended] = await send(asStatement('COMMIT'));
  if (ended?.command === 'COMMIT') return copied;
  unmarkMoved(dataDir);
  throw notTheSame(url, 'the database ended the copy without keeping it');
}

const NAMES = Object.keys(TABLES) as TableName[];
type Send = (...statements: Statement[]) => Promise<readonly Answer[]>;

function asStatement(text: string): Statement {
  return { text };
}

/** Page by page in the order of the key, and then read back and compared: what is there is what was sent. */
async function copyTable(source: SqliteDatabase, send: Send, table: TableName): Promise<number> {
  const shape = shapeOf(source, table);
  const read = (after: readonly SqlValue[]) => {
    const query = source.prepare(pageText(shape, after.length > 0, (i) => `:k${i}`));
    return Promise.resolve(query.all(after));
  };
  const sent = await through(shape, read, async (page) => {
    await send(insertOf(shape, page));
    reach('migration-step');
  });
  const readBack = async (after: readonly SqlValue[]) => {
    const [answer] = await send({ text: pageText(shape, after.length > 0, (i) => `$${i + 1}`), values: after });
    return answer?.rows ?? [];
  };
  const found = await through(shape, readBack, () => Promise.resolve());
  if (found.rows === sent.rows && found.digest === sent.digest) return sent.rows;
  throw notTheSame(table, `${sent.rows} rows were sent, and ${found.rows} were found, or they differ`);
}

type Rows = readonly (readonly SqlValue[])[];

/** Every page of a table, one after the other; says how many rows there were, and what they were. */
async function through(
  { key }: Shape,
  read: (after: readonly SqlValue[]) => Promise<Rows>,
  take: (page: Rows) => Promise<void>,
): Promise<{ readonly rows: number; readonly digest: string }> {
  const hash = createHash('sha256');
  let rows = 0;
  for (let after: readonly SqlValue[] = []; ; ) {
    const page = await read(after);
    if (page.length > 0) await take(page);
    for (const row of page) hash.update(JSON.stringify(row));
    rows += page.length;
    const last = page.at(-1);
    if (!last || page.length < ROWS_AT_ONCE) return { rows, digest: hash.digest('hex') };
    after = key.map((place) => last[place] ?? null);
  }
}

interface Shape {
  readonly table: TableName;
  readonly columns: readonly string[];
  /** The places of the key's columns. */
  readonly key: readonly number[];
}

function shapeOf(source: SqliteDatabase, table: TableName): Shape {
  const columns = source.rows(`SELECT name, pk FROM pragma_table_info('${table}')`);
  const key = columns
    .map(([, place], position) => ({ place: Number(place), position }))
    .filter(({ place }) => place > 0)
    .sort((a, b) => a.place - b.place);
  return {
    table,
    columns: columns.map(([name]) => String(name)),
    key: key.map(({ position }) => position),
  };
}

/** Both databases compare text by its bytes and rows from left to right. */
function pageText({ table, columns, key }: Shape, goesOn: boolean, parameter: (position: number) => string): string {
  const names = key.map((place) => columns[place]).join(', ');
  const where = goesOn ? `WHERE (${names}) > (${key.map((_, i) => parameter(i)).join(', ')}) ` : '';
  return `SELECT ${columns.join(', ')} FROM ${table} ${where}ORDER BY ${names} LIMIT ${ROWS_AT_ONCE}`;
}

function insertOf({ table, columns }: Shape, page: readonly (readonly SqlValue[])[]): Statement {
  const tuples = page.map(
    (_, row) => `(${columns.map((_column, i) => `$${row * columns.length + i + 1}`).join(', ')})`,
  );
  const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${tuples.join(', ')}`;
  return { text, values: page.flat() };
}

async function referencesOf(send: Send): Promise<readonly string[]> {
  const [found] = await send(
    asStatement(`SELECT relname, conname FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
      WHERE contype = 'f' AND relnamespace = current_schema()::regnamespace ORDER BY relname, conname`),
  );
  return (found?.rows ?? []).map(([table, name]) => `ALTER TABLE ${table} ALTER CONSTRAINT "${name}"`);
}

async function refuseOccupied(send: Send, url: string): Promise<void> {
  const answers = await send(
    ...NAMES.map((table) => asStatement(`SELECT count(*) FROM (SELECT 1 FROM ${table} LIMIT 1) AS one`)),
  );
  const occupied = NAMES.filter((_, position) => answers[position]?.rows[0]?.[0] !== 0);
  if (occupied.length === 0) return;
  throw new StoreFailedError({
    code: 'target-not-empty',
    message: `${shownUrl(url)} has rows already, in ${occupied.join(', ')}`,
    why: 'a copy is made into an empty database only, so that nothing is mixed',
    next: [{ label: 'name an empty database' }],
  });
}

async function refuseBroken(send: Send, url: string): Promise<void> {
  for (const { name, says, sql } of INVARIANTS) {
    const [answer] = await send(asStatement(sql));
    if ((answer?.rows.length ?? 0) > 0) throw notTheSame(url, `"${name}" does not hold there: ${says}`);
  }
}

/** A folder of another version, or one that was put back from a backup and not looked at yet, is opened by an engine first. */
function refuseUnfit(source: SqliteDatabase, dataDir: string): void {
  const known = MIGRATIONS.at(-1)?.version;
  const [found] = source.rows('SELECT version FROM schema_version')[0] ?? [];
  if (found === known && !isMarkedRestored(source)) return;
  throw new StoreFailedError({
    code: 'source-not-ready',
    message: `${dataDir} cannot be copied as it is`,
    why:
      found === known
        ? 'it was put back from a backup, and nobody has been told'
        : `its tables are of version ${found}, not ${known}`,
    next: [
      { label: 'start this version of the engine on it once, and stop it', argv: ['pawl', 'start', '--data', dataDir] },
    ],
  });
}

function noDatabase(path: string): StoreFailedError {
  return new StoreFailedError({
    code: 'source-missing',
    message: `there is no ${path}`,
    why: 'that is where the data of an engine lies',
    next: [{ label: 'name its folder with --data' }],
  });
}

function notTheSame(what: string, why: string): StoreFailedError {
  return new StoreFailedError({
    code: 'copy-differs',
    message: `the copy was given up at ${what}; nothing of it was kept`,
    why,
    next: [{ label: 'the folder is as it was: go on with it, and report this' }],
  });
}
