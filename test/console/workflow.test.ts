import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineUnderTest } from '../e2e/engine.ts';
import { orders, POLL } from '../e2e/scripts.ts';
import { violations } from './violations.ts';
import { Visitor } from './visitor.ts';

test('paused, nothing is sent; resumed, it goes on where it stood', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { workflow } = await engine.deploy(orders());
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders' });
  await visitor.button('Pause').click();
  await visitor.sees(/^Paused by ada at/);
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await visitor.sees('1 waiting');
  await engine.quiet();
  assert.deepEqual(engine.outside.done, []);
  await visitor.button('Resume').click();
  await visitor.sees(/^Idle, /);
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  assert.deepEqual(engine.outside.done, ['/bookings o1']);
  await visitor.sees('nothing waits');
});

test('“Run now” while it runs is refused with the reason; stopping the session lets the call under way end', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { outside } = engine;
  const { workflow } = await engine.deploy(orders());
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders', mayHear: /status of 409/ });
  await visitor.sees(/^Idle, /);
  outside.behave({ after: 'hold' });
  const arrived = outside.arrival();
  await engine.publish(workflow, 'placed', { id: 'o1' }, { id: 'o2' });
  await arrived;
  await visitor.sees(/^Running book, waiting for one POST to shop to be answered/);
  await visitor.button('Run now').click();
  assert.match(await visitor.page.getByRole('alert').innerText(), /already/);
  assert.deepEqual(
    engine.reader.table('executions').map(({ trigger }) => trigger),
    ['event'],
  );
  await visitor.button('Stop the session').click();
  await visitor.sees(/it stops at the next safe point/);
  outside.release();
  await visitor.sees(/^Cancelled, waiting for the next trigger/);
  assert.deepEqual(outside.done, ['/bookings o1'], 'what was sent was awaited, and nothing after it was begun');
  await visitor.button('Run now').click();
  await engine.until('both are done', () => engine.events('placed').every((each) => each.endsWith('consumed')));
  assert.deepEqual(outside.done, ['/bookings o1', '/bookings o2']);
});

test('paused while its session is being stopped, it says both, and offers to stop it no more', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { outside } = engine;
  const { workflow } = await engine.deploy(orders());
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders' });
  const badge = (word: string) => visitor.page.locator('.standing').getByText(word, { exact: true });
  outside.behave({ after: 'hold' });
  const arrived = outside.arrival();
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await arrived;
  await visitor.button('Stop the session').click();
  await badge('being cancelled').waitFor();
  assert.equal(await visitor.button('Stop the session').count(), 0);
  await visitor.button('Pause').click();
  await badge('paused').waitFor();
  await badge('being cancelled').waitFor();
  await visitor.sees(/^Paused by ada at \d\d:\d\d; also being cancelled \(asked by ada\): running book/);
  await visitor.go('/workflows');
  await badge('paused').waitFor();
  await badge('being cancelled').waitFor();
  outside.release();
  await badge('being cancelled').waitFor({ state: 'hidden' });
  await badge('paused').waitFor();
});

test('a workflow is put away for good only after it was asked once more', async (t) => {
  const engine = await EngineUnderTest.open(t);
  await engine.deploy(orders());
  const visitor = await Visitor.open(engine.data, { path: '/workflows' });
  const { page } = visitor;
  const archive = async () => {
    await visitor.button('What you can do with orders').click();
    await page.getByRole('menuitem', { name: /^Archive/ }).click();
    await page.getByRole('alertdialog', { name: 'Archive orders' }).waitFor();
  };
  await archive();
  assert.deepEqual(await violations(page), []);
  await visitor.button('Not yet').click();
  await page.getByRole('alertdialog').waitFor({ state: 'hidden' });
  assert.equal(engine.reader.table('workflows')[0]?.status, 'active');
  await archive();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog').waitFor({ state: 'hidden' });
  await archive();
  await visitor.button('Yes: archive orders').click();
  await visitor.sees('orders: archived');
  assert.equal(engine.reader.table('workflows')[0]?.status, 'archived');
});

test('“Run now” runs the producers, whatever their schedule', async (t) => {
  const engine = await EngineUnderTest.open(t);
  engine.outside.pages.set('/orders', []);
  await engine.deploy(orders({ more: POLL }));
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders' });
  await visitor.sees(/^next in \d+ min$/);
  engine.outside.pages.set('/orders', [{ id: 'o7' }]);
  await visitor.button('Run now').click();
  await engine.until('it is done', () => engine.events('placed').includes('o7 consumed'));
  await visitor.page.getByRole('link', { name: 'Inputs' }).last().click();
  await visitor.page.getByRole('link', { name: 'Order o7' }).click();
  await visitor.seesTitle('Order o7');
  await visitor.page.getByRole('link', { name: 'Book o7' }).click();
  await visitor.seesTitle('Book o7');
  await visitor.page.getByRole('link', { name: 'Order o7' }).first().click();
  await visitor.seesTitle('Order o7');
});

