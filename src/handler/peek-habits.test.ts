import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowId } from '#base';
import { PeekHabits } from './peek-habits.ts';

const A = 'wf_a' as WorkflowId;
const B = 'wf_b' as WorkflowId;

test('what was asked twice in a row is expected, for its own workflow alone', () => {
  const peeks = new PeekHabits();
  assert.equal(peeks.expected(A), undefined);
  peeks.asked(A, { topic: 'in', limit: 1, args: '[]' });
  assert.equal(peeks.expected(A), undefined);
  peeks.asked(A, { topic: 'in', limit: 1, args: '[]' });
  assert.deepEqual(peeks.expected(A), { topic: 'in', limit: 1, args: '[]' });
  assert.equal(peeks.expected(B), undefined);
});

test('whoever asks for something else is expected to ask for nothing until it does so twice', () => {
  const peeks = new PeekHabits();
  for (const topic of ['in', 'in', 'other']) peeks.asked(A, { topic, limit: 1, args: '[]' });
  assert.equal(peeks.expected(A), undefined);
  peeks.asked(A, { topic: 'other', limit: 1, args: '[]' });
  assert.deepEqual(peeks.expected(A), { topic: 'other', limit: 1, args: '[]' });
});

test('a large page is read when it is asked for', () => {
  const peeks = new PeekHabits();
  for (let i = 0; i < 3; i++) peeks.asked(A, { topic: 'in', limit: 100, args: '[]' });
  assert.equal(peeks.expected(A), undefined);
});
