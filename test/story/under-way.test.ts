import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { monotonicIds } from '#base';
import { type } from '../cli/typed-terminal.ts';
import { Api, type Json } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';

const commands = ({ next }: Json): string[] => next.flatMap(({ argv }: { argv?: string[] }) => argv?.join(' ') ?? []);
const labels = ({ next }: Json): string[] => next.map(({ label }: { label: string }) => label);

const SECONDS = 1_000;
const START = 'start one: pawl worker --pool heavy';
const ANOTHER = 'start another: pawl worker --pool heavy';

/** An engine that stands for one of many, with work of a pool that nobody takes. */
async function handedOff(t: TestContext) {
  const config = { fleet: { pools: { heavy: ['orders'] } } };
  const api = await Api.open(t, {}, { config, isShared: true });
  const { manager, clock } = api.stage;
  const { workflow } = await api.deploy(GIVEN);
  await api.stage.quiet();
  await manager.together((model) => {
    const { execution } = model.requestExecution(workflow, 'event');
    model.beginScheduling(execution);
    model.handOff(execution);
  });
  const register = async (name: string, pool: string) => {
    const worker = monotonicIds(clock).next('worker');
    await manager.registerWorker(worker, { name, pool, leaseMs: 600 * SECONDS, concurrency: 8 });
    return worker;
  };
  const pass = (seconds: number): void => {
    clock.aheadMs += seconds * SECONDS;
  };
  return { api, manager, workflow, register, pass };
}

test('what was handed off to a pool without workers says so, and is not to be triggered', async (t) => {
  const { api, register, pass } = await handedOff(t);
  await register('one', 'default');
  pass(30);
  const status = await api.status();
  assert.match(status.sentence, /^waiting for a worker of pool heavy \(for 3\d s\): none is alive$/);
  assert.deepEqual([status.kind, commands(status), labels(status).at(-1)], ['worker', ['pawl workers'], START]);
  await api.refused(api.post('/api/workflows/orders/trigger'), 409, 'busy');
});

test('what was just handed off is about to be taken, and later its worker is full or cannot claim it', async (t) => {
  const { api, register, pass } = await handedOff(t);
  await register('big', 'heavy');
  assert.equal((await api.status()).sentence, 'about to be taken by a worker of pool heavy');
  pass(30);
  const late = await api.status();
  assert.match(late.sentence, /^waiting for a worker of pool heavy \(for 3\d s\): big is full, or cannot claim it$/);
  assert.deepEqual([late.kind, commands(late), labels(late).at(-1)], ['worker', ['pawl workers'], ANOTHER]);
});

test('where all workers of the pool are cordoned or draining, those of it that can be opened are named', async (t) => {
  const { api, manager, register } = await handedOff(t);
  const big = await register('big', 'heavy');
  await manager.cordonWorker(big, 'ada');
  const cordoned = await api.status();
  assert.match(cordoned.sentence, /^waiting for a worker of pool heavy \(for \d+ s\): each is cordoned$/);
  assert.deepEqual(commands(cordoned), ['pawl workers', `pawl uncordon ${big}`]);
  await manager.drainWorker(await register('old', 'heavy'), 'ada');
  const { sentence, ...both } = await api.status();
  assert.match(sentence, /: each is cordoned or draining$/);
  assert.deepEqual(commands(both), ['pawl workers', `pawl uncordon ${big}`], 'nobody can open one that drains');
  assert.equal(labels(both).at(-1), ANOTHER);
});

test('a worker without what the workflow uses is named with what it lacks, and others take it as ever', async (t) => {
  const { api, manager, register } = await handedOff(t);
  const big = await register('big', 'heavy');
  await manager.noteLacks(big, [
    { workflow: 'orders', connection: 'shop', why: 'has no connection "shop" in its config' },
    { workflow: 'refunds', connection: 'bank', why: 'has no connection "bank" in its config' },
  ]);
  const { sentence, ...alone } = await api.status();
  assert.match(
    sentence,
    /^waiting for a worker of pool heavy \(for \d+ s\): big has no connection "shop" in its config$/,
  );
  assert.deepEqual(labels(alone), ['see who is at work', 'give big what is missing, and start it again', ANOTHER]);
  await manager.cordonWorker(await register('old', 'heavy'), 'ada');
  assert.match((await api.status()).sentence, /: big has no connection "shop" in its config; each other is cordoned$/);
  await register('whole', 'heavy');
  assert.equal((await api.status()).sentence, 'about to be taken by a worker of pool heavy');
});

test('a worker whose lease ran out takes nothing', async (t) => {
  const { api, register, pass } = await handedOff(t);
  await register('big', 'heavy');
  pass(601);
  assert.match((await api.status()).sentence, /^waiting for a worker of pool heavy \(for 10 min\): none is alive$/);
});

