import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

test('lines take turns, so a long one does not hold up the others', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item);
  queue.push('b', 'b1');
  queue.push('c', 'c1');
  queue.push('b', 'b2');
  const order = Array.from({ length: 6 }, () => next(queue));
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  assert.equal(next(queue), undefined);
  assert.equal(queue.take('a'), undefined);
});

test('a line that may not go keeps its turn', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'b1', 'a2']) queue.push(item.slice(0, 1), item);
  const notA = (key: string) => key !== 'a';
  assert.deepEqual([next(queue, notA), next(queue, notA), queue.length], ['b1', undefined, 2]);
  assert.deepEqual([next(queue), next(queue)], ['a1', 'a2']);
});

function next(queue: FairQueue<string>, mayGo: (key: string) => boolean = () => true): string | undefined {
  const key = queue.turn(mayGo);
  return key === undefined ? undefined : queue.take(key);
}

test('what could not go after all is the first again, and its line has had its turn then', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'b1', 'c1']) queue.push(item.slice(0, 1), item);
  const [a1 = '', b1 = ''] = [next(queue), next(queue)];
  queue.putBack('b', b1);
  queue.putBack('a', a1);
  assert.equal(queue.length, 4);
  assert.deepEqual(
    Array.from({ length: 5 }, () => next(queue)),
    ['a1', 'b1', 'c1', 'a2', undefined],
  );
});

test('what is taken out is not handed out', () => {
  const queue = new FairQueue<string>();
  queue.push('a', 'a1');
  queue.push('a', 'a2');
  assert.equal(queue.remove('a', 'a1'), true);
  assert.equal(queue.remove('a', 'a1'), false);
  assert.deepEqual([queue.length, next(queue), queue.length], [1, 'a2', 0]);
});
