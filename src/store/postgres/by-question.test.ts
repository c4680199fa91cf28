import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '#model';
import { ByQuestion } from './by-question.ts';

const asked = (name: string, ...by: string[]) => ({ name, by }) as unknown as Question;

test('what is known of a question is told to whoever asks it again, and to nobody else', () => {
  const known = new ByQuestion<number>();
  known.set(asked('run', 'run_1'), 1);
  known.set(asked('eventKeyed', 'wf_1', 'orders', '7'), 2);
  assert.equal(known.get(asked('run', 'run_1')), 1);
  assert.equal(known.get(asked('lastRun', 'run_1')), undefined);
  assert.equal(known.get(asked('eventKeyed', 'wf_1', 'orders', '7')), 2);
  assert.equal(known.get(asked('eventKeyed', 'wf_1', 'order', 's7')), undefined);
});

test('each question counts once, and no more when it is forgotten', () => {
  const known = new ByQuestion<number>();
  known.set(asked('run', 'run_1'), 1);
  known.set(asked('run', 'run_1'), 2);
  known.set(asked('eventKeyed', 'wf_1', 'orders', '7'), 3);
  assert.equal(known.size, 2);
  known.delete('run', 'run_1');
  known.delete('run', 'run_1');
  known.delete('ledger', 'run_1');
  assert.equal(known.size, 1);
  known.delete('eventKeyed', 'wf_1', 'orders', '7');
  assert.equal(known.size, 0);
});
