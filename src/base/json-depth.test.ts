import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNestedTooDeep, JSON_DEPTH_MAX } from './json-depth.ts';

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

test('depth is counted in brackets that are open at the same time', () => {
  assert.equal(isNestedTooDeep(nested(JSON_DEPTH_MAX)), false);
  assert.equal(isNestedTooDeep(nested(JSON_DEPTH_MAX + 1)), true);
  assert.equal(isNestedTooDeep(`[${'{},'.repeat(1_000)}{}]`), false);
  assert.equal(isNestedTooDeep(`{"a":`.repeat(100_000)), true);
});

test('brackets inside strings are text', () => {
  assert.equal(isNestedTooDeep(JSON.stringify({ a: '['.repeat(1_000), 'b\\': '"[['.repeat(1_000) })), false);
  assert.equal(isNestedTooDeep(`"never ends ${'['.repeat(1_000)}`), false);
});
