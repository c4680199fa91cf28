import assert from 'node:assert/strict';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { seededTexts } from '../../faults/fault.ts';
import { readSource } from '../../faults/suite.ts';
import { GUARDED_FAULTS } from './behind-guards.ts';
import { SEEDED } from './faults.ts';
import { FLEET_FAULTS } from './in-fleets.ts';
import { HOST_FAULTS } from './in-hosts.ts';
import { runFaults } from './run.ts';

/** Each of these rooms has its own mistakes. */
const ROOMS = ['model', 'store', 'execution', 'ledger', 'handler', 'session', 'scheduler', 'connector'];

test('there are faults enough for the simulation, in every room, each with a name of its own', () => {
  assert.ok(SEEDED.length >= 60, `${SEEDED.length} faults`);
  assert.equal(new Set(SEEDED.map(({ name }) => name)).size, SEEDED.length);
  for (const room of ROOMS)
    assert.ok(
      SEEDED.some(({ file }) => file.startsWith(`src/${room}/`)),
      `none in ${room}`,
    );
  for (const bug of [1, 2, 3, 4, 5])
    assert.ok(
      SEEDED.some(({ name }) => name.includes(`Bug ${bug}:`)),
      `no bug ${bug}`,
    );
});

test('every fault around the rules still finds its place, and what it puts there is TypeScript', () => {
  const stale = [...HOST_FAULTS, ...FLEET_FAULTS, ...GUARDED_FAULTS].flatMap((fault) => {
    try {
      for (const text of seededTexts(fault, readSource)) stripTypeScriptTypes(text);
      return [];
    } catch (error) {
      return [`${fault.name}: ${(error as Error).message}`];
    }
  });
  assert.deepEqual(stale, []);
});

// A sample; `npm run sim -- --faults` takes all of them.
for (const name of [
  'ledger: a look-up counts from when it ended',
  'handler: the call goes out before its row is durable',
  'scheduler: it sleeps on when the clock is set forward',
  'fleet: nobody checks whose execution it is',
]) {
  test(`a history catches: ${name}`, async () => {
    const lines: string[] = [];
    const code = await runFaults([name], (line) => lines.push(line));
    assert.equal(code, 0, lines.join('\n'));
  });
}
