import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playOnBoth } from './both-stores.ts';
import { Coverage } from './coverage.ts';
import { regressions } from './regressions.ts';

test('every history that once broke a promise keeps it, in memory and on SQLite', async (t) => {
  for (const [name, { says, broke, history }] of regressions()) {
    await t.test(`${name}: ${says}`, async () => {
      const violation = await playOnBoth(history, new Coverage());
      assert.equal(violation, undefined, `it broke before: ${broke}`);
    });
  }
});
