import type { WriteName } from '#model';
import type { Kind, SqlValue, TableOf } from '../columns.ts';
import { postgresDialect, withNames } from '../dialect.ts';
import { TABLES, WRITE_STATEMENTS } from '../statements/all.ts';
import { reservedBy } from '../statements/events.ts';
import type { WriteStatement } from '../statements/statement.ts';
import type { Statement } from './flight.ts';
import { FOLDED_STATEMENTS, type Folding } from './fold.ts';
import { EACH } from './gather.ts';

/**
 * Any number of writes of one kind as one statement: most of what a small write costs the server is beginning and ending it. It
 * fails as a whole where one of them does not find what it expects.
 */
export interface Many {
  readonly name: string;
  readonly text: string;
  /** Lists, one value for each row, in the order of the text; what is the same for all comes after them. */
  readonly lists: readonly string[];
  readonly same: readonly SqlValue[];
  /** What names the row that changes: no two of one statement may be the same. Inserts have none, and a key of their own. */
  readonly key: string | undefined;
  /** Whether the number of rows is the last parameter. */
  readonly isCounted: boolean;
}

/** Where the lists, and the key, are among the values of a row. */
export interface Placed extends Many {
  readonly places: readonly number[];
  readonly keyAt: number | undefined;
}

export function placedIn(many: Many, names: readonly string[]): Placed {
  const places = many.lists.map((name) => names.indexOf(name));
  return { ...many, places, keyAt: many.key === undefined ? undefined : names.indexOf(many.key) };
}

export function manyStatement(many: Placed, rows: readonly (readonly SqlValue[])[]): Statement {
  const lists = many.places.map((place) => rows.map((row) => row[place] as SqlValue));
  return {
    name: many.name,
    text: many.text,
    values: [...lists, ...many.same, ...(many.isCounted ? [rows.length] : [])],
  };
}

const STATEMENTS: Readonly<Record<string, unknown>> = { ...WRITE_STATEMENTS, ...FOLDED_STATEMENTS };

export function statementOf(set: Folding['write']['set']): WriteStatement<WriteName> | undefined {
  return STATEMENTS[set] as WriteStatement<WriteName> | undefined;
}

/** Undefined where a kind of write is not one row by its key: those are rare, and go alone. */
export function manyOf(set: Folding['write']['set']): Many | undefined {
  if (set === 'events.consumed') return CONSUMED;
  const statement = statementOf(set);
  if (statement === undefined) return undefined;
  const sql = statement.each?.sql ?? statement.sql;
  if (typeof sql !== 'string') return undefined;
  if (/^\s*INSERT\b/.test(sql)) return inserts(set, sql);
  if (/^\s*DELETE\b/.test(sql)) return set === 'message.deleted' ? deletes(set, sql) : undefined;
  return statement.rows === undefined || statement.each ? updates(set, sql) : undefined;
}

