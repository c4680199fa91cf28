import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { seeded, seededTexts } from './fault.ts';
import { FAULTS } from './faults.ts';
import { readSource } from './suite.ts';

test('there are faults enough, each with a name of its own', () => {
  assert.ok(FAULTS.length >= 55, `${FAULTS.length} faults`);
  assert.equal(new Set(FAULTS.map(({ name }) => name)).size, FAULTS.length);
});

test('every fault still finds its place, and what it puts there is TypeScript', () => {
  const stale = FAULTS.flatMap((fault) => {
    try {
      for (const text of seededTexts(fault, readSource)) stripTypeScriptTypes(text);
      return [];
    } catch (error) {
      return [`${fault.name}: ${(error as Error).message}`];
    }
  });
  assert.deepEqual(stale, []);
});

test('a fault whose place is gone, or is there twice, is an error', () => {
  const edit = { file: 'a.ts', find: 'b', replace: 'c' };
  assert.equal(seeded('a b', edit), 'a c');
  assert.throws(() => seeded('a', edit), /stale fault: a\.ts has this 0 times/);
  assert.throws(() => seeded('b b', edit), /stale fault: a\.ts has this 2 times/);
  assert.throws(() => seeded('b', { ...edit, replace: 'b' }), /changes nothing/);
});

// A sample; `npm run faults` takes all of them.
for (const name of [
  'the boundary is decided by phase first, so an answered run at mutating is before it',
  'a command that fails half-way leaves its first half in the batch',
  'a refusal takes its whole batch down',
]) {
  test(`the suite catches: ${name}`, () => {
    // The runner marks its children, and would refuse to run tests in them.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), name], {
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /1 faults, 1 caught/);
  });
}
