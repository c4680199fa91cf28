// A run that is prepared before it is there: what it spares, and everything that can happen before it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailableError, type WorkflowId } from '#base';
import { BY } from './person.ts';
import { orders } from './scripts.ts';
import { Stage } from './stage.ts';

const IDS = ['1', '2', '3', '4', '5', '6', '7', '8'];

/** Each commit as the calls and runs it changed. */
function commitsOf(stage: Stage): { readonly mutations: number; readonly runs: number }[] {
  const commits: { mutations: number; runs: number }[] = [];
  stage.app.engine.listen((changes) => {
    const count = (kind: string) => new Set(changes.filter((each) => each.kind === kind).map(({ id }) => id)).size;
    commits.push({ mutations: count('mutation'), runs: count('run') });
  });
  return commits;
}

/** Each order once and in its place, nearly all of them recorded with the end of the one before. */
function allJoined(stage: Stage, commits: ReturnType<typeof commitsOf>): void {
  assert.deepEqual(
    stage.outside.done,
    IDS.map((id) => `/bookings ${id}`),
  );
  const joined = commits.filter(({ mutations, runs }) => mutations === 2 && runs === 2).length;
  assert.ok(joined >= 5, `${joined} of 7: ${JSON.stringify(commits)}`);
}

/** Its script is known, and so is what it looks at. */
async function practised(stage: Stage, parts: Parameters<typeof orders>[0] = {}): Promise<WorkflowId> {
  const { workflow } = await stage.deploy(orders(parts));
  await stage.publish(workflow, 'placed', ...['a', 'b', 'c', 'd'].map((id) => ({ id })));
  await stage.quiet();
  assert.equal(stage.outside.effects.length, 4);
  stage.outside.effects.length = 0;
  return workflow;
}

/** The call of order 1 is out, and 2 waits. */
async function inTheMiddle(stage: Stage, workflow: WorkflowId): Promise<void> {
  stage.outside.behave({ after: 'hold' });
  const arrived = stage.outside.arrival();
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await arrived;
}

test('the end of a run and the call of the next are one commit, and every event is handled once, in order', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage);
  const commits = commitsOf(stage);
  await stage.publish(workflow, 'placed', ...IDS.map((id) => ({ id })));
  await stage.quiet();
  allJoined(stage, commits);
  assert.deepEqual(stage.state('book'), { count: 12 });
});

test('a session begins with its first call', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage);
  const commits = commitsOf(stage);
  for (const id of IDS) {
    await stage.publish(workflow, 'placed', { id });
    await stage.quiet();
  }
  assert.equal(stage.outside.effects.length, IDS.length);
  assert.deepEqual(stage.state('book'), { count: 12 });
  const together = commits.filter(({ mutations, runs }) => mutations === 1 && runs === 1).length;
  const alone = commits.filter(({ mutations, runs }) => mutations === 0 && runs === 1).length;
  assert.ok(together >= 12 && alone <= 4, JSON.stringify(commits));
});

test('what a run publishes to itself is seen by the next one', async (t) => {
  const stage = await Stage.open(t);
  const again = `if (data.id.length < 4) ctx.publish('placed', { messageId: data.id + 'x', payload: { id: data.id + 'x' } });`;
  const script = orders({ next: again }).replace("publishes: ['booked']", "publishes: ['booked', 'placed']");
  const { workflow } = await stage.deploy(script.replace('{ limit: 1 }', '{ limit: 3 }'));
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' });
  await stage.quiet();
  const wanted = ['1', '2', '1x', '2x', '1xx', '2xx', '1xxx', '2xxx'].map((id) => `/bookings ${id}`);
  assert.deepEqual(stage.outside.done, wanted);
});

test('an event that a person skips before its turn is not handled', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage);
  await inTheMiddle(stage, workflow);
  await stage.manager.skipEvents([stage.event('2').id], BY);
  stage.outside.release();
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  assert.deepEqual(stage.events('placed').slice(-2), ['1 consumed', '2 skipped']);
});

test('no call goes out once a person has paused the workflow', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage);
  await inTheMiddle(stage, workflow);
  await stage.manager.pauseWorkflow(workflow, BY);
  stage.outside.release();
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
  await stage.manager.resumeWorkflow(workflow, BY);
  await stage.until('2 is handled', () => stage.event('2').status === 'consumed');
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
});