const INSERT = /^\s*INSERT INTO (\w+) \(([^)]*)\) VALUES \(([^)]*)\)(.*)$/s;
/** What may meet a row that is there is one row a statement for each key: it cannot change one twice. */
const CONFLICT = /^\s*ON CONFLICT \((\w+)/;

export function inserts(set: string, sql: string): Many | undefined {
  const [, table = '', columns = '', parameters = '', rest = ''] = INSERT.exec(sql) ?? [];
  const lists = parameters.split(', ').map((parameter) => parameter.slice(1));
  if (!(table in TABLES) || /:/.test(rest)) return undefined;
  const [, conflict] = CONFLICT.exec(rest) ?? [];
  const key = conflict && lists[columns.split(', ').indexOf(conflict)];
  const types = columns.split(', ').map((column) => typeOf(table, column));
  const text = `INSERT INTO ${table} (${columns}) SELECT * FROM unnest(${lists.map((_, i) => `$${i + 1}::${types[i]}[]`).join(', ')})
    ${rest}`;
  return { name: `writes ${set}`, text, lists, same: [], key, isCounted: false };
}

const UPDATE = /^\s*UPDATE (\w+) (SET .*?)\sWHERE id = :(\w+)(.*)$/s;

/**
 * The rows that change are named twice: each by its own key, and all of them by a list, so that whichever way the planner begins
 * it reads no others.
 */
function updates(set: string, sql: string): Many | undefined {
  const { text, words } = foundByKey(sql);
  const [, table = '', changes = '', key = '', condition = ''] = UPDATE.exec(text) ?? [];
  const lists = [...new Set([...text.matchAll(NAMED)].map(([, name = '']) => name))].filter((name) => !(name in words));
  if (key === '' || lists.some((name) => columnOf(sql, name) === '')) return undefined;
  const same = Object.keys(words);
  const place = (part: string) =>
    withNames(part, (name) =>
      same.includes(name) ? `$${lists.length + 1 + same.indexOf(name)}` : `asked.its_${name}`,
    );
  const asked = lists.map((name, i) => `$${i + 1}::${typeOf(table, columnOf(sql, name))}[]`).join(', ');
  const update = `UPDATE ${table} ${place(changes)} FROM unnest(${asked}) AS asked (${lists.map((name) => `its_${name}`).join(', ')})
    WHERE id = asked.its_${key} AND id = ANY ($${lists.indexOf(key) + 1}::text[])${place(condition)}`;
  const counted = postgresDialect.counted?.(update, `$${lists.length + same.length + 1}`) ?? update;
  return { name: `writes ${set}`, text: counted, lists, same: Object.values(words), key, isCounted: true };
}

/** What is gone already is gone. */
const DELETE = /^\s*DELETE FROM (\w+) WHERE id = :(\w+)$/;

function deletes(set: string, sql: string): Many | undefined {
  const [, table = '', key = ''] = DELETE.exec(sql) ?? [];
  if (key === '') return undefined;
  const text = `DELETE FROM ${table} WHERE id = ANY ($1::text[])`;
  return { name: `writes ${set}`, text, lists: [key], same: [], key: undefined, isCounted: false };
}

const NAMED = /(?<!:):([a-z]\w*)/gi;

/** The column that a parameter is kept in or compared with; none where it is said in another way. */
function columnOf(sql: string, parameter: string): string {
  const compared = new RegExp(`(\\w+)\\s+(?:=|IS NOT DISTINCT FROM)\\s+(?:\\w+ \\+ )?:${parameter}\\b`).exec(sql);
  return compared?.[1] ?? '';
}

const TYPES: Readonly<Record<Kind, string>> = {
  text: 'text',
  words: 'text',
  list: 'text',
  json: 'text',
  integer: 'bigint',
  flag: 'bigint',
  real: 'double precision',
};

function typeOf(table: string, column: string): string {
  const { columns, fields, kinds } = TABLES[table as keyof typeof TABLES] as TableOf<unknown>;
  const kind = kinds[fields[columns.indexOf(column)] ?? ''];
  if (kind === undefined) throw new Error(`bug: ${table} has no column ${column}`);
  return TYPES[kind];
}

/** However many events each run has: they are found one run after the other, and counted by run. */
const CONSUMED: Many = {
  name: 'writes events.consumed',
  text: `WITH found AS MATERIALIZED (SELECT reserved.id FROM unnest($1::text[]) AS asked (run),
        LATERAL (SELECT id FROM events WHERE ${reservedBy('asked.run')} ${EACH}) AS reserved),
      changed AS (UPDATE events SET status = 'consumed' WHERE id = ANY (ARRAY(SELECT id FROM found)) AND status = $3
        RETURNING reserved_by_run_id AS run)
    SELECT count(pawl_expect((SELECT count(*) FROM changed WHERE changed.run = asked.run), asked.expected))
    FROM unnest($1::text[], $2::bigint[]) AS asked (run, expected)`,
  lists: ['run', 'expected'],
  same: ['reserved'],
  key: 'run',
  isCounted: false,
};

const BY_KEY = /^WHERE\s+(?:id|name)\s*(?:=|IN)/;

/**
 * A write that names its row by the key must find it by the key. An index that holds only rows of one state looks cheaper as long
 * as it is nearly empty, and would be read whole when it no longer is; so the planner is not told which state is meant.
 */
export function foundByKey(sql: string): { readonly text: string; readonly words: Readonly<Record<string, string>> } {
  const where = sql.search(/\bWHERE\b/);
  if (!BY_KEY.test(sql.slice(Math.max(where, 0)))) return { text: sql, words: {} };
  const words: Record<string, string> = {};
  const condition = sql
    .slice(where)
    .replaceAll(/'([^']*)'/g, (_, word: string) => {
      const name = `word${Object.keys(words).length + 1}`;
      words[name] = word;
      return `:${name}`;
    })
    .replaceAll(/(\w+) IS NULL/g, 'num_nulls($1) = 1')
    .replaceAll(/(\w+) IS NOT NULL/g, 'num_nonnulls($1) = 1');
  return { text: sql.slice(0, where) + condition, words };
}
