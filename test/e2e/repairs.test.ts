// When it cannot go on by itself: the exits of a repair, approvals, set-aside, finish without next, park, redo. DESIGN §9.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orders, POLL } from './scripts.ts';
import { BOOKED, Stage } from './stage.ts';

const POISON = "if (e.payload.id === 'bad') throw new Error('cannot read it');";

for (const [act, left] of [
  ['skip', 'skipped'],
  ['park', 'parked'],
] as const) {
  /** The bad one stops the workflow, the person leaves it out, the other one is done. */
  const leavesOut = async (stage: Stage, script: string): Promise<void> => {
    const { workflow } = await stage.deploy(script);
    await stage.publish(workflow, 'placed', { id: 'bad' }, { id: '2' });
    await stage.untilRun('failed:logic');
    await stage.person[act](stage.event('bad').id);
    await stage.quiet();
    assert.deepEqual(stage.events('placed'), [`bad ${left}`, '2 consumed']);
    assert.equal(stage.workflow().maintenance, false);
    assert.deepEqual(stage.outside.done, ['/bookings 2']);
  };

  test(`a poison event in prepare ends its repair when it is ${left}, and the others go on`, async (t) => {
    await leavesOut(await Stage.open(t), orders({ prepare: POISON }));
  });

  test(`an event whose call is refused ends its repair when it is ${left}, and the others go on`, async (t) => {
    const stage = await Stage.open(t);
    stage.outside.behave({ answer: 422 });
    await leavesOut(stage, orders());
  });
}

test('an event that ends the script is the suspect also when it came along with the script', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders({ prepare: `if (e.payload.id === 'bad') for (;;); ${POISON}` }));
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' }, { id: '3' }, { id: 'bad' }, { id: '5' });
  await stage.untilRun('failed:logic');
  await stage.person.skip(stage.event('bad').id);
  await stage.quiet();
  assert.deepEqual(stage.events('placed').slice(-2), ['bad skipped', '5 consumed']);
});

test('a parked event can come back, and a done one can be done again, with its causes', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/orders', [{ id: 'bad' }]);
  const { workflow } = await stage.deploy(orders({ prepare: POISON, more: POLL }));
  await stage.untilRun('failed:logic');
  await stage.person.park(stage.event('bad').id);
  await stage.quiet();
  await stage.deploy(orders({ more: POLL }));
  await stage.person.unpark(stage.event('bad').id);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings bad']);
  await stage.person.redo(stage.event('bad').id);
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings bad', '/bookings bad'], 'a person asked for it again');
  const again = stage.reader.table('events').find((event) => event.redoOf === stage.event('bad').id);
  assert.equal(again?.status, 'consumed');
  assert.equal(stage.reader.fetch('inputsOf', again?.id ?? stage.event('bad').id).length, 1);
  assert.notEqual(stage.outside.effects[0]?.key, stage.outside.effects[1]?.key);
  assert.equal(stage.workflow(workflow).status, 'active');
});

test('three failed repairs and a person must look', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders({ prepare: POISON }));
  await stage.publish(workflow, 'placed', { id: 'bad' });
  for (let repairs = 1; repairs <= 3; repairs++) {
    await stage.until(`repair ${repairs} is needed`, () => stage.workflow().maintenance);
    await stage.deploy(orders({ prepare: `ctx.log('repair ${repairs}'); ${POISON}` }));
  }
  await stage.until('it is held', () => stage.workflow().holds.includes('error'));
  assert.match(stage.workflow().errorReason ?? '', /after 3 repairs/);
  assert.equal(stage.runs().length, 4);
});

test('when next cannot be mended its run is finished without it, and the events are consumed', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await stage.deploy(orders({ next: "if (data.id === 'bad') throw new Error('a bug');" }));
  await stage.publish(workflow, 'placed', { id: 'bad' }, { id: '2' });
  await stage.untilRun('failed:logic');
  await assert.rejects(stage.person.skip(stage.event('bad').id), { code: 'wrong-state' }, 'its effect has happened');
  await stage.person.finish(stage.lastRun().id);
  await stage.quiet();
  assert.deepEqual(stage.events('placed'), ['bad consumed', '2 consumed']);
  assert.deepEqual(stage.events('booked'), ['2 pending']);
  assert.deepEqual(stage.outside.done, ['/bookings bad', '/bookings 2']);
});

