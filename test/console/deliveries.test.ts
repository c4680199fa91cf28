import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Api, type Json } from '../http/api.ts';
import { violations } from './violations.ts';
import { Visitor } from './visitor.ts';

const SECRET = 'a shared secret of this test';

/** It fails on what has no order. */
const HOOKED = `
export default defineWorkflow({ name: 'hooked', uses: {}, topics: { got: topic<{ id: string }>() } })
  .webhook('signed', {
    publishes: ['got'], verify: 'standard', body: topic<{ order: { id: string } }>(),
    async handler(ctx, delivery) {
      const { id } = delivery.body.order;
      const inputId = ctx.registerInput({ source: 'shop', type: 'order', id, title: 'Order ' + id });
      ctx.publish('got', { messageId: id, inputId, payload: { id }, title: 'Order ' + id });
    },
  })
  .each('keep', 'got', { title: (data) => data.id, async mutate() {} });
`;

test('a delivery that stands in the way has a page, is found by its id, and is skipped there', async (t) => {
  const api = await Api.open(t, {}, { secret: () => SECRET });
  const send = async (id: string, body: string): Promise<string> => {
    const at = Math.floor(Date.now() / 1_000);
    const signature = createHmac('sha256', SECRET).update(`${id}.${at}.${body}`).digest('base64');
    const headers = { 'webhook-id': id, 'webhook-timestamp': `${at}`, 'webhook-signature': `v1,${signature}` };
    const answer = await fetch(`${api.url}/hooks/hooked/signed`, { method: 'POST', body, headers });
    return ((await answer.json()) as Json).delivery;
  };
  await api.deploy(HOOKED);
  const first = await send('d1', '{"nonsense":true}');
  await send('d2', '{"order":{"id":"o2"}}');
  await api.stage.quiet();
  const visitor = await Visitor.open(api.stage.data, { path: `/needs/${first}` });
  const { page } = visitor;
  await visitor.sees(/^Needs a repair: signed failed/);
  await page.getByRole('link', { name: 'The delivery it failed on' }).click();
  await visitor.seesTitle('Delivery d1');
  await visitor.sees(/^The whole workflow waits, because signed failed on it: TypeError/);
  await visitor.sees('"nonsense": true');
  await visitor.sees('"webhook-id": "d1"');
  assert.deepEqual(await violations(page), []);
  await visitor.button(/^Needs a repair: signed failed/).click();
  await visitor.sees('Whether the script or the delivery is at fault.');
  await visitor.button(/^Needs a repair: signed failed/).click();

  await page.keyboard.press('Control+k');
  await page.keyboard.type(first);
  await page.getByRole('option', { name: /^delivery d1 to signed.*in the way/ }).waitFor();
  await page.keyboard.press('Enter');
  await visitor.seesTitle('Delivery d1');
  await visitor.choose('Skip the delivery');
  await visitor.sees(/^Skipped by ada, because signed failed on it: TypeError/);
  assert.equal(await visitor.button('Skip the delivery').count(), 0);
  await api.stage.until('the other is done', () => api.stage.events('got').includes('o2 consumed'));
  await visitor.go(`/needs/${first}`);
  await page.getByRole('link', { name: 'See what became of it' }).click();
  await visitor.seesTitle('Delivery d1');

  await visitor.go('/audit');
  await page.getByRole('link', { name: /skipped it/ }).click();
  await visitor.seesTitle('Delivery d1');

  await visitor.go('/workflows/hooked/runs?status=committed&handler=signed');
  await page.locator('.rows-body a').first().click();
  await page.getByRole('link', { name: 'a delivery', exact: true }).click();
  await visitor.seesTitle('Delivery d2');
  await visitor.sees('Signed was called with it, and published 1 event.');
  await page.getByRole('link', { name: 'Order o2' }).first().click();
  await visitor.sees('What went out because of it');
});

test('the page of a delivery fits a phone, and one that is not there says so', async (t) => {
  const api = await Api.open(t, {}, { secret: () => SECRET });
  const { workflow } = await api.deploy(HOOKED);
  const { delivery } = await api.stage.manager.acceptDelivery(workflow, {
    hook: 'signed',
    deliveryId: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W-a-long-one',
    headers: JSON.stringify({ 'user-agent': `a very long name of a sender ${'x'.repeat(200)}` }),
    body: JSON.stringify({ text: 'y'.repeat(400) }),
  });
  await api.stage.quiet();
  const size = { width: 360, height: 740 };
  const visitor = await Visitor.open(api.stage.data, {
    path: `/deliveries/${delivery}`,
    size,
    colorScheme: 'dark',
    mayHear: /status of 404/,
  });
  await visitor.seesTitle(/^Delivery msg_/);
  await visitor.sees('What happened');
  assert.deepEqual(await violations(visitor.page), []);
  assert.ok(Number(await visitor.page.evaluate('document.documentElement.scrollWidth')) <= size.width);
  await visitor.go('/deliveries/dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV');
  await visitor.seesTitle('No such delivery');
});
