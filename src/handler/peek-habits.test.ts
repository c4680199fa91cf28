import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScriptId, WorkflowId } from '#base';
import { PeekHabits } from './peek-habits.ts';

const A = 'wf_a' as WorkflowId;
const B = 'wf_b' as WorkflowId;

test('what was asked twice in a row is expected, for its own workflow alone', () => {
  const peeks = new PeekHabits();
  assert.equal(peeks.expected(A), undefined);
  peeks.asked(A, { topic: 'in', limit: 1, args: '[]', isWhole: true });
  assert.equal(peeks.expected(A), undefined);
  peeks.asked(A, { topic: 'in', limit: 1, args: '[]', isWhole: true });
  assert.deepEqual(peeks.expected(A), { topic: 'in', limit: 1, args: '[]', isWhole: true });
  assert.equal(peeks.expected(B), undefined);
});

test('whoever asks for something else is expected to ask for nothing until it does so twice', () => {
  const peeks = new PeekHabits();
  for (const topic of ['in', 'in', 'other']) peeks.asked(A, { topic, limit: 1, args: '[]', isWhole: true });
  assert.equal(peeks.expected(A), undefined);
  peeks.asked(A, { topic: 'other', limit: 1, args: '[]', isWhole: true });
  assert.deepEqual(peeks.expected(A), { topic: 'other', limit: 1, args: '[]', isWhole: true });
});

test('a page that is all that was asked for is not the beginning of a larger one', () => {
  const peeks = new PeekHabits();
  for (const isWhole of [true, false]) peeks.asked(A, { topic: 'in', limit: 10, args: '[]', isWhole });
  assert.equal(peeks.expected(A), undefined);
});

test('what was expected and asked for stays expected, whatever else was asked in between', () => {
  const peeks = new PeekHabits();
  const page = { topic: 'in', limit: 1, args: '[]', isWhole: true };
  peeks.asked(A, page);
  peeks.asked(A, { ...page, topic: 'other' });
  peeks.kept(A, page);
  assert.deepEqual(peeks.expected(A), page);
});

const book = { workflowId: A, scriptId: 'scr_1' as ScriptId, handlerName: 'book' };

test('a consumer that made its call of one look is known for it, until it asks for more', () => {
  const peeks = new PeekHabits();
  const page = { topic: 'in', limit: 1, args: '[]', isWhole: true };
  peeks.wasAll(book, true);
  assert.equal(peeks.lastAll(A), undefined, 'nothing was looked at');
  for (let i = 0; i < 2; i++) peeks.asked(A, page);
  assert.equal(peeks.allOf(book), undefined);
  peeks.wasAll(book, true);
  assert.deepEqual(peeks.allOf(book), page);
  assert.deepEqual(peeks.lastAll(A), book);
  assert.equal(peeks.allOf({ ...book, handlerName: 'ship' }), undefined, 'another consumer');
  peeks.wasAll(book, false);
  assert.equal(peeks.allOf(book), undefined);
  assert.equal(peeks.lastAll(A), undefined);
});
