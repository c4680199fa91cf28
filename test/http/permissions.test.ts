import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Answer, Api, type Json } from './api.ts';
import { GIVEN, POLLED } from './scripts.ts';

/** The same, and it cancels bookings too. */
const MORE = GIVEN.replace("ctx.shop.put({ path: '/told'", "ctx.shop.patch({ path: '/told'");

/** An agent: it may write scripts, and nothing else. */
async function agentOf(api: Api): Promise<(method: string, path: string, body?: object) => Promise<Answer>> {
  const { secret } = await api.ok(api.post('/api/tokens', { name: 'agent', scopes: ['edit'] }));
  return (method, path, body) => api.ask(method, path, body, { authorization: `Bearer ${secret}` });
}

const permissions = (api: Api): Promise<Json> => api.ok(api.get('/api/workflows/orders/permissions'));
const sentences = (list: Json[]): string[] => list.map(({ sentence }) => sentence);

function press(api: Api, need: Json, id: string, more: object = {}): Promise<Answer> {
  const choice = need.choices.find((each: Json) => each.id === id);
  assert.ok(choice?.request, `${id} is not among ${need.choices.map((each: Json) => each.id)}`);
  return api.ask(choice.request.method, choice.request.path, { ...choice.request.body, ...more });
}

async function asksAgain(api: Api, not = ''): Promise<Json> {
  await api.stage.until('it asks', () => {
    const row = api.stage.reader.table('mutations').at(-1);
    return row?.status === 'pending' && row.approvedAt === null && row.id !== not;
  });
  return (await api.needs())[0];
}

test('a person who deploys allows what the version asks for, and sees it in sentences', async (t) => {
  const api = await Api.open(t);
  const deployed = await api.deploy(POLLED);
  assert.deepEqual(sentences(deployed.missing), [
    'wants to read from shop (get): /orders',
    'wants to change things at shop (post): /bookings',
    'wants to change things at shop (put): /told',
  ]);
  assert.deepEqual([deployed.activated, deployed.request], [true, null]);
  const { grants, missing, request } = await permissions(api);
  assert.deepEqual(sentences(grants), [
    'may read from shop (get): /orders',
    'may change things at shop (post): /bookings',
    'may change things at shop (put): /told',
  ]);
  assert.deepEqual([missing, request, grants[0].allowedBy], [[], null, 'ada']);
  assert.deepEqual((await api.deploy(POLLED)).missing, [], 'what is allowed is not asked for again');
});

test('an agent deploys what needs nothing new; what needs more waits, and the difference is shown', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const agent = await agentOf(api);
  const same = await api.ok(agent('POST', '/api/deploy', await api.bundled(GIVEN.replace("'Book '", "'Booking '"))));
  assert.deepEqual([same.activated, same.version], [true, '1.1']);

  const more = await api.ok(agent('POST', '/api/deploy', await api.bundled(MORE)));
  assert.deepEqual([more.activated, more.version, more.status], [false, '1.2', 'active']);
  assert.deepEqual(sentences(more.missing), ['wants to change things at shop (patch): /told']);
  const [need] = await api.needs();
  assert.deepEqual([need.kind, need.id], ['permission', more.request]);
  assert.match(need.sentence, /^version 1\.2 by agent waits for you to allow more: shop\.patch on \/told$/);
  assert.equal((await api.ok(api.get('/api/needs/count'))).kinds.permission, 1);

  // The version that is active goes on meanwhile.
  await api.publish('orders', 'o1');
  await api.stage.until('both calls are made', () => api.stage.outside.effects.length === 2);
  assert.deepEqual(
    api.stage.outside.effects.map(({ path }) => path),
    ['/bookings', '/told'],
  );

  for (const [method, path, body] of [
    ['POST', `/api/requests/${more.request}/allow`, {}],
    ['POST', '/api/workflows/orders/approve', {}],
    ['POST', '/api/workflows/orders/permissions', { grants: [{ connection: 'shop', method: 'patch' }] }],
    ['POST', '/api/deploy', { ...(await api.bundled(MORE)), allow: true }],
    ['POST', '/api/deploy', { ...(await api.bundled(MORE)), skipPending: true }],
  ] as const) {
    await api.refused(agent(method, path, body), 403, 'scope');
  }

  const allowed = await api.ok(press(api, need, 'allow'));
  assert.deepEqual([allowed.activated, allowed.version], [true, '1.2']);
  assert.ok(sentences((await permissions(api)).grants).includes('may change things at shop (patch): /told'));
  await api.publish('orders', 'o2');
  await api.stage.until('the new version runs', () => api.stage.outside.effects.length === 4);
  assert.deepEqual(await api.needs(), []);
  const again = await api.refused(api.post(`/api/requests/${more.request}/allow`), 409, 'already-resolved');
  assert.match(again.detail, /was allowed/);
  const said = (await api.ok(api.get('/api/audit?limit=5'))).items.map((entry: Json) => entry.sentence);
  assert.ok(
    said.some((line: string) => /^ada allowed it \(shop\.patch on \/told\)$/.test(line)),
    said.join('\n'),
  );
});

