import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Answer, Api, type Json } from './api.ts';
import { GIVEN, POLLED } from './scripts.ts';

/** What a person does in the console: press what the engine offered. */
function press(api: Api, need: Json, id: string, more: object = {}): Promise<Answer> {
  const choice = need.choices.find((each: Json) => each.id === id);
  assert.ok(choice?.request, `${id} is not among ${need.choices.map((each: Json) => each.id)}`);
  return api.ask(choice.request.method, choice.request.path, { ...choice.request.body, ...more });
}

const ids = (need: Json): string[] => need.choices.map((each: Json) => each.id);

/** One order came in, and nobody knows whether it was booked. */
async function asked(t: TestContext, shop: object = {}): Promise<{ api: Api; need: Json }> {
  const api = await Api.open(t, { ...shop });
  api.stage.outside.pages.set('/orders', [{ id: 'o1' }]);
  api.stage.outside.behave({ after: 'drop' });
  await api.deploy(POLLED);
  await api.stage.until('it asks', () => api.stage.workflow().holds.includes('unknown'));
  const [need] = await api.needs();
  return { api, need };
}

test('an unknown outcome has everything to decide by', async (t) => {
  const { api, need } = await asked(t);
  assert.deepEqual([need.kind, need.name, need.handler, need.version], ['unknown', 'orders', 'book', '1.0']);
  assert.equal(need.title, 'Book o1');
  assert.match(need.call.preview, /^POST http[\s\S]*"id": "o1"/);
  assert.deepEqual(need.call.params, { path: '/bookings', json: { id: 'o1' } });
  assert.deepEqual(
    need.inputs.map((input: Json) => input.title),
    ['Order o1'],
  );
  assert.deepEqual(
    need.events.map((event: Json) => event.payload),
    [{ id: 'o1' }],
  );
  assert.ok(need.known.length >= 3 && need.unknown.length >= 1);
  assert.ok(need.facts.some((fact: Json) => fact.says === 'the call was recorded' && fact.at === need.facts[0].at));
  assert.deepEqual(ids(need), ['happened', 'did_not_happen', 'skip', 'set_aside']);
  for (const choice of need.choices) assert.match(choice.does, /^[A-Z].+\.$/, choice.id);
  assert.equal(need.choices[0].asks, 'result');
  assert.deepEqual([need.result.required, need.result.assumed], [false, null]);
  assert.equal(need.result.schema.anyOf.length, 2, 'an answer, or nothing');
  assert.deepEqual(need.workflows, ['orders']);
  assert.equal(need.link, `/needs/${need.id}`);
  assert.deepEqual(await api.ok(api.get('/api/needs/count')), { schema: 1, total: 1, kinds: { unknown: 1 } });
  assert.equal((await api.ok(api.get('/api/needs?kind=approval'))).items.length, 0);
  assert.equal((await api.ok(api.get('/api/needs?q=BOOK%20O1&workflow=orders'))).items.length, 1);
  assert.equal((await api.ok(api.get('/api/needs?workflow=others'))).items.length, 0);
  assert.equal((await api.ok(api.get('/api/overview'))).needs.total, 1);
});

test('pressing "it happened" with a result goes on with that result', async (t) => {
  const { api, need } = await asked(t);
  await api.ok(press(api, need, 'happened', { result: { body: { ref: 'b9' } } }));
  await api.stage.quiet();
  assert.deepEqual(api.stage.outside.effects.at(-1)?.body, ['b9']);
});

test('"it didn’t happen" says from when on it may be pressed, and is refused before', async (t) => {
  const { api, need } = await asked(t, { visibilityMs: 60_000 });
  const choice = need.choices.find((each: Json) => each.id === 'did_not_happen');
  assert.ok(choice.notBefore > api.stage.clock.now());
  const problem = await api.refused(press(api, need, 'did_not_happen'), 409, 'too-early');
  assert.equal(problem.notBefore, choice.notBefore);
  await api.stage.pass(choice.notBefore - api.stage.clock.now() + 1);
  const [later] = await api.needs();
  assert.equal(later.choices.find((each: Json) => each.id === 'did_not_happen').notBefore, null);
  await api.ok(press(api, later, 'did_not_happen'));
  await api.stage.quiet();
  assert.equal(api.stage.outside.effects.filter(({ path }) => path === '/bookings').length, 2);
});

test('a question that is set aside no longer offers to be set aside', async (t) => {
  const { api, need } = await asked(t);
  await api.ok(press(api, need, 'set_aside'));
  await api.stage.quiet();
  const [open] = await api.needs();
  assert.deepEqual(ids(open), ['happened', 'did_not_happen', 'skip']);
  assert.ok(open.facts.some((fact: Json) => fact.source === 'ada' && /set aside/.test(fact.says)));
  await api.ok(press(api, open, 'skip'));
  await api.stage.quiet();
  assert.deepEqual(await api.needs(), []);
});

