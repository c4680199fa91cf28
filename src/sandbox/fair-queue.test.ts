import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

test('lines take turns, so a long one does not hold up the others', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item);
  queue.push('b', 'b1');
  queue.push('c', 'c1');
  queue.push('b', 'b2');
  const order = Array.from({ length: 6 }, () => queue.shift());
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  assert.equal(queue.shift(), undefined);
});

test('what is taken out is not handed out', () => {
  const queue = new FairQueue<string>();
  queue.push('a', 'a1');
  queue.push('a', 'a2');
  assert.equal(queue.remove('a', 'a1'), true);
  assert.equal(queue.remove('a', 'a1'), false);
  assert.deepEqual([queue.length, queue.shift(), queue.length], [1, 'a2', 0]);
});
