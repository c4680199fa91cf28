import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { Visitor } from './visitor.ts';

const VALUE = 'sk_live_4242424242424242';

test('a secret is set by whoever may, is shown to nobody, and lets what waited for it go on', async (t) => {
  const api = await Api.open(t, { auth: { bearer: { secret: 'shop-token' } } });
  api.stage.secret = undefined;
  api.stage.outside.bearer = VALUE;
  await api.deploy(GIVEN);
  const visitor = await Visitor.open(api.stage.data, { path: '/needs', mayHear: /status of 400/ });
  const { page } = visitor;
  await api.publish('orders', 'o1');
  await visitor.sees(/the secret "shop-token" is not set/);
  await visitor.go('/connections');
  await visitor.sees('No secret is set here');
  await page.getByLabel('Name of a secret').fill('shop token');
  await page.getByLabel('Its value').fill(VALUE);
  await visitor.button('Set it').click();
  await page.getByRole('alert').waitFor();
  assert.equal(await page.getByLabel('Its value').inputValue(), '', 'what was sent does not stay in the page');
  await page.getByLabel('Name of a secret').fill('shop-token');
  await page.getByLabel('Its value').fill(VALUE);
  await visitor.button('Set it').click();
  await visitor.sees('1 workflow waited for it, and goes on.');
  await api.stage.until('it went on', () => api.stage.outside.effects.length === 2);
  assert.equal((await page.content()).includes(VALUE), false);

  await visitor.button('Change the key').click();
  await visitor.sees(/sealed with a new master key; what they are stays the same/);
  await visitor.button('Yes: change the key').click();
  await visitor.sees('1 secret sealed anew');
  await api.publish('orders', 'o2');
  await api.stage.until('it is still opened', () => api.stage.outside.effects.length === 4);

  await visitor.button('Take away shop-token').click();
  await visitor.sees('Calls through shop wait until it is set again. Its value is gone for good.');
  await visitor.button('Yes: take it away').click();
  await visitor.sees('No secret is set here');
});

test('whoever may not do everything sees that secrets are there, and no field to set one', async (t) => {
  const api = await Api.open(t);
  await api.ok(api.ask('PUT', '/api/secrets/shop-token', { value: VALUE }));
  const { secret } = await api.ok(api.post('/api/tokens', { name: 'looker', scopes: ['operate'] }));
  const visitor = await Visitor.withToken(api.url, secret, { path: '/connections' });
  await visitor.sees('shop-token');
  assert.equal(await visitor.page.getByLabel('Its value').count(), 0);
  assert.equal(await visitor.button('Take away shop-token').count(), 0);
  assert.equal(await visitor.button('Change the key').count(), 0);
});
