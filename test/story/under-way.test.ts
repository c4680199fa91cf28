import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';

const SECONDS = 1_000;

test('what is cancelled before it has a session is cancelled since then, not since the session before', async (t) => {
  const api = await Api.open(t);
  const { workflow } = await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.quiet();
  api.stage.clock.aheadMs += 3_600 * SECONDS;
  await api.stage.manager.together((model) => {
    const { execution } = model.requestExecution(workflow, 'event');
    model.cancelExecution(execution, 'ada');
  });
  const { kind, sentence, since } = await api.status();
  assert.deepEqual([kind, since], ['quiet', api.stage.reader.table('executions').at(-1)?.endedAt]);
  assert.match(sentence, /^cancelled, waiting for the next trigger \(since \d s\)$/);
});
