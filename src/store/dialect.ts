import { withRowFunction } from './row-function.ts';

/** A change the database itself refuses. `when` may speak of OLD and NEW, but asks no other row: both databases can do that. */
export interface Guard {
  readonly name: string;
  readonly table: string;
  readonly on: 'UPDATE' | 'DELETE';
  /** Only a statement that sets one of these is looked at; others pay nothing. */
  readonly columns?: readonly string[];
  readonly when?: string;
  /** What the database says when it refuses; without quotes. */
  readonly says: string;
}

/** The whole list of differences between the databases. Everything else is one SQL text for both. */
export interface Dialect {
  /** Whole numbers wide enough for milliseconds; also 0 and 1 for no and yes. */
  readonly integer: string;
  readonly real: string;
  readonly tableEnd: string;
  /** For tables that are read by their whole key and hold little else. */
  readonly clusteredTableEnd: string;
  /** A reference to a table that is created later. Where that cannot be said inline, `addForward` adds it at the end. */
  forward(table: string): string;
  addForward(table: string, column: string, to: string): readonly string[];
  /** Takes back what was said of a column: none where the reference costs hardly anything, and could only go with its table. */
  dropReference(table: string, column: string): readonly string[];
  /** Statements are written with `:named` parameters and bound by position, from 1. */
  parameter(position: number): string;
  /** The elements of a JSON list of texts as rows with the one column `value`; `member` picks the list out of an object. */
  elements(json: string, alias: string, member?: string): string;
  /** Whether a column has one of a JSON list of texts; each is looked up by an index of that column. */
  isElement(column: string, json: string): string;
  /** `besides` is looked at in the same call, where guards are functions; in the words of such a one. */
  guard(guard: Guard, besides?: string): readonly string[];
  /** The names of the guards that are in the database, as `name` with their `table`. */
  readonly listGuards: string;
  dropGuard(name: string, table: string): string;
  /** Whether anything, and whether our version table, is in the database: two numbers. */
  readonly countTables: string;
  /** A statement of the schema in the words of this database. */
  schema(step: string): readonly string[];
  /** What guards and statements call; put into the database with the guards. */
  readonly functions: readonly string[];
  /** A write that must change exactly `expected` rows, and fails by itself if it does not. */
  counted?(sql: string, expected: string): string;
}

export const sqliteDialect: Dialect = {
  integer: 'INTEGER',
  real: 'REAL',
  // STRICT: without it SQLite stores any type in any column.
  tableEnd: 'STRICT',
  clusteredTableEnd: 'STRICT, WITHOUT ROWID',
  forward: (table) => `REFERENCES ${table} (id)`,
  addForward: () => [],
  dropReference: () => [],
  parameter: () => '?',
  elements: (json, alias, member) =>
    member === undefined ? `json_each(${json}) AS ${alias}` : `json_each(${json}, '$.${member}') AS ${alias}`,
  isElement: (column, json) => `${column} IN (SELECT value FROM json_each(${json}))`,
  guard: ({ name, table, on, columns, when, says }) => {
    const of = columns === undefined ? '' : ` OF ${columns.join(', ')}`;
    const condition = when === undefined ? '' : ` WHEN ${when}`;
    return [
      `CREATE TRIGGER ${name} BEFORE ${on}${of} ON ${table} FOR EACH ROW${condition} BEGIN SELECT RAISE(ABORT, '${says}'); END`,
    ];
  },
  listGuards: `SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'`,
  dropGuard: (name) => `DROP TRIGGER ${name}`,
  countTables: `SELECT count(*), count(CASE WHEN name = 'schema_version' THEN 1 END) FROM sqlite_schema WHERE type = 'table'`,
  schema: (step) => [step],
  functions: [],
};

/** Our own errors have our own codes, so that nobody takes them for something else: a guard that refused, a count that is off. */
export const REFUSED_BY_GUARD = 'PW001';
export const REFUSED_BY_COUNT = 'PW002';

export const postgresDialect: Dialect = {
  integer: 'BIGINT',
  real: 'DOUBLE PRECISION',
  tableEnd: '',
  clusteredTableEnd: '',
  forward: () => '',
  dropReference: (table, column) => [`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${table}_${column}_fkey`],
  addForward: (table, column, to) => [`ALTER TABLE ${table} ADD FOREIGN KEY (${column}) REFERENCES ${to} (id)`],
  parameter: (position) => `$${position}`,
  elements: (json, alias, member) => {
    const list = member === undefined ? `(${json})::jsonb` : `((${json})::jsonb -> '${member}')`;
    return `jsonb_array_elements_text(${list}) AS ${alias} (value)`;
  },
  // As a list of values and not as a join: a join that was planned while the table was small reads all of it.
  isElement: (column, json) => `${column} = ANY (ARRAY(SELECT jsonb_array_elements_text((${json})::jsonb)))`,
  // A WHEN would be read anew for every statement, which takes longer than the update; a function is read once for a connection.
  guard: ({ name, table, on, columns, when = 'true', says }, besides = '') => {
    const of = columns === undefined ? '' : ` OF ${columns.join(', ')}`;
    const refuse = `RAISE EXCEPTION '${says}' USING ERRCODE = '${REFUSED_BY_GUARD}'`;
    return [
      `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF ${when} THEN ${refuse}; END IF; ${besides} RETURN ${on === 'DELETE' ? 'OLD' : 'NEW'}; END $$`,
      `CREATE TRIGGER ${name} BEFORE ${on}${of} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
    ];
  },
  listGuards: `SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace ORDER BY relname, tgname`,
  dropGuard: (name, table) => `DROP TRIGGER ${name} ON ${table}`,
  countTables: `SELECT count(*) AS tables, count(CASE WHEN tablename = 'schema_version' THEN 1 END) AS versions FROM pg_tables
    WHERE schemaname = current_schema()`,
  // Ids are compared by their bytes, as in SQLite; the language a database was made for must not change the order of events.
  schema: (step) =>
    (/^\s*CREATE TABLE/.test(step) ? withRowFunction(step) : [step]).map((text) =>
      /^\s*CREATE FUNCTION/.test(text) ? text : text.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"'),
    ),
  functions: [
    `CREATE OR REPLACE FUNCTION pawl_expect(changed bigint, expected bigint) RETURNS bigint LANGUAGE plpgsql AS $$
      BEGIN
        IF changed <> expected THEN
          RAISE EXCEPTION 'changed % rows, not %', changed, expected USING ERRCODE = '${REFUSED_BY_COUNT}';
        END IF;
        RETURN changed;
      END $$`,
  ],
  // The commit travels with the writes, so nobody could look at the counts in between but the database itself.
  counted: (sql, expected) =>
    `WITH changed AS (${sql} RETURNING 1) SELECT pawl_expect(count(*), ${expected}) FROM changed`,
};

const QUOTED_OR_NAMED = /'[^']*'|(?<!:):([a-z]\w*)/gi;

export interface PositionalSql {
  readonly text: string;
  /** The parameter at each position; a name may come more than once. */
  readonly names: readonly string[];
}

/** Binding by position is twice as fast as by name in node:sqlite, and the only way PostgreSQL knows. */
export function positional(dialect: Dialect, sql: string): PositionalSql {
  const names: string[] = [];
  const text = withNames(sql, (name) => dialect.parameter(names.push(name)));
  return { text, names };
}

/** A statement with something else in the place of each parameter. Words like 'paused:transient' are data, not parameters. */
export function withNames(sql: string, place: (name: string) => string): string {
  return sql.replace(QUOTED_OR_NAMED, (match, name: string | undefined) => (name === undefined ? match : place(name)));
}