test('a question set aside lets the workflow go on, and its next runs when it is answered', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.behave({ after: 'drop' });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.untilRun('paused:reconciliation');
  const question = stage.mutation().id;
  await stage.person.setAside(question);
  await stage.quiet();
  assert.deepEqual(stage.events('placed'), ['1 reserved', '2 consumed']);
  assert.deepEqual(stage.events('booked'), ['2 pending']);
  await stage.person.resolve(question, 'happened', BOOKED);
  await stage.quiet();
  assert.deepEqual(stage.events('placed'), ['1 consumed', '2 consumed']);
  assert.deepEqual(stage.events('booked'), ['2 pending', '1 pending']);
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

test('a call that needs approval is sent as it was recorded, also by another version, or is parked or skipped', async (t) => {
  const stage = await Stage.open(t, { approval: { post: 'always' } });
  const { workflow } = await stage.deploy(orders({ next: null }));
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' }, { id: '3' });
  const asked = async (count: number): Promise<void> => {
    await stage.until(`call ${count} waits`, () => stage.reader.table('mutations').length === count);
    assert.deepEqual(stage.workflow().holds, ['approval']);
  };
  await asked(1);
  await assert.rejects(stage.person.resume(workflow), { code: 'held' });
  await stage.deploy(
    orders({ next: null, mutate: "return ctx.shop.post({ path: '/other', json: { id: data.id } });" }),
  );
  await stage.person.approve(stage.mutation().id);
  await asked(2);
  assert.deepEqual(stage.outside.done, ['/bookings 1'], 'byte for byte');
  await stage.person.reject(stage.mutation().id, 'park');
  await asked(3);
  await stage.person.reject(stage.mutation().id, 'skip');
  await stage.quiet();
  assert.deepEqual(stage.events(), ['1 consumed', '2 parked', '3 skipped']);
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('a call nobody approves for a week is parked', async (t) => {
  const stage = await Stage.open(t, { approval: { post: 'always' } });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:approval');
  await stage.pass(7 * 24 * 3_600_000);
  await stage.quiet();
  assert.deepEqual(stage.events(), ['1 parked']);
  assert.equal(stage.workflow().status, 'active');
  assert.deepEqual(stage.outside.done, []);
});

test('"it did not happen" waits for the provider, and a look-up that says so early looks again', async (t) => {
  const stage = await Stage.open(t, { visibilityMs: 60_000 });
  stage.outside.behave({ answer: 500 });
  const { workflow } = await stage.deploy(orders());
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('paused:reconciliation');
  const question = stage.mutation().id;
  await assert.rejects(stage.person.resolve(question, 'did_not_happen'), { code: 'too-early' });
  await assert.rejects(stage.person.resolve(question, 'check_again'), { name: 'RefusedError' });
  await stage.pass(61_000);
  await stage.person.resolve(question, 'did_not_happen');
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('an engine without a connection of its script says to add it to the config, and the same version goes on with it', async (t) => {
  const stage = await Stage.atKeyboard(t);
  const { workflow } = await stage.deploy(orders());
  await stage.quiet();
  stage.config = { connections: {} };
  await stage.restart();
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.untilRun('failed:logic');
  const { out } = await stage.keyboard.type('status', 'orders');
  const failed = 'there is no connection "shop" in the config of this process';
  assert.ok(out.includes(failed), out);
  const steps = [
    'after adding the connection to the config and starting again: try the same version again',
    'or mend the script and deploy it (pawl deploy FILE)',
  ];
  assert.ok(out.indexOf(steps[0] ?? '') > out.indexOf(failed), out);
  assert.ok(out.indexOf(steps[1] ?? '') > out.indexOf(steps[0] ?? ''), out);
  stage.config = {};
  await stage.restart();
  await stage.keyboard.type('retry', 'orders');
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});
