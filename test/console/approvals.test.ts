import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EngineUnderTest } from '../e2e/engine.ts';
import { orders } from '../e2e/scripts.ts';
import { Api } from '../http/api.ts';
import { GIVEN, POLLED } from '../http/scripts.ts';
import { Visitor } from './visitor.ts';

const ALWAYS = { approval: { post: 'always' } };

/** One booking is written down, and waits for somebody to say that it may be sent. */
async function asked(t: TestContext) {
  const engine = await EngineUnderTest.open(t, { shop: ALWAYS });
  const visitor = await Visitor.open(engine.data, { path: '/needs' });
  await visitor.sees('Nothing needs you');
  const { workflow } = await engine.deploy(orders());
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await visitor.sees('Waiting for your approval of one POST to shop: Book o1');
  await visitor.sees('Nothing was sent: the call is written down, and waits.');
  assert.deepEqual(engine.outside.done, []);
  return { engine, visitor, workflow };
}

test('what is approved is what the server gets, byte for byte', async (t) => {
  const { engine, visitor } = await asked(t);
  await visitor.page.getByText('Arguments', { exact: true }).click();
  const shown = JSON.parse(await visitor.page.getByRole('region', { name: 'arguments of the call' }).innerText());
  assert.deepEqual(shown, { path: '/bookings', json: { id: 'o1' } });
  const [recorded] = engine.reader.table('mutations');
  assert.deepEqual(JSON.parse(recorded?.params ?? ''), shown);
  await visitor.choose('Approve');
  await visitor.sees('Nothing needs you');
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  assert.deepEqual(
    engine.outside.effects.map(({ path, body }) => ({ path, json: body })),
    [shown],
  );
  const [sent] = engine.reader.table('mutations');
  assert.deepEqual([sent?.approvedBy, sent?.params], ['ada', recorded?.params]);
  await visitor.go('/audit');
  await visitor.sees(/ada approved/);
});

test('“Reject and skip” sends nothing, and the workflow goes on', async (t) => {
  const { engine, visitor } = await asked(t);
  await visitor.choose('Reject and skip');
  await visitor.sees('Nothing needs you');
  await engine.until('it is skipped', () => engine.events('placed').includes('o1 skipped'));
  assert.deepEqual(engine.outside.effects, []);
  await visitor.go('/outputs');
  await visitor.sees('skipped by ada');
});

test('“Reject and put aside” keeps the event, which can be brought back and is asked about again', async (t) => {
  const { engine, visitor } = await asked(t);
  await visitor.choose('Reject and put aside');
  await visitor.sees('Nothing needs you');
  await engine.until('it is parked', () => engine.events('placed').includes('o1 parked'));
  await visitor.go('/events?status=parked');
  await visitor.page.getByRole('checkbox', { name: 'Choose placed o1' }).check();
  await visitor.choose('Bring back');
  await visitor.go('/needs');
  await visitor.sees('Waiting for your approval of one POST to shop: Book o1');
  await visitor.choose('Approve');
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  assert.deepEqual(engine.outside.done, ['/bookings o1']);
});

test('nobody answers for a week: the card goes, nothing was sent, and the event is put aside', async (t) => {
  // A week does not pass in a test: the clock is moved, so the engine is in this process.
  const api = await Api.open(t, ALWAYS);
  const { stage } = api;
  const before = await Visitor.open(stage.data, { path: '/needs', mayHear: /status of 401/ });
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await before.sees('Waiting for your approval of one POST to shop');
  await before.sees('Without an answer its events are put aside in 7 days.');
  await stage.pass(7 * 24 * 3_600_000 + 1);
  // The scheduler sleeps by the real clock: something due makes it look.
  stage.outside.pages.set('/orders', []);
  await api.deploy(POLLED.replace("name: 'orders'", "name: 'others'"));
  // Nor does a session last that long.
  await before.sees(/Your session is over/);
  const visitor = await Visitor.open(stage.data, { path: '/needs' });
  await visitor.sees('Nothing needs you');
  assert.deepEqual(stage.events('placed'), ['o1 parked']);
  assert.deepEqual(stage.outside.effects, []);
  await visitor.go('/outputs');
  await visitor.sees('never approved, expired');
});