test('the runs of one handler are found from the graph and by the filter, also of a handler that is gone', async (t) => {
  const engine = await EngineUnderTest.open(t);
  engine.outside.pages.set('/orders', [{ id: 'o7' }]);
  await engine.deploy(orders({ more: POLL }));
  await engine.until('it is done', () => engine.events('placed').includes('o7 consumed'));
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders' });
  const { page } = visitor;
  const rows = page.locator('.rows-body .row');
  await page.getByRole('link', { name: /^producer poll/ }).click();
  const filter = page.getByLabel('Handler');
  await rows.filter({ hasText: 'poll' }).first().waitFor();
  assert.equal(await filter.inputValue(), 'poll');
  assert.equal(await rows.filter({ hasText: 'book' }).count(), 0);
  await filter.selectOption('book');
  await rows.filter({ hasText: 'book' }).first().waitFor();
  assert.equal(await rows.filter({ hasText: 'poll' }).count(), 0);
  await visitor.go('/workflows/orders/runs?handler=gone');
  await visitor.sees('No run fits this filter');
  await page.waitForFunction("document.querySelector('select')?.closest('search').textContent.includes('gone')");
});

test('a consumed event is done again by a press, and says that it can happen twice', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { workflow } = await engine.deploy(orders());
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  const visitor = await Visitor.open(engine.data, { path: '/outputs' });
  await visitor.page.getByRole('link', { name: 'Book o1' }).click();
  await visitor.button('Do again').click();
  await visitor.sees(/what they caused outside can happen a second time/);
  await visitor.button('Yes: do again').click();
  await engine.until('it is done twice', () => engine.outside.effects.length === 2);
  assert.notEqual(engine.outside.effects[0]?.key, engine.outside.effects[1]?.key);
});

test('a person publishes an event, and skips what has waited too long', async (t) => {
  const engine = await EngineUnderTest.open(t);
  await engine.deploy(orders());
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders/events' });
  const { page } = visitor;
  await visitor.button('Publish an event').click();
  const form = page.getByRole('form', { name: 'Publish an event' });
  await form.getByLabel('Topic').selectOption('placed');
  await form.getByLabel('Message id').fill('o1');
  await form.getByLabel('Payload').fill('{ "id": ');
  await visitor.sees(/JSON/);
  assert.equal(await visitor.button('Yes: publish it').isDisabled(), true);
  await form.getByLabel('Payload').fill('{ "id": "o1" }');
  await visitor.button('Yes: publish it').click();
  await visitor.sees('Published into placed');
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  await visitor.button('Pause').click();
  await visitor.sees('Resume');
  await engine.publish('orders', 'placed', { id: 'o2' });
  await page.getByRole('row', { name: /placed o2 waiting/ }).waitFor();
  await visitor.button('Skip what is old').click();
  await page.getByLabel('In which topic').selectOption('placed');
  await page.getByLabel('Older than', { exact: true }).fill('0');
  await visitor.button('Yes: skip what is old').click();
  await visitor.sees('1 event skipped');
  assert.deepEqual(engine.events('placed'), ['o1 consumed', 'o2 skipped']);
});

test('what happened is told with times as people say them, and the exact one on hover', async (t) => {
  const engine = await EngineUnderTest.open(t);
  engine.outside.pages.set('/orders', [{ id: 'o1' }]);
  await engine.deploy(orders({ more: POLL }));
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  engine.outside.pages.set('/orders', [{ id: 'o1' }, { id: 'o2' }]);
  await engine.deploy(orders({ more: POLL, next: "ctx.log('another');" }));
  await engine.until('both are done', () => engine.events('placed').includes('o2 consumed'));
  const visitor = await Visitor.open(engine.data, { path: '/inputs' });
  const { page } = visitor;
  await page.getByLabel('Workflow').selectOption('orders');
  await page.getByLabel('Version').selectOption('1.0');
  await page.getByRole('link', { name: 'Order o2' }).waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'Order o1' }).click();
  await visitor.sees('version 1.0');
  const first = page.locator('.story li').first();
  assert.match(await first.innerText(), /^(just now|\d+ s ago)\s+shop order o1 came in/);
  assert.match((await first.locator('time').getAttribute('title')) ?? '', /^\w+, \d+ \w+ \d{4}.*\d\d:\d\d:\d\d\.\d{3}/);
});

test('a version is compared with the one before, and an earlier one takes over again', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { workflow } = await engine.deploy(orders());
  await engine.deploy(
    orders({ mutate: "return ctx.shop.post({ path: '/other', json: { id: data.id } });", next: null }),
  );
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders/versions' });
  const { page } = visitor;
  await page.getByRole('link', { name: '1.1' }).click();
  await visitor.seesTitle('Version 1.1');
  await page.locator('tr[data-sign="+"]', { hasText: "path: '/other'" }).waitFor();
  await page.locator('tr[data-sign="−"]', { hasText: "path: '/bookings'" }).waitFor();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByRole('link', { name: '1.0' }).click();
  await visitor.seesTitle('Version 1.0');
  await visitor.button('Let it take over').click();
  await visitor.sees('Version 1.0 takes over again; what runs now ends under its own version.');
  await visitor.button('Yes: go to version 1.0').click();
  await visitor.sees('Version 1.0 is active');
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  assert.deepEqual(engine.outside.done, ['/bookings o1']);
});

test('what a handler remembers is shown and can be set', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { workflow } = await engine.deploy(orders());
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders/state' });
  await visitor.sees('"count": 1');
  await visitor.button('Change it').click();
  await visitor.page.getByRole('textbox').fill('{ "count": 41 }');
  await visitor.button('Yes: set it').click();
  await visitor.sees('"count": 41');
  await engine.publish(workflow, 'placed', { id: 'o2' });
  await visitor.sees('"count": 42');
});
