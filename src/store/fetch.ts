import { keepNewest } from '#base';
import type { LookupName, Lookups, Script, Source } from '#model';
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

/** A source that remembers what never changes. */
export interface RememberingSource extends Source {
  /** After a rollback: what was read since the last commit may not be there. */
  forget(): void;
}

/** Lookups answered from the tables, by statements prepared once. */
export function prepareSource(db: SqliteDatabase): RememberingSource {
  const lookups = new Map<LookupName, Prepared>();
  for (const [name, lookup] of Object.entries(LOOKUP_STATEMENTS)) {
    lookups.set(name as LookupName, prepareLookup(db, lookup as LookupStatement<LookupName>));
  }
  const scripts = new Map<string, readonly Script[]>();
  const fetch = <N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] => {
    const { query, positions, parse } = lookups.get(name) as Prepared;
    const rows = query.all(positions.map((position) => by[position] as string));
    return rows.map(parse) as Lookups[N]['gives'][];
  };
  return {
    fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
      if (name !== 'script') return fetch(name, ...by);
      // A version never changes, and every command asks for its own.
      const [id] = by as Lookups['script']['by'];
      const known = scripts.get(id) ?? fetch('script', id);
      if (known.length > 0) keepNewest(scripts, id, known, SCRIPTS_MAX);
      return known as readonly Lookups[N]['gives'][];
    },
    forget: () => scripts.clear(),
  };
}

const SCRIPTS_MAX = 1_000;

function prepareLookup(db: SqliteDatabase, { sql, by, rows }: LookupStatement<LookupName>): Prepared {
  const query = db.prepare(sql);
  return { query, positions: query.names.map((name) => by.indexOf(name)), parse: rows.parse };
}
