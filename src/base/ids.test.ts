import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idTimeOf, monotonicIds } from './ids.ts';

test('an id says when it was made', () => {
  for (const now of [1, 1_763_400_000_123, 2 ** 45]) {
    assert.equal(idTimeOf(monotonicIds({ now: () => now }).next('execution')), now);
  }
});

test('what has not the shape of such an id says nothing', () => {
  for (const text of ['', 'exe_1', 'exe_01', `exe_${'I'.repeat(24)}`, '0'.repeat(24)])
    assert.equal(idTimeOf(text), undefined);
});
