import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineUnderTest } from '../e2e/engine.ts';
import { orders } from '../e2e/scripts.ts';
import { HookServer } from '../notify/receivers.ts';
import { Visitor } from './visitor.ts';

test('who is told, whether that works, and what was told stands in the settings; the link leads to the card', async (t) => {
  const hook = await HookServer.open();
  t.after(() => hook.close());
  const engine = await EngineUnderTest.open(t, {
    shop: { approval: { post: 'always' } },
    notify: { ops: { type: 'webhook', url: hook.url, secret: { secret: 'ops-hook' }, kinds: ['approval'] } },
  });
  const visitor = await Visitor.open(engine.data, { path: '/connections' });
  const { page } = visitor;
  await page.getByLabel('Name of a secret').fill('ops-hook');
  await page.getByLabel('Its value').fill('a key of this test, long enough');
  await visitor.button('Set it').click();
  await visitor.sees('ops-hook is set');
  await visitor.go('/settings/notifications');
  await visitor.sees('by a webhook, of: Waits for approval');
  await visitor.sees('not tried yet');
  await visitor.button('Test ops').click();
  await visitor.sees('ops was told, as a test');
  assert.equal(hook.got.length, 1);
  const { workflow } = await engine.deploy(orders());
  await engine.publish(workflow, 'placed', { id: 'o1' });
  await page.getByRole('row', { name: /Waits for approval output …\w{6} told ops/ }).waitFor();
  await visitor.sees('works');
  const told = JSON.parse(hook.got[1]?.body ?? '{}') as { data: { cases: { link: string }[] } };
  await page.goto(told.data.cases[0]?.link ?? '');
  await visitor.sees('Waiting for your approval of one POST to shop: Book o1');
  await page.goBack();
  await page.getByLabel('How it went').selectOption({ label: 'given up' });
  await visitor.sees('No notice fits this filter');
  await page.getByLabel('How it went').selectOption({ label: 'told' });
  await page.getByRole('link', { name: 'Waits for approval' }).click();
  await visitor.sees('Waiting for your approval of one POST to shop: Book o1');
});
