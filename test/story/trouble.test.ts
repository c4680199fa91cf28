import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api, type Json } from '../http/api.ts';
import { GIVEN, POLLED } from '../http/scripts.ts';

const commands = ({ next }: Json): string[] => next.flatMap(({ argv }: { argv?: string[] }) => argv?.join(' ') ?? []);

test('refused credentials hold everybody who uses the connection, are told once, and a good test frees all', async (t) => {
  const api = await Api.open(t);
  api.stage.outside.behave({ answer: 401 }, { answer: 401 });
  for (const name of ['one', 'two']) {
    await api.deploy(GIVEN.replace("name: 'orders'", `name: '${name}'`));
    await api.publish(name, 'o1');
  }
  const held = () => api.stage.reader.table('workflows').filter(({ holds }) => holds.includes('connection')).length;
  await api.stage.until('both wait', () => held() === 2);
  const [need, ...others] = await api.needs();
  assert.deepEqual([need.kind, need.id, others.length], ['connection', 'shop', 0]);
  assert.match(
    need.sentence,
    /^waiting for connection shop, whose credentials were refused: .*401.*; 2 workflows wait for it: one, two$/,
  );
  assert.deepEqual(commands(need), ['pawl connections test shop', 'pawl connections cure shop']);
  assert.match((await api.status('two')).sentence, /waiting for connection shop/);
  const { items } = await api.ok(api.get('/api/connections'));
  const shop = items.find(({ name }: Json) => name === 'shop');
  assert.deepEqual([shop.type, shop.status, shop.workflows], ['http', 'refused', ['one', 'two']]);
  assert.match(shop.reason, /401/);

  const tested = await api.ok(api.post('/api/connections/shop/test'));
  assert.deepEqual([tested.ok, tested.freed.length, tested.sentence], [true, 2, 'it works; one, two go on']);
  await api.stage.quiet();
  assert.equal(held(), 0);
  assert.deepEqual(await api.needs(), []);
  assert.equal((await api.ok(api.post('/api/connections/shop/cure'))).sentence, 'it works; nobody waited for it');
  await api.refused(api.post('/api/connections/nobody/test'), 404, 'not-found');
  await api.refused(api.post('/api/connections/nobody/cure'), 404, 'not-found');
});

test('a connection that does not answer fails its test, and nobody is freed', async (t) => {
  const api = await Api.open(t, { baseUrl: 'http://127.0.0.1:9' });
  const tested = await api.ok(api.post('/api/connections/shop/test'));
  assert.deepEqual([tested.ok, tested.error.class, tested.freed], [false, 'transient', []]);
});

test('a permission that is refused waits for a person, and goes on when it is given', async (t) => {
  const api = await Api.open(t);
  api.stage.outside.behave({ answer: 403 });
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.until('it waits', () => api.stage.workflow().holds.includes('approval'));
  const [need] = await api.needs();
  assert.match(need.sentence, /^waiting for a permission: .*403/);
  assert.deepEqual(commands(need), ['pawl approve orders']);
  await api.ok(api.post('/api/outputs/orders/approve'));
  await api.stage.quiet();
  assert.deepEqual(api.stage.events('placed'), ['o1 consumed']);
});

test('a poison event stops its consumer: the sentence has the line, and the commands name the event', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const [poison] = await api.publish('orders', 'poison-1', 'o2');
  await api.stage.until('it needs a repair', () => api.stage.workflow().maintenance);
  const status = await api.status();
  assert.match(
    status.sentence,
    /^needs a repair: book failed: Error: cannot read this order \(orders\.ts:\d+:\d+\) \(since \d+ s, 2 events wait behind it\)$/,
  );
  const run = api.stage.lastRun().id;
  assert.deepEqual(commands(status), [
    'pawl retry orders',
    `pawl park ${poison}`,
    `pawl skip ${poison}`,
    `pawl explain ${run}`,
  ]);
  assert.equal((await api.needs())[0].kind, 'repair');
  await api.ok(api.post('/api/workflows/orders/retry'));
  await api.stage.until('it failed again', () => api.stage.lastRun().id !== run && api.stage.workflow().maintenance);
  await api.ok(api.post('/api/events/park', { events: [poison] }));
  await api.stage.quiet();
  assert.deepEqual(api.stage.events('placed'), ['poison-1 parked', 'o2 consumed']);
  assert.deepEqual(await api.needs(), []);
});

