// The real engine as a process, killed 20 times at named points and at random times, judged from outside. `npm run test:crash` kills
// hundreds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaign } from './campaign.ts';
import { totals } from './totals.ts';

const KILLS = 20;

test(`killed ${KILLS} times, the engine repeats nothing, loses nothing and is not stuck`, async (t) => {
  const verdict = await campaign({ seed: 1, kills: KILLS, pairs: 3 });
  t.diagnostic(totals([verdict]));
  const { duplicates, lost, stuck, problems, folder } = verdict;
  assert.deepEqual(
    { duplicates, lost, stuck, problems },
    { duplicates: [], lost: [], stuck: [], problems: [] },
    folder,
  );
});
