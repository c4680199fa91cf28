import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasShapeOf, ID_PREFIX, type IdKind, idTimeOf, monotonicIds } from './ids.ts';

test('an id says when it was made', () => {
  for (const now of [1, 1_763_400_000_123, 2 ** 45]) {
    assert.equal(idTimeOf(monotonicIds({ now: () => now }).next('execution')), now);
  }
});

test('what has not the shape of such an id says nothing', () => {
  for (const text of ['', 'exe_1', 'exe_01', `exe_${'I'.repeat(24)}`, '0'.repeat(24)])
    assert.equal(idTimeOf(text), undefined);
});

test('an id has the shape of its own kind, and of no other', () => {
  const ids = monotonicIds({ now: () => 1 });
  const kinds = Object.keys(ID_PREFIX) as IdKind[];
  for (const kind of kinds)
    assert.deepEqual(
      kinds.filter((other) => hasShapeOf(other, ids.next(kind))),
      [kind],
    );
  for (const text of [
    '',
    'run',
    'run_',
    'run_1 ',
    'run_1\n',
    ' run_1',
    'run_é',
    `run_${'1'.repeat(41)}`,
    'event_1',
    1,
    null,
    undefined,
  ])
    assert.equal(hasShapeOf('run', text), false, String(text));
});
