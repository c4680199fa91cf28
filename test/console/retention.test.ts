import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { violations } from './violations.ts';
import { Visitor } from './visitor.ts';

const DAY_MS = 86_400_000;
const KEPT = { config: { retention: { keepDays: 30 } } };

/** Two orders that are done, and a month that nobody came by in. */
async function aMonthLater(api: Api): Promise<void> {
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1', 'o2');
  await api.stage.quiet();
  api.stage.clock.aheadMs += 31 * DAY_MS;
}

test('where everything is kept, the settings say so, and how it could be otherwise', async (t) => {
  const api = await Api.open(t);
  const visitor = await Visitor.open(api.stage.data, { path: '/settings' });
  await visitor.sees('Kept for');
  await visitor.sees('ever');
  await visitor.sees('retention: { keepDays: 90 }');
  assert.equal(await visitor.button('See what would be removed').count(), 0);
});

test('what is old is counted, left alone, and removed when a person says so', async (t) => {
  const api = await Api.open(t, {}, KEPT);
  const early = await Visitor.open(api.stage.data, { path: '/settings', mayHear: /status of 401/ });
  await early.sees('30 days');
  await early.button('See what would be removed').click();
  await early.sees('nothing. It goes for good, now instead of within the hour.');

  await aMonthLater(api);
  const visitor = await Visitor.open(api.stage.data, { path: '/settings' });
  const look = visitor.button('See what would be removed');
  const runs = api.stage.reader.table('handler_runs').length;
  await look.click();
  await visitor.sees(/^\d+ runs, \d+ events, \d+ outputs, 0 inputs\. It goes for good/);
  assert.deepEqual(await violations(visitor.page), []);
  await visitor.button('Not yet').click();
  await visitor.seesNoMore(/It goes for good/);
  assert.equal(api.stage.reader.table('handler_runs').length, runs, 'looking removes nothing');

  await look.click();
  await visitor.button('Yes: remove it now').click();
  await visitor.sees('Old history is being removed');
  await visitor.sees('What was removed');
  await visitor.sees(/^\d+ runs, \d+ events, \d+ outputs, 0 inputs$/);
  assert.ok(api.stage.reader.table('handler_runs').length < runs);
  await visitor.go('/audit');
  await visitor.sees(/ada asked to remove old history/);
  await visitor.go('/settings');
  await look.click();
  await visitor.sees(/^nothing\. It goes for good/);
});

test('whoever may answer may look, and only whoever may do everything may remove', async (t) => {
  const api = await Api.open(t, {}, KEPT);
  await aMonthLater(api);
  for (const scope of ['read', 'operate']) {
    const { secret } = await api.ok(api.post('/api/tokens', { name: scope, scopes: [scope] }));
    const visitor = await Visitor.withToken(api.url, secret, { path: '/settings' });
    await visitor.sees('30 days');
    const look = visitor.button('See what would be removed');
    if (scope === 'read') {
      assert.equal(await look.count(), 0);
      continue;
    }
    await look.click();
    await visitor.sees(/^\d+ runs, \d+ events, \d+ outputs, 0 inputs\.$/);
    assert.equal(await visitor.button('Yes: remove it now').count(), 0);
  }
});
