import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { onPostgres } from '../support/postgres-world.ts';

/** Enough to show that the rules mean the same on PostgreSQL; `npm run test:conformance` tells all of them. */
const TOLD = [
  'test/model/scenarios.test.ts',
  'test/model/traces.test.ts',
  'test/model/audit.test.ts',
  'test/model/connections.test.ts',
  'test/model/refused-content.test.ts',
  'test/store/writes.test.ts',
  'test/store/lookups.test.ts',
  'test/store/rows-refused.test.ts',
];

const root = join(import.meta.dirname, '..', '..');

onPostgres('scenarios, traces, writes, lookups and refusals are the same on PostgreSQL', async () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/conformance.ts', ...TOLD], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  assert.match(stdout, /on PostgreSQL/);
});