test('a permission that is taken back while the store takes no writes is not used', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage);
  await inTheMiddle(stage, workflow);
  const { manager } = stage.app.engine;
  const refused = Promise.withResolvers<void>();
  const together = t.mock.method(manager, 'together', () => {
    refused.resolve();
    return Promise.reject(new StoreUnavailableError({ code: 'full', message: 'the disk is full', why: '', next: [] }));
  });
  stage.outside.release();
  await refused.promise;
  await manager.takeGrant(workflow, 'shop', 'post', BY);
  together.mock.restore();
  await stage.untilRun('paused:approval');
  assert.deepEqual(stage.outside.done, ['/bookings 1']);
});

test('a version that was activated meanwhile handles what comes after', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage);
  await inTheMiddle(stage, workflow);
  await stage.deploy(
    orders({ mutate: "return ctx.shop.post<{ ref: string }>({ path: '/new', json: { id: data.id } });" }),
  );
  stage.outside.release();
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/new 2']);
});

test('a state that a person mends between two sessions is the one that counts', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage);
  await stage.manager.setHandlerState(workflow, 'book', '{"count":100}', BY);
  await stage.publish(workflow, 'placed', { id: '1' });
  await stage.quiet();
  assert.deepEqual(stage.state('book'), { count: 101 });
});

test('a script that asks for more, or makes no call of what it saw, is run in its own time', async (t) => {
  const stage = await Stage.open(t);
  stage.outside.pages.set('/price', { price: 1 });
  const workflow = await practised(stage, {
    prepare:
      "if (e.payload.id > '2' && e.payload.id < 'a') await ctx.shop.get({ path: '/price' }); if (e.payload.id === '5') return ctx.idle();",
  });
  await stage.publish(workflow, 'placed', ...IDS.map((id) => ({ id })));
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2', '/bookings 3', '/bookings 4']);
  assert.equal(stage.outside.reads.length, 3, 'nothing is read twice for one run');
  assert.deepEqual(stage.events('placed').slice(-4), ['5 pending', '6 pending', '7 pending', '8 pending']);
});

test('a script that computes for longer than anybody waits for it is run in its own time only', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage, { prepare: 'for (let i = 0; i < 2_000_000; i++);' });
  const run = t.mock.method(stage.app.sandbox, 'run');
  await stage.publish(workflow, 'placed', ...IDS.map((id) => ({ id })));
  await stage.quiet();
  assert.equal(stage.outside.effects.length, IDS.length);
  const requests = run.mock.calls.flatMap(({ arguments: [request] }) => [request, request.following]);
  assert.equal(requests.filter((each) => each?.phase === 'prepare').length, IDS.length);
});

test('a script that fails ahead fails as it would have, once', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage, { prepare: "if (e.payload.id === '3') throw new Error('a bug');" });
  await stage.publish(workflow, 'placed', { id: '1' }, { id: '2' }, { id: '3' });
  await stage.untilRun('failed:logic');
  assert.deepEqual(stage.outside.done, ['/bookings 1', '/bookings 2']);
  assert.deepEqual(stage.runs().slice(-3), [
    'book committed committed',
    'book committed committed',
    'book preparing failed:logic',
  ]);
  assert.deepEqual(stage.event('3').status, 'pending');
});

test('what a run logs ahead is told with it', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage, { prepare: "ctx.log('looking at ' + e.payload.id);" });
  await stage.publish(workflow, 'placed', ...IDS.map((id) => ({ id })));
  await stage.quiet();
  const logs = stage.reader.table('run_logs').map(({ runId, message }) => `${runId} ${message}`);
  const runs = stage.reader.table('handler_runs').slice(-IDS.length);
  assert.deepEqual(logs.slice(-IDS.length).sort(), runs.map(({ id }, i) => `${id} looking at ${IDS[i]}`).sort());
});

test('calls keep to the rate of their connection', async (t) => {
  const stage = await Stage.open(t, { ratePerSecond: 20, burst: 1 });
  const workflow = await practised(stage);
  const startedAt = performance.now();
  await stage.publish(workflow, 'placed', ...IDS.map((id) => ({ id })));
  await stage.quiet();
  assert.equal(stage.outside.effects.length, IDS.length);
  assert.ok(performance.now() - startedAt >= 300, 'seven of them waited 50 ms each, with room for what a clock is off');
});

test('a consumer without next is prepared ahead as well', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await practised(stage, { next: null });
  const commits = commitsOf(stage);
  await stage.publish(workflow, 'placed', ...IDS.map((id) => ({ id })));
  await stage.quiet();
  allJoined(stage, commits);
});
