import type { Dialect } from '../dialect.ts';
import { INDEXES } from './001-indexes.ts';
import { tables } from './001-tables.ts';
import { INDEXES as INDEXES_OF_TROUBLE } from './002-indexes.ts';
import { tablesOfPeople } from './003-people.ts';
import { tablesOfRetention } from './004-retention.ts';
import { columnsOfWorkers } from './005-workers.ts';
import { tablesOfLimits } from './006-limits.ts';
import { columnOfLacks } from './007-lacks.ts';
import { fewerReferences } from './008-references.ts';

/** One version of the schema: all of its steps or none. Once released, a migration is history and is not edited. */
export interface Migration {
  readonly version: number;
  steps(dialect: Dialect): readonly string[];
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, steps: (dialect) => [...tables(dialect), ...INDEXES] },
  { version: 2, steps: () => INDEXES_OF_TROUBLE },
  { version: 3, steps: tablesOfPeople },
  { version: 4, steps: tablesOfRetention },
  { version: 5, steps: columnsOfWorkers },
  { version: 6, steps: tablesOfLimits },
  { version: 7, steps: columnOfLacks },
  { version: 8, steps: fewerReferences },
];

/** One row: what the tables are, which guards they have, and a place for the probe to write to. */
export function versionTable(dialect: Dialect): string {
  return `CREATE TABLE IF NOT EXISTS schema_version (
    id ${dialect.integer} NOT NULL PRIMARY KEY CHECK (id = 1),
    version ${dialect.integer} NOT NULL,
    guards TEXT NOT NULL,
    probe TEXT NOT NULL
  ) ${dialect.tableEnd}`;
}
