import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { type Answer, Api, type Json } from './api.ts';
import { HOOKED } from './scripts.ts';

const SECRET = 'a shared secret of this test';
const SECRETS: Readonly<Record<string, string>> = {
  'hook.hooked.signed': SECRET,
  'hook.hooked.pushed': SECRET,
  'hook.hooked.told': SECRET,
};

function standard(id: string, body: string, at = Math.floor(Date.now() / 1_000)): Record<string, string> {
  const signature = createHmac('sha256', SECRET).update(`${id}.${at}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': `${at}`, 'webhook-signature': `v1,${signature}` };
}

test('a delivery of a webhook', async (t) => {
  const api = await Api.open(t, {}, { secret: (name) => SECRETS[name] });
  await api.deploy(HOOKED);
  const send = async (path: string, body: string, headers: Record<string, string>): Promise<Answer> => {
    const answer = await fetch(`${api.url}/hooks/${path}`, { method: 'POST', body, headers });
    return { status: answer.status, body: await answer.json() };
  };

  await t.test('needs no token but a signature, is durable before the answer, and runs its handler', async () => {
    const body = '{"n": 1}';
    const first = await send('hooked/signed', body, standard('d1', body));
    assert.equal(first.status, 202);
    const [row] = api.stage.reader.table('deliveries');
    assert.deepEqual([row?.id, row?.deliveryId, row?.body], [first.body.delivery, 'd1', body]);
    assert.equal(JSON.parse(row?.headers ?? '')['webhook-id'], 'd1');
    await api.stage.quiet();
    assert.deepEqual(api.stage.events(), ['d1 consumed']);
    const shown = await api.ok(api.get(`/api/show/${first.body.delivery}`));
    assert.deepEqual([shown.kind, shown.row.status, shown.row.body], ['delivery', 'done', { n: 1 }]);
    const { items } = await api.ok(api.get('/api/inputs'));
    assert.deepEqual([items[0].title, items[0].state], ['Delivery d1', 'done']);
  });

  await t.test('that comes again is answered 200 and runs nothing', async () => {
    const again = await send('hooked/signed', '{"n": 1}', standard('d1', '{"n": 1}'));
    assert.deepEqual([again.status, again.body.duplicate], [200, true]);
    assert.equal(api.stage.reader.table('deliveries').length, 1);
  });

  await t.test('without a body is one of null, and GitHub signs its own way', async () => {
    assert.equal((await send('hooked/signed', '', standard('empty', ''))).status, 202);
    const body = '{"ref":"main"}';
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    const headers = { 'x-github-delivery': 'g1', 'x-hub-signature-256': signature };
    assert.equal((await send('hooked/pushed', body, headers)).status, 202);
    await api.refused(send('hooked/pushed', `${body} `, headers), 401, 'bad-signature');
    await api.stage.quiet();
    assert.deepEqual(api.stage.events(), ['d1 consumed', 'empty consumed', 'push-g1 consumed']);
  });

  await t.test('from Slack may be a challenge, which is answered and not kept', async () => {
    const signed = (body: string, secret = SECRET): Record<string, string> => {
      const at = String(Math.floor(Date.now() / 1_000));
      const signature = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex');
      return { 'x-slack-request-timestamp': at, 'x-slack-signature': `v0=${signature}` };
    };
    const kept = api.stage.reader.table('deliveries').length;
    const challenge = '{"type":"url_verification","challenge":"3eZbrw1a"}';
    const answer = await send('hooked/told', challenge, signed(challenge));
    assert.deepEqual([answer.status, answer.body], [200, { challenge: '3eZbrw1a' }]);
    await api.refused(send('hooked/told', challenge, signed(challenge, 'another')), 401, 'bad-signature');
    assert.equal(api.stage.reader.table('deliveries').length, kept, 'no handler is called for it');
    const event = '{"type":"event_callback","event_id":"Ev1","challenge":"no"}';
    assert.equal((await send('hooked/told', event, signed(event))).status, 202);
    await api.stage.quiet();
    assert.equal(api.stage.events().at(-1), 'Ev1 consumed');
  });

  await t.test('that comes in pieces of unknown length is checked over its very bytes', async () => {
    const body = '{"n": "é€😀"}';
    const inPieces = async (sent: string, headers: Record<string, string>): Promise<Answer> => {
      // One byte at a time: letters come apart, and are one again.
      const pieces = ReadableStream.from([...Buffer.from(sent)].map((byte) => Uint8Array.of(byte)));
      const init: RequestInit = { method: 'POST', body: pieces, headers, duplex: 'half' };
      const answer = await fetch(`${api.url}/hooks/hooked/signed`, init);
      return { status: answer.status, body: await answer.json() };
    };
    assert.equal((await inPieces(body, standard('pieces', body))).status, 202);
    await api.refused(inPieces(`${body} `, standard('pieces-2', body)), 401, 'bad-signature');
    assert.equal(api.stage.reader.table('deliveries').at(-1)?.body, body);
    await api.stage.quiet();
  });

  await t.test('with neither body nor signature is refused in words', async () => {
    const { port } = new URL(api.url);
    const asked = request({ host: '127.0.0.1', port, path: '/hooks/hooked/signed', method: 'POST' });
    // Nothing is said of a length, as curl does it.
    asked.removeHeader('content-length');
    asked.removeHeader('transfer-encoding');
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    assert.equal(answer.statusCode, 401);
  });

  await t.test('that is not what it says is refused and not kept', async () => {
    const before = api.stage.reader.table('deliveries').length;
    const body = '{"n": 2}';
    const good = standard('d2', body);
    await api.refused(send('hooked/signed', '{"n": 3}', good), 401, 'bad-signature');
    await api.refused(send('hooked/signed', body, { ...good, 'webhook-id': 'd3' }), 401, 'bad-signature');
    await api.refused(send('hooked/signed', body, { 'webhook-id': 'd2' }), 401, 'bad-signature');
    await api.refused(send('hooked/signed', body, standard('d2', body, 1_000_000)), 401, 'bad-signature');
    await api.refused(send('hooked/signed', 'not json', standard('d2', 'not json')), 400, 'invalid');
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    await api.refused(send('hooked/signed', deep, standard('d2', deep)), 400, 'invalid');
    await api.refused(send('hooked/nobody', body, good), 404, 'not-found');
    await api.refused(send('hooked/keep', body, good), 404, 'not-found');
    await api.refused(send('nobody/signed', body, good), 404, 'not-found');
    assert.equal(api.stage.reader.table('deliveries').length, before);
  });
});

/** It fails on what has no order. */
const STRICT = `
export default defineWorkflow({ name: 'hooked', uses: {}, topics: { got: topic<{ id: string }>() } })
  .webhook('signed', {
    publishes: ['got'], verify: 'standard', body: topic<{ order: { id: string } }>(),
    async handler(ctx, delivery) {
      const { id } = delivery.body.order;
      const inputId = ctx.registerInput({ source: 'shop', type: 'order', id, title: 'Order ' + id });
      ctx.publish('got', { messageId: id, inputId, payload: { id } });
    },
  })
  .each('keep', 'got', { title: (data) => data.id, async mutate() {} });
`;

test('a delivery tells what came of it: it waits, stands in the way, is skipped by somebody, or is done', async (t) => {
  const api = await Api.open(t, {}, { secret: (name) => SECRETS[name] });
  const { workflow } = await api.deploy(STRICT);
  const send = async (id: string, body: string): Promise<string> => {
    const init = { method: 'POST', body, headers: standard(id, body) };
    return ((await (await fetch(`${api.url}/hooks/hooked/signed`, init)).json()) as Json).delivery;
  };
  const shown = (id: string): Promise<Json> => api.ok(api.get(`/api/deliveries/${id}`));
  await api.stage.manager.pauseWorkflow(workflow, 'ada');
  const [first, second] = [await send('d1', '{}'), await send('d2', '{"order":{"id":"o2"}}')];
  const early = await shown(first);
  assert.deepEqual([early.row.status, early.row.sentence, early.runs], ['pending', 'waits to be handed to signed', []]);
  assert.equal(early.row.headers['webhook-id'], 'd1');
  await api.stage.manager.resumeWorkflow(workflow, 'ada');
  await api.stage.quiet();

  const stopped = await shown(first);
  assert.equal(stopped.row.status, 'failed');
  assert.match(stopped.row.sentence, /^the whole workflow waits, because signed failed on it: .*undefined/);
  assert.deepEqual(
    stopped.runs.map(({ status }: Json) => status),
    ['failed:logic'],
  );
  const [need] = await api.needs();
  assert.deepEqual([need.kind, need.delivery, need.run], ['repair', first, stopped.runs[0].id]);

  await api.ok(api.post(`/api/deliveries/${first}/skip`));
  await api.stage.quiet();
  const skipped = await shown(first);
  assert.deepEqual([skipped.row.status, skipped.row.skippedBy], ['skipped', 'ada']);
  assert.equal(typeof skipped.row.skippedAt, 'number');
  assert.match(skipped.row.sentence, /^skipped by ada, because signed failed on it: .*undefined/);
  assert.deepEqual([skipped.events, skipped.inputs], [[], []]);

  const done = await shown(second);
  assert.deepEqual(
    [done.row.status, done.row.sentence, done.row.skippedBy],
    ['done', 'signed was called with it, and published 1 event', null],
  );
  assert.deepEqual([done.events[0].messageId, done.inputs[0].title], ['o2', 'Order o2']);

  const { story } = await api.ok(api.get(`/api/explain/${first}`));
  assert.match(story[0], /delivery d1 came in as dlv_\w+: \{\}$/);
  assert.match(story.at(-2), /ada skipped it$/);
  assert.match(story.at(-1), /^Now: skipped by ada, because/);
  const { items } = await api.ok(api.get(`/api/search?q=${first}`));
  assert.deepEqual(
    items.map(({ kind, id, title, workflow: name, status }: Json) => [kind, id, title, name, status]),
    [['delivery', first, 'delivery d1 to signed', 'hooked', 'skipped']],
  );
  await api.refused(api.get('/api/deliveries/dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV'), 404, 'not-found');
  await api.refused(api.get('/api/explain/dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV'), 404, 'not-found');
});

test('a webhook whose secret nobody set asks its sender to come back', async (t) => {
  const api = await Api.open(t);
  api.stage.secret = '';
  await api.deploy(HOOKED);
  const answer = await fetch(`${api.url}/hooks/hooked/signed`, {
    method: 'POST',
    body: '{}',
    headers: standard('d1', '{}'),
  });
  assert.equal(answer.status, 503);
  const { why } = (await answer.json()) as Json;
  assert.match(why, /hook\.hooked\.signed is not set/);
});
