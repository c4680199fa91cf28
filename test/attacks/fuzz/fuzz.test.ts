import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzRound } from './fuzz-round.ts';

const SCRIPTS = 200;

// `npm run fuzz` takes as many as you like.
test(`${SCRIPTS} scripts made by chance end in a known status, and the engine is as it was`, async (t) => {
  const tally = await fuzzRound({ seed: 1_000_000, scripts: SCRIPTS });
  t.diagnostic(JSON.stringify(tally));
  assert.equal(
    Object.values(tally).reduce((sum, count) => sum + count, 0),
    SCRIPTS,
  );
});
