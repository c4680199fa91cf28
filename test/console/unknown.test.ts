import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EngineUnderTest } from '../e2e/engine.ts';
import { orders, TELL } from '../e2e/scripts.ts';
import { Api } from '../http/api.ts';
import { POLLED } from '../http/scripts.ts';
import { Visitor } from './visitor.ts';

/** One booking was made outside, and its answer was lost: the real engine asks on its page. */
async function asked(t: TestContext, shop: Record<string, unknown> = {}) {
  const engine = await EngineUnderTest.open(t, { shop });
  const { outside } = engine;
  const visitor = await Visitor.open(engine.data, { path: '/needs' });
  await visitor.sees('Nothing needs you');
  outside.behave({ after: 'drop' });
  const { workflow } = await engine.deploy(orders({ more: TELL }));
  await engine.publish(workflow, 'placed', { id: 'o1' });
  // Nobody reloads: the page hears of it.
  await visitor.sees('Waiting for you to say whether one POST to shop (Book o1) happened');
  assert.deepEqual(outside.done, ['/bookings o1']);
  return { engine, outside, visitor };
}

test('a card shows what the script said, what the host saw, and what each answer will do', async (t) => {
  const { visitor } = await asked(t);
  const { page } = visitor;
  await visitor.sees('Book o1');
  await visitor.sees(/^POST http:\/\/127\.0\.0\.1:\d+\/bookings/);
  await visitor.sees('Whether shop did it.');
  await visitor.sees('The call was written down before its first byte could go out.');
  await visitor.sees(/nothing is sent again, and book goes on with its next/);
  await page.getByText('Arguments', { exact: true }).click();
  await visitor.sees('"path": "/bookings"');
  assert.match(await page.title(), /^\(1\) Action required · Pawl$/);
  await page.getByRole('link', { name: 'Link to this card' }).click();
  assert.match(page.url(), /\/needs\/mut_/);
  await visitor.sees('Everything that waits');
  await page.getByRole('link', { name: 'Everything about the call' }).click();
  await visitor.seesTitle('Book o1');
  await visitor.sees('Idempotency key');
});

