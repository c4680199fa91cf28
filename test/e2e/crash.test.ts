// The engine as a real process, killed in each phase and started again: whatever it was doing, the outside sees each effect once,
// or a person is asked. One engine lives, and dies, through all of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineUnderTest } from './engine.ts';
import { orders, POLL, SPIN } from './scripts.ts';

const SHOP = {
  reconcile: {
    get: '/done',
    applied: { has: { 'body.effects[*].body.id': '{json.id}' } },
    failed: { hasNot: { 'body.effects[*].body.id': '{json.id}' } },
    result: 'body.effects[*]',
  },
};
const READ = "await ctx.shop.get({ path: '/price' });";

test('killed in each phase, the engine loses nothing and repeats nothing', async (t) => {
  const engine = await EngineUnderTest.open(t, { shop: SHOP });
  const { outside } = engine;
  outside.pages.set('/orders', [{ id: 'polled' }]);
  outside.pages.set('/price', {});
  const effectsOf = (id: string): string[] => outside.done.filter((effect) => effect === `/bookings ${id}`);
  const killDuring = async (begin: () => Promise<unknown>, met: Promise<void>): Promise<void> => {
    await Promise.all([begin(), met]);
    assert.ok(engine.runs().at(-1)?.endsWith(' active'), 'it is under way');
    await engine.kill();
    await engine.start();
    await engine.quiet();
  };

  await t.test('in a producer: its tick is still due', async () => {
    outside.behaveOnReads('hold');
    await killDuring(() => engine.deploy(orders({ more: POLL, prepare: READ })), outside.arrival('read'));
    assert.deepEqual(engine.runs(), ['poll executing crashed', 'poll committed committed', 'book committed committed']);
    assert.deepEqual(effectsOf('polled'), ['/bookings polled']);
  });

  await t.test('in prepare: its events are free again', async () => {
    outside.behaveOnReads('hold');
    await killDuring(() => engine.publish('orders', 'placed', { id: 'p' }), outside.arrival('read'));
    assert.deepEqual(engine.runs().slice(-2), ['book preparing crashed', 'book committed committed']);
    assert.deepEqual(effectsOf('p'), ['/bookings p']);
  });

  await t.test('after the work was done: it is found, and next runs', async () => {
    outside.behave({ after: 'hold' });
    await killDuring(() => engine.publish('orders', 'placed', { id: 'm' }), outside.arrival());
    assert.deepEqual(engine.runs().slice(-2), ['book mutating paused:reconciliation', 'book committed committed']);
    assert.deepEqual(effectsOf('m'), ['/bookings m']);
    assert.ok(engine.events('booked').includes('m pending'));
  });

  await t.test('before the work was done: it is not found, and is sent again', async () => {
    outside.behave({ before: 'hang' });
    await killDuring(() => engine.publish('orders', 'placed', { id: 'n' }), outside.arrival());
    assert.deepEqual(engine.runs().slice(-2), ['book mutating paused:reconciliation', 'book committed committed']);
    assert.deepEqual(effectsOf('n'), ['/bookings n']);
  });

  await t.test('in next: the retry runs only next', async () => {
    await engine.deploy(orders({ more: POLL, next: SPIN }));
    const met = engine.until('next runs', () => engine.runs().at(-1) === 'book emitting active');
    await killDuring(() => engine.publish('orders', 'placed', { id: 'x' }), met);
    assert.deepEqual(engine.runs().slice(-2), ['book emitting crashed', 'book committed committed']);
    assert.deepEqual(effectsOf('x'), ['/bookings x']);
  });

  await t.test('in flight where nobody can look it up: a person is asked', async () => {
    outside.behave({ before: 'hang' });
    await engine.deploy(orders({ name: 'desk', shop: 'desk' }));
    await killDuring(() => engine.publish('desk', 'placed', { id: 'q' }), outside.arrival());
    assert.deepEqual(engine.runs().at(-1), 'book mutating paused:reconciliation');
    const { items } = await engine.keyboard.json<{ items: { id: string; kind: string }[] }>('needs');
    assert.deepEqual(
      items.map((need) => need.kind),
      ['unknown'],
    );
    await engine.keyboard.ok('resolve', items[0]?.id ?? '', '--did-not-happen');
    await engine.quiet();
    assert.deepEqual(effectsOf('q'), ['/bookings q']);
  });

  await t.test('three times on one event: it is held, and a person looks', async () => {
    outside.behaveOnReads('hold', 'hold', 'hold');
    await engine.deploy(orders({ name: 'heavy', prepare: READ }));
    await killDuring(
      () => engine.publish('heavy', 'placed', { id: 'h' }),
      outside.arrival('read').then(async () => {
        for (let death = 1; death <= 2; death++) {
          const again = outside.arrival('read');
          await engine.kill();
          await engine.start();
          await again;
        }
      }),
    );
    assert.deepEqual(engine.runs().slice(-3), Array(3).fill('book preparing crashed'));
    assert.match(await engine.keyboard.ok('status'), /heavy: stopped: /);
  });

  await t.test(
    'and asked to end by SIGTERM it lets the run commit, leaves nothing active, and ends with 0',
    async () => {
      outside.behave({ after: 'hold' });
      await Promise.all([outside.arrival(), engine.publish('desk', 'placed', { id: 'last' })]);
      const ended = engine.terminate();
      await engine.until('it says that it drains', () => engine.said.includes('SIGTERM'));
      outside.release();
      assert.equal(await ended, 0);
      assert.deepEqual(engine.runs().at(-1), 'book committed committed');
      assert.equal(engine.reader.unfinishedExecutions({ limit: 1 }).length, 0);
    },
  );

  await t.test('and the outside saw everything once', () => {
    assert.equal(outside.done.length, new Set(outside.done).size);
    assert.equal(outside.done.length, 7);
  });
});