test('a version that was refused stays away; one that another overtook is not let in by accident', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const agent = await agentOf(api);
  const first = await api.ok(agent('POST', '/api/deploy', await api.bundled(MORE)));
  await api.ok(api.post(`/api/requests/${first.request}/refuse`));
  assert.deepEqual(await api.needs(), []);
  assert.equal((await api.ok(api.get('/api/workflows/orders'))).version, '1.0');
  const second = await api.ok(agent('POST', '/api/deploy', await api.bundled(MORE)));
  assert.notEqual(second.request, first.request);
  await api.deploy(GIVEN.replace("'Book '", "'Booking '"));
  assert.deepEqual(await api.needs(), [], 'what was overtaken waits for nobody');
  assert.equal((await api.ok(api.get('/api/workflows/orders/permissions'))).request, null);
  const late = await api.refused(api.post(`/api/requests/${second.request}/allow`), 409, 'already-resolved');
  assert.match(late.why, /let another version take its place/);
  await api.refused(api.post('/api/requests/req_404/allow'), 404, 'not-found');
  await api.refused(api.post('/api/requests/run_404/refuse'), 400, 'malformed-id');
});

test('a script that does not say what it calls asks for anything; one that lies is asked about', async (t) => {
  const api = await Api.open(t);
  const { calls: _, ...silent } = await api.bundled(GIVEN);
  const deployed = await api.ok(api.post('/api/deploy', silent));
  assert.equal(deployed.missing.length, 6);
  assert.ok(sentences(deployed.missing).every((line) => /anything there$/.test(line)));

  const api2 = await Api.open(t);
  const lying = { ...(await api2.bundled(GIVEN)), calls: { shop: { put: ['/told'] } } };
  assert.equal((await api2.ok(api2.post('/api/deploy', lying))).activated, true);
  await api2.publish('orders', 'o1');
  const need = await asksAgain(api2);
  assert.ok(
    need.known.some((line: string) => line === 'It asks because orders was not allowed shop.post on /bookings.'),
  );
  assert.match(need.evidence[0], /^it asks because orders was not allowed shop\.post on \/bookings$/);
  const { next } = await api2.status();
  assert.ok(
    next.some(({ argv }: Json) => argv?.join(' ') === `pawl approve ${need.id} --allow`),
    JSON.stringify(next),
  );
  assert.equal(api2.stage.outside.effects.length, 0);
  await api2.ok(press(api2, need, 'allow'));
  await api2.stage.until('it goes on', () => api2.stage.outside.effects.length === 2);
  await api2.publish('orders', 'o2');
  await api2.stage.until('and is not asked again', () => api2.stage.outside.effects.length === 4);
});

test('an approval that covers more calls covers no target that nobody allowed', async (t) => {
  const api = await Api.open(t);
  const elsewhere = GIVEN.replace("path: '/bookings'", "path: '/bookings/' + data.id");
  await api.ok(api.post('/api/deploy', { ...(await api.bundled(elsewhere)), calls: { shop: { put: ['/told'] } } }));
  await api.publish('orders', 'o1', 'o2', 'o3');
  const bookings = (): string[] =>
    api.stage.outside.effects.map(({ path }) => path).filter((path) => path.startsWith('/bookings'));
  const first = await asksAgain(api);
  await api.ok(press(api, first, 'approve_all'));
  const second = await asksAgain(api, first.id);
  assert.equal(bookings().length, 1);
  await api.ok(press(api, second, 'approve_some', { cover: { calls: 5, target: 'any' } }));
  const third = await asksAgain(api, second.id);
  assert.equal(bookings().length, 2, 'any target means any that was allowed');
  await api.ok(press(api, third, 'reject_skip'));
});

test('what was taken back since a version asked is not given with it unseen', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const agent = await agentOf(api);
  const { request } = await api.ok(agent('POST', '/api/deploy', await api.bundled(MORE)));
  await api.ok(api.post('/api/workflows/orders/permissions/take', { connection: 'shop', method: 'post' }));
  const more = await api.refused(api.post(`/api/requests/${request}/allow`), 409, 'wrong-state');
  assert.match(more.detail, /would allow more than it shows/);
  const again = await api.ok(agent('POST', '/api/deploy', await api.bundled(MORE)));
  assert.equal(again.missing.length, 2);
  assert.equal((await api.ok(api.post(`/api/requests/${again.request}/allow`))).activated, true);
});