test('a bug in next after the call offers to finish without it, and never to send again', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  await api.publish('orders', 'bug-1');
  await api.stage.until('it needs a repair', () => api.stage.workflow().maintenance);
  const status = await api.status();
  const run = api.stage.lastRun().id;
  assert.match(
    status.sentence,
    /^needs a repair: book failed after its call was made: Error: a bug in next \(orders\.ts:/,
  );
  assert.deepEqual(commands(status), ['pawl retry orders', `pawl finish ${run}`, `pawl explain ${run}`]);
  const finished = await api.ok(api.post(`/api/runs/${run}/finish`));
  assert.deepEqual([finished.run, finished.status], [run, 'committed']);
  await api.stage.quiet();
  assert.deepEqual([api.stage.events('placed'), api.stage.outside.effects.length], [['bug-1 consumed'], 1]);
  await api.refused(api.post(`/api/runs/${run}/finish`), 409, 'wrong-state');
});

test('a service that does not answer is waited for, and the sentence says until when and why', async (t) => {
  const api = await Api.open(t, { notDone: [503] });
  api.stage.outside.behave({ answer: 503, headers: { 'retry-after': '3600' } });
  await api.deploy(GIVEN);
  await api.publish('orders', 'o1', 'o2', 'o3');
  await api.stage.until('it backs off', () => api.stage.runs().includes('book mutating paused:transient'));
  const status = await api.status();
  assert.match(
    status.sentence,
    /^waiting until [\d: -]+ for shop to answer again \(1 try: .*503.*\) \(since \d+ s, 3 events wait behind it\)$/,
  );
  assert.equal(commands(status)[0], 'pawl trigger orders');
  assert.deepEqual(await api.needs(), []);
  await api.ok(api.post('/api/workflows/orders/trigger'));
  await api.stage.quiet();
  assert.equal(api.stage.outside.effects.filter(({ path }) => path === '/bookings').length, 3);
  const outputs = (await api.ok(api.get('/api/outputs?workflow=orders&status=failed'))).items;
  assert.deepEqual(
    outputs.map(({ words }: Json) => words),
    ['not done'],
  );
});

test('an idle workflow says what it does next; inputs whose call was refused show every try', async (t) => {
  const api = await Api.open(t);
  api.stage.outside.pages.set('/orders', [{ id: 'o1' }]);
  api.stage.outside.behave({ answer: 429, headers: { 'retry-after': '0' } });
  await api.deploy(POLLED);
  await api.stage.until('the order is booked', () => api.stage.events('placed').includes('o1 consumed'));
  await api.stage.quiet();
  const status = await api.status();
  assert.match(status.sentence, /^idle, next poll in (1 h|60 min)$/);
  assert.deepEqual([status.blocks, status.status], [null, 'active']);
  const [input] = (await api.ok(api.get('/api/inputs'))).items;
  assert.deepEqual(
    input.outputs.map(({ title, words }: Json) => [title, words]),
    [
      ['Book o1', 'not done'],
      ['Book o1', 'done'],
      ['Tell of 1', 'done'],
    ],
  );
  assert.equal(input.state, 'done');
});

test('the state of an input follows what it caused: pending, waiting, skipped, done again', async (t) => {
  const api = await Api.open(t);
  api.stage.outside.pages.set('/orders', [{ id: 'o1' }, { id: 'poison' }]);
  await api.deploy(POLLED);
  await api.stage.until('it needs a repair', () => api.stage.workflow().maintenance);
  const states = async (): Promise<string[]> =>
    (await api.ok(api.get('/api/inputs'))).items.map(({ title, state }: Json) => `${title} ${state}`);
  assert.deepEqual(await states(), ['Order poison pending', 'Order o1 pending'], 'o1 is booked, and not told of yet');
  const poison = api.stage.reader.table('events').find(({ messageId }) => messageId === 'poison');
  await api.ok(api.post('/api/events/park', { events: [poison?.id] }));
  await api.stage.quiet();
  assert.deepEqual(await states(), ['Order poison waiting', 'Order o1 done']);
  await api.ok(api.post('/api/events/skip', { events: [poison?.id] }));
  assert.deepEqual(await states(), ['Order poison skipped', 'Order o1 done']);
});
