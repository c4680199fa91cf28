// The tests of the model and of the store, told on PostgreSQL instead of memory and SQLite: all of them, or the files named.
// One server serves them all; it is started here and ends with this process.

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { startPostgres } from '../test/support/postgres-server.ts';

const ALL = [
  ...globSync('test/model/*.test.ts', { cwd: dirname(import.meta.dirname) }),
  ...['writes', 'lookups', 'guards', 'rows-refused'].map((name) => `test/store/${name}.test.ts`),
  ...globSync('test/conformance/*.test.ts', { cwd: dirname(import.meta.dirname) }),
  'src/store/postgres/plans.test.ts',
  'src/store/postgres/flight.test.ts',
].filter((file) => !file.endsWith('/gate.test.ts'));

/** Each goes further than in the gate. */
const TRAIL_STEPS = '600';

const server = await startPostgres();
if (server === undefined) {
  console.error(
    'conformance: there is no PostgreSQL 15 or newer here; "node scripts/setup.mjs --postgres" says how to get one',
  );
  process.exit(1);
}
const files = process.argv.slice(2);
const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
const { status } = spawnSync(
  process.execPath,
  ['--test', '--test-reporter=spec', ...(files.length > 0 ? files : ALL)],
  {
    cwd: dirname(import.meta.dirname),
    stdio: 'inherit',
    env: {
      PAWL_TEST_TRAIL: TRAIL_STEPS,
      ...environment,
      PAWL_TEST_STORES: 'postgres',
      PAWL_TEST_POSTGRES: server.url('postgres'),
    },
  },
);
await server.stop();
process.exit(status ?? 1);