test('what is taken back is asked about at the next call', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.ok(api.post('/api/workflows/orders/permissions/take', { connection: 'shop', method: 'post' }));
  await api.refused(
    api.post('/api/workflows/orders/permissions/take', { connection: 'shop', method: 'post' }),
    404,
    'not-found',
  );
  assert.deepEqual(sentences((await permissions(api)).missing), ['wants to change things at shop (post): /bookings']);
  await api.publish('orders', 'o1');
  const need = await asksAgain(api);
  await api.ok(press(api, need, 'approve'));
  await api.stage.until('it is sent', () => api.stage.outside.effects.length > 0);
  await api.ok(
    api.post('/api/workflows/orders/permissions', {
      grants: [{ connection: 'shop', method: 'post', targets: ['/b*'] }],
    }),
  );
  assert.ok(sentences((await permissions(api)).grants).includes('may change things at shop (post): /b*'));
  for (const grant of [
    { connection: 'shop', method: 'brew' },
    { connection: 'shop' },
    { connection: 'shop', method: 'post', targets: [] },
  ]) {
    await api.refused(api.post('/api/workflows/orders/permissions', { grants: [grant] }), 400, 'invalid');
  }
});

test('a read that was not allowed is not made, and the workflow waits until it is', async (t) => {
  const api = await Api.open(t);
  api.stage.outside.pages.set('/orders', [{ id: 'o1' }]);
  const bundled = await api.bundled(POLLED);
  const deployed = await api.ok(api.post('/api/deploy', { ...bundled, activate: false }));
  await api.stage.manager.giveGrants(
    deployed.workflow,
    [{ connection: 'shop', method: 'post', targets: ['*'], capPerHour: null }],
    'ada',
  );
  await api.stage.manager.activateScript(deployed.workflow, deployed.script, {
    by: 'ada',
    schedule: { poll: api.stage.clock.now() },
  });
  await api.stage.until('it waits', () => api.stage.workflow().grantMissing);
  const [need] = await api.needs();
  assert.match(need.sentence, /^waiting for a permission: orders was not allowed to read from shop \(get\): \/orders$/);
  assert.deepEqual(api.stage.outside.reads, [], 'nothing was read');
  await api.ok(press(api, need, 'allow'));
  await api.stage.until('the order is booked', () => api.stage.outside.effects.length === 2);
});

test('above a cap the engine asks instead of sending: all, some, or not what is old', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const capped = await api.ok(
    api.post('/api/workflows/orders/permissions', { grants: [{ connection: 'shop', method: 'post', capPerHour: 2 }] }),
  );
  assert.ok(sentences(capped.grants).includes('may change things at shop (post): /bookings, at most 2 an hour'));
  const ids = Array.from({ length: 9 }, (_, i) => `o${i + 1}`);
  await api.publish('orders', ...ids);
  const bookings = (): number => api.stage.outside.effects.filter(({ path }) => path === '/bookings').length;

  const first = await asksAgain(api);
  assert.equal(bookings(), 2);
  assert.ok(
    first.known.includes('It asks because orders has made 2 calls of shop.post in the last hour, which is its cap.'),
  );
  assert.ok(
    first.known.some((line: string) => /^6 more events wait behind it\.$/.test(line)),
    first.known.join('\n'),
  );
  assert.deepEqual(
    first.choices.map((choice: Json) => choice.id),
    ['approve', 'approve_all', 'approve_some', 'skip_older', 'reject_skip', 'reject_park'],
  );

  // Some: this one and two more.
  await api.ok(press(api, first, 'approve_some', { cover: { calls: 2, hours: 1 } }));
  const second = await asksAgain(api, first.id);
  assert.equal(bookings(), 5);

  // What is old is left out; the call itself still waits.
  await api.ok(press(api, second, 'skip_older', { olderThan: api.stage.clock.now() + 1 }));
  assert.equal(api.stage.events('placed').filter((event) => event.endsWith('skipped')).length, 3);
  await api.publish('orders', 'n1', 'n2', 'n3');
  const [third] = await api.needs();
  assert.equal(third.id, second.id);
  await api.ok(press(api, third, 'approve_all'));
  await api.stage.until('all are sent', () => bookings() === 9);

  // The next hour is another one.
  await api.stage.pass(3_600_000 + 1_000);
  await api.publish('orders', 'm1', 'm2');
  await api.stage.until('they are sent', () => bookings() === 11);
  await api.refused(press(api, third, 'approve_some', { cover: { calls: 0 } }), 400, 'invalid');
});

test('the rule of the config and what an approval covers: always means each time, unless a person said otherwise', async (t: TestContext) => {
  const api = await Api.open(t, { approval: { post: 'always' } });
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1', 'o2', 'o3');
  const first = await asksAgain(api);
  assert.ok(first.known.includes('It asks because shop.post waits for a person each time.'));
  await api.ok(press(api, first, 'approve', { cover: { calls: 1, target: 'this' } }));
  const third = await asksAgain(api, first.id);
  assert.equal(api.stage.outside.effects.filter(({ path }) => path === '/bookings').length, 2);
  await api.ok(press(api, third, 'reject_park'));
  const shown = await api.ok(api.get(`/api/explain/${first.id}`));
  assert.ok(
    shown.story.some((line: string) => /ada approved more calls like it \(1 of shop\.post on \/bookings\)/.test(line)),
    shown.story.join('\n'),
  );
});
