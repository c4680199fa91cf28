import type { LookupName, Lookups, Source } from '#model';
import type { SqlValue } from './columns.ts';
import type { Query, SqliteDatabase } from './sqlite-database.ts';
import { LOOKUP_STATEMENTS } from './statements/all.ts';
import type { LookupStatement } from './statements/statement.ts';

interface Prepared {
  readonly query: Query;
  /** Which of the lookup's arguments is bound at each position. */
  readonly positions: readonly number[];
  readonly parse: (values: readonly SqlValue[]) => unknown;
}

/** Lookups answered from the tables, by statements prepared once. */
export function prepareSource(db: SqliteDatabase): Source {
  const lookups = new Map<LookupName, Prepared>();
  for (const [name, lookup] of Object.entries(LOOKUP_STATEMENTS)) {
    lookups.set(name as LookupName, prepareLookup(db, lookup as LookupStatement<LookupName>));
  }
  return {
    fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
      const { query, positions, parse } = lookups.get(name) as Prepared;
      const rows = query.all(positions.map((position) => by[position] as string));
      return rows.map(parse) as Lookups[N]['gives'][];
    },
  };
}

function prepareLookup(db: SqliteDatabase, { sql, by, rows }: LookupStatement<LookupName>): Prepared {
  const query = db.prepare(sql);
  return { query, positions: query.names.map((name) => by.indexOf(name)), parse: rows.parse };
}
