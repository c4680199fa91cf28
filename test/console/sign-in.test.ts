import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { Visitor } from './visitor.ts';

test('a wrong token opens nothing, and says so; the right one leads to where one wanted to go', async (t) => {
  const api = await Api.open(t);
  const visitor = await Visitor.stranger(api.url, { path: '/connections?q=shop', mayHear: /status of 401/ });
  const { page } = visitor;
  await page.getByLabel('Token').fill('not-a-token');
  await visitor.button('Sign in').click();
  await visitor.sees(/This opens nothing/);
  await page.getByLabel('Token').fill(api.token);
  await page.getByLabel(/Your name/).fill('Zoë');
  await visitor.button('Sign in').click();
  await visitor.seesTitle('Connections');
  assert.match(page.url(), /\/connections\?q=shop$/);
  await visitor.go('/settings');
  await visitor.sees('Zoë');
});

test('a session outlives a reload; what was signed out of stays out', async (t) => {
  const api = await Api.open(t);
  const visitor = await Visitor.open(api.stage.data, { path: '/settings', mayHear: /status of 401/ });
  const { page } = visitor;
  assert.equal(new URL(page.url()).hash, '', 'the code does not stay in the address');
  await page.reload();
  await visitor.seesTitle('Settings');
  await visitor.button('Sign out').click();
  await visitor.sees('You have signed out.');
  await page.reload();
  await page.getByLabel('Token').waitFor();
});

test('a link works once', async (t) => {
  const api = await Api.open(t);
  const { url } = await api.ok(api.post('/api/login-links'));
  const first = await Visitor.byLink(url);
  await first.seesTitle('Home');
  const second = await Visitor.stranger(api.url, { path: new URL(url).hash, mayHear: /status of 401/ });
  await second.sees(/the link was used before/);
});

test('a session that is revoked while its page is open ends there, and the next one is back at the same place', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const visitor = await Visitor.open(api.stage.data, { path: '/workflows/orders', mayHear: /status of 401/ });
  await visitor.seesTitle('orders');
  const { items } = await api.ok(api.get('/api/tokens'));
  await api.ok(api.post(`/api/tokens/${items[0].id}/revoke`));
  await visitor.sees(/Your session is over/);
  await visitor.page.getByLabel('Token').fill(readFileSync(join(api.stage.data, 'token'), 'utf8').trim());
  await visitor.button('Sign in').click();
  await visitor.seesTitle('orders');
});

test('a session that has come to its end is over at the next press, and nothing was done', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const visitor = await Visitor.open(api.stage.data, { path: '/workflows/orders', mayHear: /status of 401/ });
  await visitor.button('Pause').waitFor();
  api.stage.clock.aheadMs += 12 * 3_600_000 + 60_000;
  await Promise.all([
    visitor.sees(/Your session is over/),
    // The clock wakes the engine as well: its news may have the page ask, and be refused, before anybody can press.
    visitor
      .button('Pause')
      .click({ timeout: 10_000 })
      .catch(() => undefined),
  ]);
  assert.deepEqual(api.stage.workflow().holds, []);
});

test('whoever may only look is told so when they press', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const { secret } = await api.ok(api.post('/api/tokens', { name: 'looker', scopes: ['read'] }));
  const visitor = await Visitor.withToken(api.url, secret, { path: '/workflows/orders', mayHear: /status of 403/ });
  await visitor.seesTitle('orders');
  await visitor.button('Pause').click();
  await visitor.sees(/looker may not do this/i);
  assert.deepEqual(api.stage.workflow().holds, []);
});

test('a token is told once when it is made, and is revoked by a press', async (t) => {
  const api = await Api.open(t);
  const visitor = await Visitor.open(api.stage.data, { path: '/settings/access' });
  const { page } = visitor;
  await page.getByLabel('Name of a new token').fill('robot');
  await page.getByLabel('It may').selectOption({ label: 'validate, deploy and roll back' });
  await page.getByLabel('It ends after').selectOption({ label: '7 days' });
  await visitor.button('Make a token').click();
  const secret = (await page.getByRole('region', { name: 'new token' }).innerText()).trim();
  const ask = () => fetch(`${api.url}/api/me`, { headers: { authorization: `Bearer ${secret}` } });
  const me = (await (await ask()).json()) as { scopes: string[]; expiresAt: number };
  assert.deepEqual(me.scopes, ['edit']);
  assert.ok(Math.abs(me.expiresAt - Date.now() - 7 * 86_400_000) < 60_000);
  await page.getByLabel('Search by name').fill('nobody');
  await visitor.sees('None fits this filter.');
  await page.getByLabel('Search by name').fill('rob');
  await visitor.button('Revoke robot').click();
  await visitor.sees('robot: revoked');
  assert.equal((await ask()).status, 401);
  await visitor.go('/settings/access?state=revoked');
  await page.getByRole('row', { name: /robot token .* revoked/ }).waitFor();
  assert.equal(await page.getByRole('row', { name: /session of the console/ }).count(), 0);
});

test('on a phone every token has its button in sight', async (t) => {
  const api = await Api.open(t);
  const size = { width: 360, height: 740 };
  const visitor = await Visitor.open(api.stage.data, { path: '/settings/access', size });
  const box = await visitor.button('Revoke ada').boundingBox();
  assert.ok(box && box.x + box.width <= size.width, `it ends at ${box && box.x + box.width}`);
  await visitor.sees('session of the console');
});
