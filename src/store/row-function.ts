/**
 * PostgreSQL reads the text of every CHECK of a table anew for every statement that writes to it, which takes longer than the
 * write itself; what a function says it reads once for each connection. So all that is true of a row by itself goes into one
 * function, and one short CHECK asks it.
 */
export function withRowFunction(createTable: string): readonly string[] {
  const [, table = ''] = /^\s*CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(/.exec(createTable) ?? [];
  const { rest, conditions } = withoutChecks(createTable);
  if (conditions.length === 0) return [createTable];
  const columns = [...rest.matchAll(COLUMN)]
    .map(([, name = '', type = '']) => ({ name, type }))
    .filter(({ name }) => conditions.some((condition) => new RegExp(`\\b${name}\\b`).test(condition)));
  const name = `${table}_row`;
  const parameters = columns.map((column) => `${column.name} ${column.type}`).join(', ');
  // A CHECK refuses what is false, not what is unknown.
  const holds = conditions.map((condition) => `(${condition}) IS NOT FALSE`).join(' AND ');
  const check = `CONSTRAINT ${name} CHECK (${name}(${columns.map((column) => column.name).join(', ')}))`;
  return [
    `CREATE FUNCTION ${name}(${parameters}) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN ${holds}; END $$`,
    rest.replace(/\s*\)\s*$/, `,\n      ${check}\n    )`),
  ];
}

const COLUMN = /^\s*(\w+) (TEXT|BIGINT|DOUBLE PRECISION)\b/gm;

/** A CHECK stands behind its column, or behind a comma by itself. */
const CHECK = /(?:,\s*)?\s*\bCHECK \(/;

function withoutChecks(sql: string): { readonly rest: string; readonly conditions: readonly string[] } {
  const conditions: string[] = [];
  let rest = sql;
  for (let found = CHECK.exec(rest); found; found = CHECK.exec(rest)) {
    const start = found.index + found[0].length;
    const end = closing(rest, start);
    conditions.push(rest.slice(start, end));
    rest = rest.slice(0, found.index) + rest.slice(end + 1);
  }
  return { rest, conditions };
}

/** Where the bracket that was opened before `from` is closed. Words in quotes have none. */
function closing(sql: string, from: number): number {
  let depth = 1;
  for (let i = from; i < sql.length; i++) {
    if (sql[i] === '(') depth += 1;
    if (sql[i] === ')') depth -= 1;
    if (depth === 0) return i;
  }
  throw new Error(`bug: a CHECK that does not end in ${sql}`);
}
