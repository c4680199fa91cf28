import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockTime, count, duration, elapsed, list, oneLine, stamp } from './words.ts';

test('a duration is said as people say it', () => {
  const said = [-5, 0, 1, 59_000, 60_000, 90 * 60_000, 47 * 3_600_000, 72 * 3_600_000].map(duration);
  assert.deepEqual(said, ['0 s', '0 s', '1 s', '59 s', '1 min', '2 h', '47 h', '3 days']);
  assert.deepEqual([12.4, 999, 1_001].map(elapsed), ['12 ms', '999 ms', '2 s']);
});

test('a time of today is told without its day', () => {
  const noon = new Date(2028, 4, 17, 12, 30, 15).getTime();
  assert.equal(stamp(noon), '2028-05-17 12:30:15');
  assert.equal(clockTime(noon, noon + 60_000), '12:30');
  assert.equal(clockTime(noon, noon + 86_400_000), '2028-05-17 12:30');
});

test('amounts, lists and long texts are short and whole', () => {
  assert.deepEqual(
    [count(1, 'event'), count(12_000, 'event'), count(2, 'try', 'tries')],
    ['1 event', '12,000 events', '2 tries'],
  );
  assert.equal(list(['a', 'b', 'c'], 2), 'a, b and 1 more');
  assert.equal(list(['a', 'b']), 'a, b');
  assert.equal(oneLine(' a\n\n b '), 'a b');
  assert.equal(oneLine('x'.repeat(20), 10), `${'x'.repeat(9)}…`);
});
