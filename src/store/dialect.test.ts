import assert from 'node:assert/strict';
import { test } from 'node:test';
import { positional, sqliteDialect } from './dialect.ts';

test('named parameters become positions, a repeated name comes again', () => {
  const { text, names } = positional(
    sqliteDialect,
    'UPDATE t SET a = :to WHERE id = :id AND a = :from AND b > :to - 1',
  );
  assert.equal(text, 'UPDATE t SET a = ? WHERE id = ? AND a = ? AND b > ? - 1');
  assert.deepEqual(names, ['to', 'id', 'from', 'to']);
});

test('words with a colon in them, and casts, are no parameters', () => {
  const sql = `SELECT x::text FROM t WHERE s = 'paused:transient' AND r = :run`;
  const { text, names } = positional({ ...sqliteDialect, parameter: (position) => `$${position}` }, sql);
  assert.equal(text, `SELECT x::text FROM t WHERE s = 'paused:transient' AND r = $1`);
  assert.deepEqual(names, ['run']);
});