test('a look-up that found nothing can be asked for again', async (t) => {
  const reconcile = { get: '/nowhere', applied: { status: 200 } };
  const { api, need: checking } = await asked(t, { reconcile });
  assert.equal(checking, undefined, 'while the engine looks, nobody is asked');
  const { id } = api.stage.mutation();
  while (api.stage.mutation().status === 'needs_reconcile') await api.stage.manager.postponeReconcile(id, 3_600_000);
  const [need] = await api.needs();
  assert.deepEqual(ids(need), ['happened', 'did_not_happen', 'check_again', 'skip', 'set_aside']);
  assert.ok(need.known.some((line: string) => /^shop was asked \d+ times and could not tell\.$/.test(line)));
  api.stage.outside.pages.set('/nowhere', { found: true });
  await api.ok(press(api, need, 'check_again'));
  await api.stage.until('it was found', () => api.stage.events('placed').includes('o1 consumed'));
  assert.equal(api.stage.outside.effects.filter(({ path }) => path === '/bookings').length, 1);
});

test('one answer for all calls of an outage', async (t) => {
  const api = await Api.open(t);
  const names = ['orders', 'returns', 'refunds'];
  for (const name of names) {
    api.stage.outside.behave({ after: 'drop' });
    const { workflow } = await api.deploy(GIVEN.replace("name: 'orders'", `name: '${name}'`));
    await api.publish(name, 'o1');
    await api.stage.until('it asks', () => api.stage.workflow(workflow).holds.includes('unknown'));
  }
  assert.equal((await api.needs()).length, 3);
  const resolve = (body: object) => api.post('/api/outputs/resolve', body);
  await api.refused(resolve({ how: 'skip' }), 400, 'invalid');
  await api.refused(resolve({ how: 'skip', connection: 'shop', outputs: ['mut_1'] }), 400, 'invalid');
  assert.equal((await api.ok(resolve({ how: 'skip', connection: 'book' }))).answered, 0);
  assert.equal((await api.ok(resolve({ how: 'skip', connection: 'shop', to: 1 }))).answered, 0);
  const [first] = await api.needs();
  await api.ok(press(api, first, 'skip'));
  const again = await api.ok(resolve({ how: 'happened', outputs: [first.id] }));
  assert.deepEqual([again.answered, again.refused, again.items[0].problem.code], [0, 1, 'already-resolved']);
  const rest = await api.ok(resolve({ how: 'happened', connection: 'shop' }));
  assert.deepEqual([rest.answered, rest.refused], [2, 0]);
  await api.stage.quiet();
  assert.deepEqual(await api.needs(), []);
});

test('a call that waits for approval is pressed through as it is shown', async (t) => {
  const api = await Api.open(t, { approval: { post: 'always' } });
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.until('it asks', () => api.stage.workflow().holds.includes('approval'));
  const [need] = await api.needs();
  assert.deepEqual(ids(need), ['approve', 'reject_skip', 'reject_park']);
  assert.ok(need.call.expiresAt > api.stage.clock.now());
  assert.equal(need.result, null);
  await api.ok(press(api, need, 'approve'));
  await api.stage.until('it is sent', () => api.stage.outside.effects.length > 0);
  assert.deepEqual(api.stage.outside.effects[0]?.body, need.call.params.json);
});

test('a repair shows the author’s own lines, the suspects, and what can be done', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.publish('orders', 'poison1', 'o2');
  await api.stage.until('it needs a repair', () => api.stage.workflow().maintenance);
  const [need] = await api.needs();
  assert.deepEqual(ids(need), ['deploy', 'retry', 'park', 'skip']);
  assert.equal(need.place.file, 'orders.ts');
  const line = need.place.lines.find((each: Json) => each.number === need.place.line);
  assert.match(line.text, /throw new Error\('cannot read this order'\)/);
  assert.deepEqual(
    need.events.map((event: Json) => event.messageId),
    ['poison1'],
  );
  await api.ok(press(api, need, 'park'));
  await api.stage.until('the other order is booked', () => api.stage.events('placed').includes('o2 consumed'));
});

test('a refused connection is one case for everybody who waits, and a good test frees them', async (t) => {
  const api = await Api.open(t, { auth: { bearer: { secret: 'shop' } } });
  api.stage.outside.bearer = 'new';
  for (const name of ['orders', 'returns']) {
    const { workflow } = await api.deploy(GIVEN.replace("name: 'orders'", `name: '${name}'`));
    await api.publish(name, 'o1');
    await api.stage.until('it waits', () => api.stage.workflow(workflow).holds.includes('connection'));
  }
  const needs = await api.needs();
  assert.deepEqual(
    needs.map((need: Json) => [need.kind, need.id]),
    [['connection', 'shop']],
  );
  assert.deepEqual(needs[0].workflows.sort(), ['orders', 'returns']);
  assert.equal((await api.ok(press(api, needs[0], 'test'))).ok, false);
  api.stage.secret = 'new';
  api.stage.outside.pages.set('/', {});
  assert.equal((await api.ok(press(api, needs[0], 'test'))).freed.length, 2);
});
