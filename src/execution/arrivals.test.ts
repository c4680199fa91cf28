import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowId } from '#base';
import type { Publish } from '#model';
import { type Arrival, Arrivals } from './arrivals.ts';

const WORKFLOW = 'wf_1' as WorkflowId;
const REPLY = { published: [] };
const EVENT: Publish = { topic: 'in', messageId: '1', payload: '{}' };

/** Somebody who takes one event, and what becomes of it. */
function taking(answer: (arrival: Arrival) => void) {
  const arrivals = new Arrivals();
  const leave = arrivals.join(WORKFLOW, { take: answer });
  const alone: string[] = [];
  const offer = (publishes: readonly Publish[] = [EVENT], fails = false) =>
    arrivals.offer(WORKFLOW, publishes, 'ann', async () => {
      alone.push(publishes.map(({ messageId }) => messageId).join());
      if (fails) throw new Error('refused');
      return REPLY;
    });
  return { arrivals, leave, offer, alone };
}

test('what arrives is taken once, by whoever waits, and its publisher hears of it', async () => {
  const { offer, alone } = taking((arrival) => arrival.published(REPLY));
  assert.equal(await offer(), REPLY);
  assert.deepEqual(alone, []);
  await offer();
  assert.deepEqual(alone, ['1'], 'the second is nobody’s: whoever took the first no longer waits');
});

test('whoever takes it may have it published by itself, and its publisher hears what became of that', async () => {
  const { offer, alone } = taking((arrival) => void arrival.publishAlone());
  await assert.rejects(async () => offer([EVENT], true), /refused/);
  assert.deepEqual(alone, ['1']);
});

test('its publisher hears of what went wrong', async () => {
  const { offer } = taking((arrival) => arrival.failed(new Error('the disk is full')));
  await assert.rejects(async () => offer(), /the disk is full/);
});

test('several at once are offered to nobody, nor is anything of another workflow, or after the session has ended', () => {
  const { arrivals, leave, offer } = taking(() => assert.fail('taken'));
  assert.equal(offer([EVENT, { ...EVENT, messageId: '2' }]), undefined);
  assert.equal(offer([]), undefined);
  assert.equal(
    arrivals.offer('wf_2' as WorkflowId, [EVENT], 'ann', async () => REPLY),
    undefined,
  );
  leave();
  assert.equal(offer(), undefined);
});

test('a session that ends leaves the place of the one after it alone', async () => {
  const { arrivals, leave, offer } = taking(() => assert.fail('taken'));
  arrivals.join(WORKFLOW, { take: (arrival) => arrival.published(REPLY) });
  leave();
  assert.equal(await offer(), REPLY);
});
