import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Api, type Json } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { Visitor } from './visitor.ts';

/** The same, and it changes bookings too. */
const MORE = GIVEN.replace("ctx.shop.put({ path: '/told'", "ctx.shop.patch({ path: '/told'");

/** An agent, which may write scripts and nothing else, deploys a version that asks for more. */
async function asked(t: TestContext) {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const visitor = await Visitor.open(api.stage.data, { path: '/needs' });
  await visitor.sees('Nothing needs you');
  const { secret } = await api.ok(api.post('/api/tokens', { name: 'agent', scopes: ['edit'] }));
  const authorization = `Bearer ${secret}`;
  const deployed: Json = await api.ok(api.ask('POST', '/api/deploy', await api.bundled(MORE), { authorization }));
  await visitor.sees(/^Version 1\.1 by agent waits for you to allow more: shop\.patch on \/told$/);
  return { api, visitor, deployed };
}

const methods = (api: Api): string[] => api.stage.reader.table('mutations').map(({ method }) => method);
const bookings = (api: Api): number => api.stage.outside.effects.filter(({ path }) => path === '/bookings').length;

test('a deployment that asks for more waits, shows the difference in permissions and in code, and takes over when allowed', async (t) => {
  const { api, visitor } = await asked(t);
  const { page } = visitor;
  await visitor.sees('New: Wants to change things at shop (patch): /told');
  await visitor.sees('The version that is active goes on meanwhile.');
  await visitor.sees('What it asks for is allowed in your name, and version 1.1 takes over.');
  await page.getByRole('link', { name: 'What differs in the code of version 1.1' }).click();
  await visitor.seesTitle('Version 1.1');
  await visitor.sees('waits for permission');
  const differs = page.getByRole('list', { name: 'What differs in permissions' });
  await differs.waitFor();
  assert.deepEqual(await differs.getByRole('listitem').allTextContents(), [
    'New: Wants to change things at shop (patch): /told',
    'No more: Wants to change things at shop (put): /told',
  ]);
  await page.locator('tr[data-sign="+"]', { hasText: 'ctx.shop.patch' }).waitFor();
  assert.equal(await page.getByRole('list', { name: 'Not allowed' }).getByRole('listitem').count(), 1);
  await page.getByRole('link', { name: 'waits for permission' }).click();
  await visitor.choose('Allow');
  await visitor.sees('This does not wait for anybody any more');
  await visitor.go('/workflows/orders/versions');
  await page.getByRole('row', { name: /1\.1 active/ }).waitFor();
  await api.publish('orders', 'o1');
  await api.stage.until('the new version made its calls', () => api.stage.outside.effects.length === 2);
  assert.deepEqual(methods(api), ['post', 'patch']);
});

test('what is refused stays away, and the version that is active goes on', async (t) => {
  const { api, visitor } = await asked(t);
  await visitor.choose('Refuse');
  await visitor.sees('Nothing needs you');
  await visitor.go('/workflows/orders/versions');
  await visitor.page.getByRole('row', { name: /1\.0 active/ }).waitFor();
  await visitor.page.getByRole('row', { name: /1\.1 not active/ }).waitFor();
  await api.publish('orders', 'o1');
  await api.stage.until('both calls are made', () => api.stage.outside.effects.length === 2);
  assert.deepEqual(methods(api), ['post', 'put']);
});

test('a version that waits disappears from what needs somebody when another takes over', async (t) => {
  const { api, visitor, deployed } = await asked(t);
  await api.deploy(GIVEN.replace("'Book '", "'Booking '"));
  await visitor.sees('Nothing needs you');
  await visitor.go(`/needs/${deployed.request}`);
  await visitor.sees('This does not wait for anybody any more');
  await visitor.go('/workflows/orders/versions');
  await visitor.page.getByRole('row', { name: /1\.1 not active/ }).waitFor();
  await visitor.page.getByRole('row', { name: /1\.2 active/ }).waitFor();
});

test('above a cap it asks: some more, not what is old, or all that wait', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const visitor = await Visitor.open(api.stage.data, { path: '/workflows/orders/permissions' });
  const { page } = visitor;
  await visitor.button('Change shop.post').click();
  await page.getByLabel(/At most so many calls an hour/).fill('two');
  await visitor.sees('The cap is a whole number, or nothing.');
  await page.getByLabel(/At most so many calls an hour/).fill('2');
  await visitor.button('Yes: allow this').click();
  await visitor.sees('May change things at shop (post): /bookings, at most 2 an hour');

  await visitor.go('/needs');
  await api.publish('orders', ...Array.from({ length: 9 }, (_, i) => `o${i + 1}`));
  await visitor.sees('It asks because orders has made 2 calls of shop.post in the last hour, which is its cap.');
  await visitor.sees('6 more events wait behind it.');
  assert.equal(bookings(api), 2);

  await visitor.button('Approve some').click();
  await page.getByLabel('Calls besides this one').fill('none');
  assert.ok(await visitor.button('Yes: approve some').isDisabled());
  await page.getByLabel('Calls besides this one').fill('2');
  await visitor.button('Yes: approve some').click();
  await visitor.sees('3 more events wait behind it.');
  assert.equal(bookings(api), 5);

  await visitor.button('Skip what is old').click();
  await page.getByLabel('Older than').fill('0');
  await visitor.button('Yes: skip what is old').click();
  await visitor.seesNoMore('3 more events wait behind it.');
  assert.equal(api.stage.events('placed').filter((event) => event.endsWith('skipped')).length, 3);

  await api.publish('orders', 'n1', 'n2', 'n3');
  await visitor.choose('Approve all 3');
  await visitor.sees('Nothing needs you');
  await api.stage.until('all are sent', () => bookings(api) === 9);
});

test('what is taken back is asked about at its next call, and can be allowed there for good', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const visitor = await Visitor.open(api.stage.data, { path: '/workflows/orders/permissions' });
  await visitor.button('Take back shop.post').click();
  await visitor.button('Yes: take it back').click();
  await visitor.sees('Such a call is not sent: it waits until somebody approves it, or allows it here.');
  await api.publish('orders', 'o1');
  await visitor.go('/needs');
  await visitor.sees('It asks because orders was not allowed shop.post on /bookings.');
  assert.equal(bookings(api), 0);
  await visitor.choose('Approve, and allow it from now on');
  await visitor.sees('Nothing needs you');
  await api.publish('orders', 'o2');
  await api.stage.until('it is not asked about again', () => bookings(api) === 2);
  await visitor.go('/workflows/orders/permissions');
  await visitor.sees('May change things at shop (post): /bookings');
});
