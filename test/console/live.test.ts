import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineUnderTest } from '../e2e/engine.ts';
import { orders } from '../e2e/scripts.ts';
import { Visitor } from './visitor.ts';

/** What a browser says of its own accord when nobody answers. */
const GONE = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE/;

test('the engine is killed and comes back while its page is open: it is said, nothing is reloaded, everything is read again', async (t) => {
  const engine = await EngineUnderTest.open(t, { keepsPort: true });
  const { workflow } = await engine.deploy(orders());
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await engine.until('it is done', () => engine.events('placed').includes('o1 consumed'));
  const visitor = await Visitor.open(engine.data, { path: '/outputs', mayHear: GONE });
  const { page } = visitor;
  await visitor.sees('Book o1');
  await page.evaluate('window.notReloaded = true');
  await engine.kill();
  await visitor.sees('The engine does not answer.');
  await visitor.sees('Book o1');
  // What happened meanwhile, and what happens afterwards, is there without anybody's doing.
  await engine.start();
  await visitor.sees('The engine is back.');
  await engine.publish(workflow, 'placed', { id: 'o2' });
  await visitor.sees('Book o2');
  assert.equal(await page.evaluate('window.notReloaded'), true);
});

test('what happens elsewhere is on the page without a reload: a list, a card, its count', async (t) => {
  const engine = await EngineUnderTest.open(t, { shop: { approval: { post: 'always' } } });
  const { workflow } = await engine.deploy(orders());
  const visitor = await Visitor.open(engine.data, { path: '/outputs' });
  const { page } = visitor;
  await visitor.sees('Nothing went out yet');
  await page.evaluate('window.notReloaded = true');
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await page.getByRole('row', { name: /Book o1 waits for approval/ }).waitFor();
  await page.getByRole('link', { name: /Action required 1/ }).click();
  await visitor.sees('Waiting for your approval of one POST to shop: Book o1');
  // Somebody else answers.
  await engine.keyboard.json('approve', engine.reader.table('mutations')[0]?.id ?? '');
  await visitor.sees('Nothing needs you');
  assert.equal(await page.evaluate('window.notReloaded'), true);
});

test('the engine dies in the middle of a call: the page asks as soon as it is back', async (t) => {
  const engine = await EngineUnderTest.open(t, { keepsPort: true });
  const { workflow } = await engine.deploy(orders());
  const visitor = await Visitor.open(engine.data, { path: '/', mayHear: GONE });
  await visitor.sees('Nothing needs you');
  engine.outside.behave({ after: 'hold' });
  const arrived = engine.outside.arrival();
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await arrived;
  await visitor.sees(/Running book, waiting for one POST to shop to be answered/);
  await engine.kill();
  await visitor.sees('The engine does not answer.');
  await engine.start();
  await visitor.sees('1 thing needs you');
  await visitor.sees(/one POST to shop \(Book o1\) happened/);
  assert.deepEqual(engine.outside.done, ['/bookings o1']);
});

test('a press that nobody answers is not known to have arrived, and the page says that', async (t) => {
  const engine = await EngineUnderTest.open(t, { keepsPort: true });
  await engine.deploy(orders());
  const visitor = await Visitor.open(engine.data, { path: '/workflows/orders', mayHear: GONE });
  await visitor.button('Pause').waitFor();
  await engine.kill();
  await visitor.sees('The engine does not answer.');
  await visitor.button('Pause').click();
  await visitor.sees(/it is not known whether the engine did it/);
  await engine.start();
  await visitor.sees('The engine is back.');
  await visitor.button('Pause').click();
  await visitor.sees(/Paused by ada/);
  await visitor.button('Resume').waitFor();
});

test('a list that somebody has scrolled down in is not moved: it says that there is news', async (t) => {
  const engine = await EngineUnderTest.open(t);
  const { workflow } = await engine.deploy(orders());
  await engine.keyboard.ok('pause', workflow);
  const many = Array.from({ length: 400 }, (_, i) => ({ id: `e${1_000 + i}` }));
  await engine.publish(workflow, 'placed', ...many);
  const visitor = await Visitor.open(engine.data, { path: '/events' });
  const { page } = visitor;
  await visitor.sees('placed e1399');
  const rows = await page.locator('.rows-body .row').count();
  assert.ok(rows < 100, `${rows} rows of 400 are in the page`);
  await page.mouse.move(640, 500);
  await page.mouse.wheel(0, 3_000);
  await visitor.seesNoMore('placed e1399');
  await engine.publish(workflow, 'placed', { id: 'e9999' });
  await visitor.button('Something changed: show it').click();
  await visitor.sees('placed e9999');
  // To the very end, page by page.
  for (let i = 0; i < 40 && (await page.getByText('placed e1000').count()) === 0; i++) {
    await page.keyboard.press('End');
    await page.locator('.rows-body .row').first().waitFor();
  }
  await visitor.sees('placed e1000');
});
