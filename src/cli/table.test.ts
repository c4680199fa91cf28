import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from './table.ts';
import { duration, moment, typed } from './words.ts';

interface Row {
  readonly name: string;
  readonly count: string;
}

const COLUMNS = [
  { title: 'name', text: ({ name }: Row) => name },
  { title: 'count', text: ({ count }: Row) => count, align: 'right' as const },
];

test('columns are as wide as their widest cell, and numbers stand under each other', () => {
  const rows = [
    { name: 'orders', count: '7' },
    { name: 'a', count: '10000' },
  ];
  assert.equal(table(COLUMNS, rows, undefined), 'NAME    COUNT\norders      7\na       10000\n');
});

test('on a terminal the widest column is shortened until the line fits; elsewhere nothing is cut', () => {
  const rows = [{ name: 'x'.repeat(100), count: '1' }];
  const lines = table(COLUMNS, rows, 40).trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.length),
    [40, 40],
  );
  assert.match(lines[1] ?? '', /^x+… +1$/);
  assert.ok(table(COLUMNS, rows, undefined).includes('x'.repeat(100)));
});

test('what came from outside cannot break the table or move the cursor', () => {
  assert.equal(table(COLUMNS, [{ name: 'a\n\u001b[2Jb', count: '1' }], undefined), 'NAME    COUNT\na [2Jb      1\n');
  assert.equal(table(COLUMNS, [{ name: 'a\u202eb\u2066', count: '1' }], undefined), 'NAME  COUNT\na b       1\n');
});

test('times and commands read as people write them', () => {
  assert.deepEqual([200, 59_000, 61_000, 3_600_000, 3_900_000, 86_400_000, 3 * 86_400_000].map(duration), [
    'less than 1 s',
    '59 s',
    '1 min',
    '1 h',
    '1 h 5 min',
    '1 day',
    '3 days',
  ]);
  const now = new Date(2030, 4, 2, 12).getTime();
  assert.equal(moment(new Date(2030, 4, 2, 3, 7, 9).getTime(), now), '03:07:09');
  assert.equal(moment(new Date(2030, 4, 1, 3, 7, 9).getTime(), now), '2030-05-01 03:07:09');
  assert.equal(typed(['pawl', 'publish', 'orders', `{"it's":1}`]), `pawl publish orders '{"it'\\''s":1}'`);
});
