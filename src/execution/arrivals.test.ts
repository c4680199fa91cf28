import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowId } from '#base';
import type { Publish } from '#model';
import { type Arrival, Arrivals } from './arrivals.ts';

const WORKFLOW = 'wf_1' as WorkflowId;
const REPLY = { published: [] };
const EVENT: Publish = { topic: 'in', messageId: '1', payload: '{}' };

/** Somebody who takes one event, and what becomes of it and of what comes after it. */
function taking(take: (arrival: Arrival) => void) {
  const arrivals = new Arrivals();
  const leave = arrivals.join(WORKFLOW, { take });
  const alone: string[] = [];
  const publish = (publishes: readonly Publish[] = [EVENT], { to = WORKFLOW, fails = false } = {}) =>
    arrivals.publish(to, publishes, 'ann', async () => {
      alone.push(publishes.map(({ messageId }) => messageId).join());
      if (fails) throw new Error('refused');
      return REPLY;
    });
  return { arrivals, leave, publish, alone };
}

function named(messageId: string): Publish {
  return { ...EVENT, messageId };
}

test('what arrives is taken once, by whoever waits, and its publisher hears of it', async () => {
  const { publish, alone } = taking((arrival) => arrival.published(REPLY));
  assert.equal(await publish(), REPLY);
  assert.deepEqual(alone, []);
  await publish();
  assert.deepEqual(alone, ['1'], 'whoever took the first no longer waits');
});

test('whoever takes it may have it published by itself, and its publisher hears what became of that', async () => {
  const { publish, alone } = taking((arrival) => void arrival.publishAlone());
  await assert.rejects(publish([EVENT], { fails: true }), /refused/);
  assert.deepEqual(alone, ['1']);
});

test('its publisher hears of what went wrong', async () => {
  const { publish } = taking((arrival) => arrival.failed(new Error('the disk is full')));
  await assert.rejects(publish(), /the disk is full/);
});

for (const end of ['published', 'failed'] as const) {
  test(`what comes behind one that is in hand is published behind it, in its order, once that is ${end}`, async () => {
    const { promise: taken, resolve: take } = Promise.withResolvers<Arrival>();
    const { publish, alone } = taking(take);
    const first = publish();
    const behind = [publish([named('2')]), publish([named('3'), named('4')]), publish([named('5')])];
    const arrival = await taken;
    assert.deepEqual(alone, []);
    if (end === 'published') arrival.published(REPLY);
    else arrival.failed(new Error('the disk is full'));
    await Promise.all(behind);
    assert.deepEqual(alone, ['2', '3,4', '5']);
    await first.catch(() => undefined);
    await publish([named('6')]);
    assert.equal(alone.at(-1), '6');
  });
}

test('several at once are offered to nobody, nor is anything of another workflow, or after the session has ended', async () => {
  const { leave, publish, alone } = taking(() => assert.fail('taken'));
  await publish([named('1'), named('2')]);
  await publish([]);
  await publish([named('3')], { to: 'wf_2' as WorkflowId });
  leave();
  await publish([named('4')]);
  assert.deepEqual(alone, ['1,2', '', '3', '4']);
});

test('a session that ends leaves the place of the one after it alone', async () => {
  const { arrivals, leave, publish, alone } = taking(() => assert.fail('taken'));
  arrivals.join(WORKFLOW, { take: (arrival) => arrival.published(REPLY) });
  leave();
  await publish();
  assert.deepEqual(alone, []);
});
