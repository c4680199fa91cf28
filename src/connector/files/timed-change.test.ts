import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timedChange } from './timed-change.ts';

test('a disk that never finishes is uncertain, and its call is not over', async () => {
  const outcome = await timedChange(
    'a write',
    { now: () => Date.now() },
    {
      idempotencyKey: 'key',
      deadline: Date.now() + 20,
      signal: new AbortController().signal,
      onFirstByte: () => undefined,
    },
    (begin) => {
      begin();
      return new Promise(() => undefined);
    },
    20,
  );
  assert.equal(outcome.kind === 'uncertain' && outcome.callEnded, false);
});
