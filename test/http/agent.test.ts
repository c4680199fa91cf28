import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ROUTES } from '#http';
import { type Answer, Api, type Json } from './api.ts';
import { GIVEN } from './scripts.ts';

// An agent that writes scripts, with the scope `edit`, beside everything that can wait for a person.

const VALUE = 'sk_live_4242424242424242';
/** The same, and it changes bookings too. */
const MORE = GIVEN.replace("ctx.shop.put({ path: '/told'", "ctx.shop.patch({ path: '/told'");

const named = (name: string, script = GIVEN): string => script.replace("name: 'orders'", `name: '${name}'`);

interface World {
  readonly api: Api;
  agent(method: string, path: string, body?: unknown): Promise<Answer>;
}

/** A question, a repair and a version that waits; the service gives its secret back in what went wrong. */
async function waiting(t: Parameters<typeof Api.open>[0]): Promise<World> {
  const api = await Api.open(t, { auth: { bearer: { secret: 'shop-token' } } });
  api.stage.secret = VALUE;
  api.stage.outside.bearer = VALUE;
  const { secret } = await api.ok(api.post('/api/tokens', { name: 'agent', scopes: ['edit'] }));
  const agent: World['agent'] = (method, path, body) =>
    api.ask(method, path, body, { authorization: `Bearer ${secret}` });
  await api.deploy(GIVEN);
  api.stage.outside.behave({ answer: 500, body: { said: `Bearer ${VALUE}` } });
  await api.publish('orders', 'o1');
  await api.stage.until('it asks', () => api.stage.workflow().holds.includes('unknown'));
  await api.deploy(named('returns'));
  await api.publish('returns', 'poison');
  await api.stage.until('it needs a repair', () =>
    api.stage.reader.table('workflows').some((workflow) => workflow.maintenance),
  );
  return { api, agent };
}

test('an agent reads everything there is to decide by, without any secret in it', async (t) => {
  const { api, agent } = await waiting(t);
  const { items } = await api.ok(agent('GET', '/api/needs'));
  assert.deepEqual(
    items.map(({ kind }: Json) => kind),
    ['unknown', 'repair'],
  );
  const [question, repair] = items;
  assert.match(JSON.stringify(question), /\[secret shop-token\]/, 'what was there is named');
  for (const { method, path, scope } of ROUTES) {
    if (method !== 'GET' || scope !== 'read' || path === '/api/live' || path === '/metrics') continue;
    const at = path
      .replace('{workflow}', 'orders')
      .replace(/\{id\}/, path.includes('/outputs/') ? question.id : path.includes('/runs/') ? repair.run : 'orders');
    const { body } = await agent('GET', at.includes('?') || path !== '/api/search' ? at : `${at}?q=o1`);
    assert.equal(JSON.stringify(body).includes(VALUE), false, at);
  }
});

test('an agent deploys what needs nothing new, and whatever a card offers it cannot press', async (t) => {
  const { api, agent } = await waiting(t);
  const more = await api.ok(agent('POST', '/api/deploy', await api.bundled(MORE)));
  assert.deepEqual([more.activated, typeof more.request], [false, 'string']);
  const { items } = await api.ok(agent('GET', '/api/needs'));
  const pressed: string[] = [];
  for (const need of items) {
    for (const { id, request } of need.choices) {
      // Going back to what was allowed before is the work of whoever writes scripts.
      if (request === null || id === 'rollback') continue;
      await api.refused(agent(request.method, request.path, request.body), 403, 'scope');
      pressed.push(`${need.kind} ${id}`);
    }
  }
  assert.deepEqual(pressed, [
    'unknown happened',
    'unknown did_not_happen',
    'unknown skip',
    'unknown set_aside',
    'permission allow',
    'permission refuse',
    'repair retry',
    'repair park',
    'repair skip',
  ]);
  const [event] = api.stage.reader.table('events');
  await api.refused(agent('POST', '/api/events/redo', { events: [event?.id] }), 403, 'scope');
  await api.refused(agent('PUT', '/api/secrets/shop-token', { value: VALUE }), 403, 'scope');
  await api.refused(agent('POST', '/api/deploy', { ...(await api.bundled(MORE)), allow: true }), 403, 'scope');
  await api.refused(agent('POST', '/api/deploy', { ...(await api.bundled(MORE)), skipPending: true }), 403, 'scope');
  assert.equal((await api.ok(agent('POST', '/api/validate', await api.bundled(MORE)))).valid, true);
  const mended = await api.bundled(named('returns', GIVEN.replace("'Book '", "'Booking '")));
  assert.equal((await api.ok(agent('POST', '/api/deploy', mended))).activated, true);
});