test('what is cancelled after its handoff is being cancelled, and waits for whoever ends it', async (t) => {
  const { api } = await handedOff(t);
  await api.ok(api.post('/api/workflows/orders/cancel'));
  const status = await api.status();
  assert.match(
    status.sentence,
    /^being cancelled \(asked by ada\): waiting for a worker of pool heavy \(for \d+ s\): none is alive$/,
  );
  assert.deepEqual(commands(status), ['pawl workers']);
});

test('a cancel at the keyboard says that it is cancelled where nobody has it yet, and that it is being cancelled after', async (t) => {
  const api = await Api.open(t, {}, { config: { fleet: { pools: { heavy: ['orders'] } } }, isShared: true });
  const { manager } = api.stage;
  const { workflow } = await api.deploy(GIVEN);
  await api.stage.quiet();
  const cancel = () => type(['cancel', 'orders'], { env: { PAWL_URL: api.url, PAWL_TOKEN: api.token, USER: 'ada' } });
  await manager.together((model) => {
    const { execution } = model.requestExecution(workflow, 'event');
    model.beginScheduling(execution);
  });
  assert.match((await cancel()).out, /^orders is cancelled, before anything of it began; the workflow is active\n/);
  await manager.together((model) => {
    const { execution } = model.requestExecution(workflow, 'event');
    model.beginScheduling(execution);
    model.handOff(execution);
  });
  assert.match((await cancel()).out, /^orders is being cancelled; the workflow is active\n/);
});

test('a request beside one that was handed off changes nothing of what is waited for', async (t) => {
  const { api, manager, workflow } = await handedOff(t);
  await manager.requestExecution(workflow, 'event');
  assert.match((await api.status()).sentence, /^waiting for a worker of pool heavy/);
});

test('a cancel during a call is told with who asked, and is not offered again', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  api.stage.outside.behave({ after: 'hold' });
  const arrival = api.stage.outside.arrival();
  await api.publish('orders', 'o1');
  await arrival;
  const running = await api.status();
  assert.deepEqual(commands(running).slice(0, 2), ['pawl outputs orders', 'pawl cancel orders']);
  const asked = await api.ok(api.post('/api/workflows/orders/cancel'));
  assert.match(asked.sentence, /^being cancelled \(asked by ada\): running book/);
  const status = await api.status();
  assert.equal(status.kind, 'cancelling');
  assert.match(
    status.sentence,
    /^being cancelled \(asked by ada\): running book, waiting for one POST to shop to be answered \(for \d+ s\)/,
  );
  assert.equal(commands(status).includes('pawl cancel orders'), false);
  assert.equal(status.since, api.stage.reader.table('executions').at(-1)?.cancelRequestedAt);
  api.stage.outside.release();
  await api.stage.until('it stopped', () => api.stage.workflow().quiet);
  assert.equal((await api.status()).since, api.stage.reader.table('executions').at(-1)?.endedAt);
});

test('a workflow that is paused while what runs is cancelled tells both, whichever came first', async (t) => {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  for (const [order, acts] of [
    ['o1', ['pause', 'cancel']],
    ['o2', ['cancel', 'pause']],
  ] as const) {
    api.stage.outside.behave({ after: 'hold' });
    const arrival = api.stage.outside.arrival();
    await api.publish('orders', order);
    await arrival;
    for (const act of acts) await api.ok(api.post(`/api/workflows/orders/${act}`));
    const status = await api.status();
    assert.match(
      status.sentence,
      /^paused by ada at \d\d:\d\d; also being cancelled \(asked by ada\): running book, waiting for one POST to shop to be answered/,
    );
    assert.deepEqual([status.kind, status.kinds], ['paused', ['paused', 'cancelling']]);
    assert.deepEqual((await api.ok(api.get('/api/status?kind=cancelling'))).items.length, 1);
    assert.equal((await api.ok(api.get('/api/show/orders'))).row.sentence, status.sentence);
    api.stage.outside.release();
    await api.stage.until('it stopped', () => api.stage.workflow().quiet);
    assert.deepEqual((await api.status()).kinds, ['paused']);
    await api.ok(api.post('/api/workflows/orders/resume'));
  }
});

test('what is cancelled before it has a session is cancelled since then, not since the session before', async (t) => {
  const api = await Api.open(t);
  const { workflow } = await api.deploy(GIVEN);
  await api.publish('orders', 'o1');
  await api.stage.quiet();
  api.stage.clock.aheadMs += 3_600 * SECONDS;
  await api.stage.manager.together((model) => {
    const { execution } = model.requestExecution(workflow, 'event');
    model.cancelExecution(execution, 'ada');
  });
  const { kind, sentence, since } = await api.status();
  assert.deepEqual([kind, since], ['quiet', api.stage.reader.table('executions').at(-1)?.endedAt]);
  assert.match(sentence, /^cancelled, waiting for the next trigger \(since \d s\)$/);
});