test('“It happened”, with the result given: nothing is sent again, and the script goes on with that result', async (t) => {
  const { engine, outside, visitor } = await asked(t);
  const { page } = visitor;
  await visitor.button('It happened').click();
  await page.getByLabel('I know it, and give it here:').check();
  await page.getByLabel(/^body \(/).fill('{"ref": "b77"');
  await visitor.sees('body is not JSON');
  assert.ok(await visitor.button('Yes: it happened').isDisabled());
  await page.getByLabel(/^body \(/).fill('{"ref": "b77"}');
  await visitor.button('Yes: it happened').click();
  await visitor.sees('Nothing needs you');
  await engine.quiet();
  assert.deepEqual(outside.done, ['/bookings o1', '/told o1']);
  const [booked] = engine.reader.table('events').filter(({ topic }) => topic === 'booked');
  assert.deepEqual(JSON.parse(booked?.payload ?? ''), { ref: 'b77' });
  const [call] = engine.reader.table('mutations');
  assert.deepEqual([call?.status, call?.resolvedBy, call?.resolvedByName], ['applied', 'user_assert_applied', 'ada']);
  await visitor.go(`/outputs/${call?.id}`);
  await visitor.sees('done, says ada');
});

test('“It didn’t happen” can be pressed when it can be known, and sends the same call with the same key', async (t) => {
  const { engine, outside, visitor } = await asked(t, { visibilityMs: 3_000 });
  const button = visitor.button("It didn't happen");
  assert.ok(await button.isDisabled());
  await visitor.sees(/can be known from \d\d:\d\d:\d\d, in \d s/);
  await button.and(visitor.page.locator(':enabled')).waitFor();
  await visitor.choose("It didn't happen");
  await visitor.sees('Nothing needs you');
  await engine.quiet();
  assert.deepEqual(outside.done, ['/bookings o1', '/bookings o1', '/told o1']);
  assert.equal(outside.effects[0]?.key, outside.effects[1]?.key);
  assert.ok(outside.effects[0]?.key);
});

test('“Skip” goes on without it, whatever happened', async (t) => {
  const { engine, outside, visitor } = await asked(t);
  await visitor.choose('Skip');
  await visitor.sees('Nothing needs you');
  await engine.quiet();
  assert.deepEqual(outside.done, ['/bookings o1']);
  assert.deepEqual(engine.events('placed'), ['o1 skipped']);
  await visitor.go('/outputs');
  await visitor.sees('skipped by ada');
});

test('“Set aside” lets the others go on and keeps the question', async (t) => {
  const { engine, outside, visitor } = await asked(t);
  const [workflow] = engine.reader.table('workflows');
  await engine.publish(workflow?.name ?? '', 'placed', { id: 'o2' });
  await visitor.choose('Set aside');
  await visitor.sees('Set aside, but still waiting for you to say whether one POST to shop (Book o1) happened');
  await engine.quiet();
  assert.deepEqual(outside.done, ['/bookings o1', '/bookings o2', '/told o2']);
  await visitor.choose('Skip');
  await visitor.sees('Nothing needs you');
  await engine.until('next was told', () => engine.events('placed').includes('o1 skipped'));
  assert.equal(outside.effects.length, 3);
});

test('“Not yet” does nothing', async (t) => {
  const { engine, visitor } = await asked(t);
  await visitor.button('Skip').click();
  await visitor.button('Not yet').click();
  await visitor.button('Yes: skip').waitFor({ state: 'hidden' });
  assert.deepEqual(engine.events('placed'), ['o1 reserved']);
});

test('“Check again” asks the provider, and what it finds is taken', async (t) => {
  // A look-up gives up after a day: here the clock is moved, so the engine is in this process.
  const api = await Api.open(t, { reconcile: { get: '/found', applied: { status: 200 } } });
  const { stage } = api;
  stage.outside.pages.set('/orders', [{ id: 'o1' }]);
  stage.outside.behave({ after: 'drop' });
  await api.deploy(POLLED);
  await stage.until('it asks', () => stage.workflow().holds.includes('unknown'));
  const { id } = stage.mutation();
  while (stage.mutation().status === 'needs_reconcile') await stage.manager.postponeReconcile(id, 3_600_000);
  const visitor = await Visitor.open(stage.data, { path: `/needs/${id}` });
  await visitor.sees(/shop was asked \d+ times and could not tell/);
  stage.outside.pages.set('/found', { yes: true });
  await visitor.button('Check again').click();
  await visitor.sees('This does not wait for anybody any more');
  await stage.until('it goes on', () => stage.events('placed').includes('o1 consumed'));
  assert.equal(stage.outside.effects.filter(({ path }) => path === '/bookings').length, 1);
  await visitor.page.getByRole('link', { name: 'See what became of it' }).click();
  await visitor.sees('done, as a look-up found');
});

test('the input, the event and the run that wait for an answer show the question, and it can be given there', async (t) => {
  const api = await Api.open(t);
  api.stage.outside.pages.set('/orders', [{ id: 'o1' }]);
  api.stage.outside.behave({ after: 'drop' });
  await api.deploy(POLLED);
  await api.stage.until('the outcome is unknown', () => api.stage.workflow().holds.includes('unknown'));
  const visitor = await Visitor.open(api.stage.data, { path: '/inputs' });
  const { page } = visitor;
  const question = visitor.button('Waiting for you to say whether one POST to shop (Book o1) happened');
  await page.getByRole('link', { name: 'Order o1' }).click();
  await visitor.seesTitle('Order o1');
  await question.waitFor();
  await page.getByRole('link', { name: 'Order o1' }).last().click();
  await visitor.sees('Payload');
  await question.waitFor();
  await page.getByRole('link', { name: 'a run' }).last().click();
  await visitor.seesTitle('book');
  await question.click();
  await visitor.choose('Skip');
  await question.waitFor({ state: 'hidden' });
  await api.stage.until('it went on', () => api.stage.events('placed').includes('o1 skipped'));
  await visitor.seesTitle('book');
});

test('one answer does for all calls of an outage', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const visitor = await Visitor.open(engine.data, { path: '/needs' });
  for (const name of ['orders', 'returns', 'refunds']) {
    engine.outside.behave({ after: 'drop' });
    const { workflow } = await engine.deploy(orders({ name }));
    await engine.publish(workflow, 'placed', { id: name });
    await visitor.sees(`(Book ${name})`);
  }
  await visitor.sees('3 calls through shop without a known outcome');
  await visitor.page.getByText('3 of 3 chosen').click();
  await visitor.page.getByRole('checkbox', { name: 'Book refunds' }).uncheck();
  await visitor.button('All happened').click();
  await visitor.button('Yes, for 2 calls').click();
  await visitor.sees('2 calls answered');
  await visitor.seesNoMore('3 calls through shop without a known outcome');
  await engine.until(
    'two are done',
    () => engine.reader.table('mutations').filter(({ status }) => status === 'applied').length === 2,
  );
  await visitor.sees('(Book refunds)');
  assert.equal(engine.outside.effects.length, 3);
});
