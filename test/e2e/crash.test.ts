// The engine as a real process, killed in each phase and started again: whatever it was doing, the outside sees each effect once,
// or a person is asked.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
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
const LONG_SPIN = SPIN.replace('500_000', '4_000_000');

test('killed in each phase, the engine loses nothing and repeats nothing', async (t) => {
  const engine = await EngineUnderTest.open(t, { shop: SHOP });
  const { outside } = engine;
  outside.pages.set('/orders', [{ id: 'polled' }]);
  outside.pages.set('/price', {});
  const effectsOf = (id: string): string[] => outside.done.filter((effect) => effect === `/bookings ${id}`);
  const begun = async (name: string, begin: () => Promise<unknown>, met: Promise<void>): Promise<void> => {
    await Promise.all([begin(), met]);
    assert.ok(engine.runs().at(-1)?.endsWith(' active'), `${name} is under way`);
    await engine.kill();
    await engine.start();
    await engine.quiet();
  };

  await t.test('in a producer: its tick is still due', async () => {
    outside.behaveOnReads('hold');
    await begun('poll', () => engine.deploy(orders({ more: POLL, prepare: READ })), outside.arrival('read'));
    assert.deepEqual(engine.runs(), ['poll executing crashed', 'poll committed committed', 'book committed committed']);
    assert.deepEqual(effectsOf('polled'), ['/bookings polled']);
  });

  await t.test('in prepare: its events are free again', async () => {
    outside.behaveOnReads('hold');
    await begun('prepare', () => engine.publish('orders', 'placed', { id: 'p' }), outside.arrival('read'));
    assert.deepEqual(engine.runs().slice(-2), ['book preparing crashed', 'book committed committed']);
    assert.deepEqual(effectsOf('p'), ['/bookings p']);
  });

  await t.test('after the work was done: it is found, and next runs', async () => {
    outside.behave({ after: 'hold' });
    await begun('the call', () => engine.publish('orders', 'placed', { id: 'm' }), outside.arrival());
    assert.deepEqual(engine.runs().slice(-2), ['book mutating paused:reconciliation', 'book committed committed']);
    assert.deepEqual(effectsOf('m'), ['/bookings m']);
    assert.ok(engine.events('booked').includes('m pending'));
  });

  await t.test('before the work was done: it is not found, and is sent again', async () => {
    outside.behave({ before: 'hang' });
    await begun('the call', () => engine.publish('orders', 'placed', { id: 'n' }), outside.arrival());
    assert.deepEqual(engine.runs().slice(-2), ['book mutating paused:reconciliation', 'book committed committed']);
    assert.deepEqual(effectsOf('n'), ['/bookings n']);
  });

  await t.test('in next: the retry runs only next', async () => {
    await engine.deploy(orders({ more: POLL, next: LONG_SPIN }));
    const met = engine.until('next runs', () => engine.runs().at(-1) === 'book emitting active');
    await begun('next', () => engine.publish('orders', 'placed', { id: 'x' }), met);
    assert.deepEqual(engine.runs().slice(-2), ['book emitting crashed', 'book committed committed']);
    assert.deepEqual(effectsOf('x'), ['/bookings x']);
  });

  await t.test('and nothing else happened', async () => {
    assert.deepEqual(outside.done.length, new Set(outside.done).size);
    assert.deepEqual(new Set(engine.events('placed').map((event) => event.split(' ')[1])), new Set(['consumed']));
  });
});

test('killed in flight where nobody can look it up, a person is asked', async (t) => {
  const engine = await EngineUnderTest.open(t);
  await unknownCall(t, engine);
  assert.deepEqual(engine.runs(), ['book mutating paused:reconciliation']);
  const { items } = await engine.keyboard.json<{ items: { id: string; kind: string }[] }>('needs');
  const [need] = items;
  assert.equal(need?.kind, 'unknown');
  await engine.keyboard.ok('resolve', need?.id ?? '', '--did-not-happen');
  await engine.quiet();
  assert.deepEqual(engine.runs().at(-1), 'book committed committed');
  assert.deepEqual(engine.outside.done, ['/bookings 1']);
});

async function unknownCall(_t: TestContext, engine: EngineUnderTest): Promise<void> {
  engine.outside.behave({ before: 'hang' });
  await engine.deploy(orders());
  const arrived = engine.outside.arrival();
  await engine.publish('orders', 'placed', { id: '1' });
  await arrived;
  await engine.kill();
  await engine.start();
}

test('an event on which the engine died three times is held, and a person looks', async (t) => {
  const engine = await EngineUnderTest.open(t);
  await engine.deploy(orders({ prepare: READ }));
  engine.outside.behaveOnReads('hold', 'hold', 'hold');
  const first = engine.outside.arrival('read');
  await engine.publish('orders', 'placed', { id: 'heavy' });
  await first;
  for (let death = 1; death <= 3; death++) {
    const again = engine.outside.arrival('read');
    await engine.kill();
    await engine.start();
    if (death < 3) await again;
  }
  assert.deepEqual(engine.runs(), Array(3).fill('book preparing crashed'));
  assert.match(await engine.keyboard.ok('status'), /orders: .*(died|crash|abandon|three|3 times)/i);
});

test('SIGTERM lets the run under way commit, leaves nothing active, and ends with 0', async (t) => {
  const engine = await EngineUnderTest.open(t);
  engine.outside.behave({ after: 'hold' });
  await engine.deploy(orders());
  const arrived = engine.outside.arrival();
  await engine.publish('orders', 'placed', { id: '1' });
  await arrived;
  const ended = engine.terminate();
  await engine.until('it says that it drains', () => engine.said.includes('SIGTERM'));
  engine.outside.release();
  assert.equal(await ended, 0);
  assert.deepEqual(engine.runs(), ['book committed committed']);
  assert.equal(engine.reader.unfinishedExecutions({ limit: 1 }).length, 0);
});
