import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Coverage } from './coverage.ts';
import { playAll } from './pool.ts';
import { save } from './regressions.ts';
import { missedInFleets, report, reportOfFleets, unexplained } from './report.ts';
import { SCENARIOS } from './scenarios.ts';
import { isOfFleet, type Work } from './work.ts';
import { randomWork, scenarioWork } from './works.ts';

/** The same in every gate; `npm run sim` plays others. */
const SEED = 20_261_115;
const HISTORIES = { memory: 100_000, sqlite: 3_000, fleet: 2_000 };

test('whatever goes wrong, the promise is kept', async (t) => {
  const coverage = new Coverage();
  const ofFleets = new Coverage();
  const startedAt = performance.now();
  const problems: string[] = [];
  const works: Work[] = [...scenarioWork(), ...randomWork(HISTORIES, SEED)];
  await playAll(works, (work, { counts, failure }) => {
    (isOfFleet(work) ? ofFleets : coverage).add(counts);
    if (failure) problems.push(`${failure.violation}\nsaved as ${save(failure)}`);
    return problems.length === 0;
  });
  const ms = performance.now() - startedAt;
  t.diagnostic(report(coverage, ms));
  t.diagnostic(`several processes: ${reportOfFleets(ofFleets, ms)}`);
  await t.test('no history breaks a promise', () => assert.deepEqual(problems, []));
  await t.test('every cell of both tables is hit, or says why it cannot be', () => {
    assert.deepEqual(unexplained(coverage), []);
    assert.deepEqual(missedInFleets(ofFleets), []);
  });
  await t.test('there are scenarios enough', () => assert.ok(SCENARIOS.length >= 30, `${SCENARIOS.length}`));
});
