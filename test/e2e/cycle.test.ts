import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orders } from './scripts.ts';
import { Stage } from './stage.ts';

test('an event goes through prepare, mutate and next, and its effect is made once', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.quiet();
  assert.deepEqual(
    stage.outside.effects.map((effect) => effect.body),
    [{ id: '1' }, { id: '2' }],
  );
  assert.deepEqual(stage.events(), ['1 consumed', '2 consumed', '1 pending', '2 pending']);
  assert.deepEqual(
    stage.reader.fetch('handlerStates', workflow).map((kept) => kept.state),
    ['{"count":2}'],
  );
  assert.equal(stage.mutation().uiTitle, 'Book 2');
});

test('a retry begins at next with the result of the call that was made, and the effect is not repeated', async (t) => {
  const stage = await Stage.open(t);
  const broken = orders({ next: "throw new Error('a bug in next');" });
  const { workflow } = await stage.deploy(broken);
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.until('it needs a repair', () => stage.workflow().maintenance);
  assert.match(stage.lastRun().error ?? '', /a bug in next \(workflow\.ts:\d+:\d+\)/);
  assert.deepEqual(stage.events(), ['1 reserved']);
  await stage.deploy(orders());
  await stage.quiet();
  assert.deepEqual(stage.runs(), ['book emitting failed:logic', 'book committed committed']);
  assert.equal(stage.outside.effects.length, 1);
  assert.deepEqual(stage.events('booked'), ['1 pending']);
});

test('a call whose answer is lost is never sent again, and asks', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.until('the outcome is unknown', () => stage.workflow().holds.includes('unknown'));
  assert.equal(stage.mutation().status, 'indeterminate');
  await assert.rejects(stage.manager.resumeWorkflow(workflow, 'ada'), { code: 'unknown-outcome' });
  await stage.manager.updateMutationResult(stage.mutation().id, 'success', {
    answer: { resolvedBy: 'user_assert_applied', by: 'ada' },
    result: '{"status":201,"headers":{},"body":{"ref":"b1"}}',
  });
  await stage.quiet();
  assert.equal(stage.outside.effects.length, 1);
  assert.deepEqual(stage.events(), ['1 consumed', '1 pending']);
});
