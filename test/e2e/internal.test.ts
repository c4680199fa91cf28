// What nobody foresaw: the engine itself breaks in the middle of a run. The run is stopped all the same, and everybody is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orders } from './scripts.ts';
import { Stage } from './stage.ts';

function breakSandbox(stage: Stage): () => void {
  const { run } = stage.app.sandbox;
  Object.assign(stage.app.sandbox, { run: () => Promise.reject(new TypeError('a bug of ours')) });
  return () => Object.assign(stage.app.sandbox, { run });
}

test('a bug of ours stops the run as failed:internal, holds the workflow and is reported; a resume goes on', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders());
  const mend = breakSandbox(stage);
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.until('it is stopped', () => stage.runs().at(-1) === 'book preparing failed:internal');
  // Reported right after its commit, to whoever watches the engine.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(stage.errors.splice(0).map(String), ['TypeError: a bug of ours']);
  assert.deepEqual(stage.workflow().holds, ['error']);
  assert.match(stage.lastRun().error ?? '', /bug of Pawl: a bug of ours/);
  assert.deepEqual(stage.events(), ['1 pending']);
  mend();
  await stage.person.resume(workflow);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});
