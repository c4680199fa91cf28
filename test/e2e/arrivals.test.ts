// An event that is published to a session which waits for it: published, reserved and called for in one commit, and everything that can
// come between.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusedError, type WorkflowId } from '#base';
import { StayHabits } from '#session';
import { BY } from './person.ts';
import { orders, type Parts } from './scripts.ts';
import { Stage } from './stage.ts';

/** Always, and for longer than it takes to publish. */
class Patient extends StayHabits {
  override readonly stayMs = 2_000;

  override isWorthIt(): boolean {
    return true;
  }
}

/** How many commits published an event and recorded a call. */
function joinedIn(stage: Stage): () => number {
  let joined = 0;
  stage.app.engine.listen((changes) => {
    const kinds = new Set(changes.map(({ kind }) => kind));
    if (kinds.has('event') && kinds.has('mutation') && kinds.has('audit')) joined += 1;
  });
  return () => joined;
}

/** A session of it is open, with nothing to do. */
async function waiting(stage: Stage, parts: Parts = {}): Promise<WorkflowId> {
  stage.stayHabits = new Patient();
  await stage.restart();
  const { workflow } = await stage.deploy(orders(parts));
  for (const id of ['a', 'b', 'c', 'd']) await handled(stage, workflow, id);
  stage.outside.effects.length = 0;
  return workflow;
}

async function handled(stage: Stage, workflow: WorkflowId, id: string): Promise<void> {
  await stage.publish(workflow, 'placed', { id });
  await stage.until(`${id} is done`, () => stage.event(id).status === 'consumed');
}

test('an event that a session waits for is published and its call recorded in one commit, and handled once, in order', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await waiting(stage);
  const joined = joinedIn(stage);
  const ids = ['1', '2', '3', '4', '5', '6'];
  for (const id of ids) await handled(stage, workflow, id);
  assert.deepEqual(
    stage.outside.done,
    ids.map((id) => `/bookings ${id}`),
  );
  assert.ok(joined() >= 4, `${joined()} of 6`);
  assert.deepEqual(stage.state('book'), { count: 10 });
});

test('what the script was told of it is what is kept', async (t) => {
  const stage = await Stage.open(t);
  const seen = `return ctx.take(e, { data: { id: e.payload.id, at: e.createdAt, message: e.messageId, count: state.count + 1 } });`;
  const workflow = await waiting(stage, { prepare: seen });
  const joined = joinedIn(stage);
  const { published } = await stage.manager.publishEvents(workflow, [{ topic: 'placed', payload: '{"id":"x"}' }], BY);
  await stage.until('it is done', () => stage.outside.done.length === 1);
  await stage.quiet();
  assert.equal(joined(), 1);
  const [event] = stage.reader.table('events').filter(({ id }) => id === published[0]);
  assert.ok(event);
  const { data } = JSON.parse(stage.lastRun().prepareResult ?? '') as { data: { at: number; message: string } };
  assert.deepEqual([data.at, data.message], [event.createdAt, event.messageId]);
});

test('an event that was handled before is not handled again, and nothing is recorded for it', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await waiting(stage);
  const { published } = await stage.manager.publishEvents(
    workflow,
    [{ topic: 'placed', messageId: 'a', payload: '{"id":"a"}' }],
    BY,
  );
  assert.deepEqual(published, [stage.event('a').id]);
  await stage.quiet();
  assert.equal(stage.outside.done.length, 0);
  assert.equal(stage.reader.table('mutations').length, 4);
});

test('what cannot be published is refused to its publisher, and the session goes on', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await waiting(stage);
  for (const publish of [
    { topic: 'placed', messageId: 'bad', payload: '{"id":' },
    { topic: 'nowhere', messageId: 'bad', payload: '{}' },
    { topic: 'placed', messageId: '', payload: '{"id":"bad"}' },
  ]) {
    await assert.rejects(stage.manager.publishEvents(workflow, [publish], BY), RefusedError);
  }
  await assert.rejects(
    stage.manager.publishEvents(workflow, [{ topic: 'placed', messageId: 'bad', payload: '{"id":"bad"}' }], ''),
    RefusedError,
  );
  await handled(stage, workflow, 'good');
  assert.deepEqual(stage.outside.done, ['/bookings good']);
});

test('an event behind one that the script leaves alone is not taken before it has seen both', async (t) => {
  const stage = await Stage.open(t);
  const both = `const all = await ctx.peek('placed');
      if (all.some((each) => each.payload.id === 'left') && all.length < 2) return ctx.idle();`;
  // Looks at everything there is, and takes the oldest.
  const script = orders({ prepare: '' }).replace(
    "const [e] = await ctx.peek('placed', { limit: 1 });",
    `${both}\n      const [e] = all;`,
  );
  stage.stayHabits = new Patient();
  await stage.restart();
  const { workflow } = await stage.deploy(script);
  for (const id of ['a', 'b', 'c', 'd']) await handled(stage, workflow, id);
  stage.outside.effects.length = 0;
  await stage.publish(workflow, 'placed', { id: 'left' });
  await stage.publish(workflow, 'placed', { id: 'right' });
  await stage.until('both are done', () => stage.event('right').status === 'consumed');
  assert.deepEqual(stage.outside.done, ['/bookings left', '/bookings right']);
});

test('what is published without waiting for the one before keeps its order, also behind one that takes its time', async (t) => {
  const stage = await Stage.open(t);
  const slow = `if (e.payload.id === 'slow') { let n = 0; for (let i = 0; i < 3e6; i++) n += i; if (n < 0) return ctx.idle(); }`;
  const workflow = await waiting(stage, { prepare: slow });
  const publish = (...ids: string[]) => stage.publish(workflow, 'placed', ...ids.map((id) => ({ id })));
  await Promise.all([publish('1'), publish('2'), publish('3', '4')]);
  await stage.quiet();
  await handled(stage, workflow, '5');
  await Promise.all([publish('slow'), publish('6')]);
  await stage.quiet();
  assert.deepEqual(
    stage.outside.done,
    ['1', '2', '3', '4', '5', 'slow', '6'].map((id) => `/bookings ${id}`),
  );
});

test('an event that is published again while it is taken was taken up as it was first', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await waiting(stage);
  const put = (id: string) =>
    stage.manager.publishEvents(workflow, [{ topic: 'placed', messageId: 'm', payload: JSON.stringify({ id }) }], BY);
  const [first, again] = await Promise.all([put('first'), put('again')]);
  await stage.quiet();
  assert.deepEqual(again, first);
  assert.deepEqual(stage.outside.done, ['/bookings first']);
  assert.equal(stage.event('m').payload, '{"id":"first"}');
});

test('a script that makes nothing of it, or takes its time, finds it published', async (t) => {
  const stage = await Stage.open(t);
  const slow = `if (e.payload.id === 'slow') { let n = 0; for (let i = 0; i < 3e6; i++) n += i; if (n < 0) return ctx.idle(); }
      if (e.payload.id === 'idle') return ctx.idle();`;
  const workflow = await waiting(stage, { prepare: slow });
  await handled(stage, workflow, 'slow');
  await stage.publish(workflow, 'placed', { id: 'idle' });
  assert.equal(stage.event('idle').status, 'pending');
  await stage.quiet();
  assert.deepEqual(stage.outside.done, ['/bookings slow']);
});

test('an event that arrives at a workflow which was paused meanwhile is kept, and waits', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await waiting(stage);
  const paused = stage.manager.pauseWorkflow(workflow, BY);
  await stage.publish(workflow, 'placed', { id: '1' });
  await paused;
  await stage.until('nothing is open', () =>
    stage.reader.table('script_runs').every(({ endTimestamp }) => endTimestamp !== null),
  );
  assert.deepEqual([stage.event('1').status, stage.outside.done.length], ['pending', 0]);
  await stage.manager.resumeWorkflow(workflow, BY);
  await stage.until('it is done', () => stage.event('1').status === 'consumed');
});

test('an event that arrives while the engine ends is handled by the next one, or was never accepted', async (t) => {
  const stage = await Stage.open(t);
  const workflow = await waiting(stage);
  const published = stage.publish(workflow, 'placed', { id: '1' }).then(
    () => true,
    () => false,
  );
  await stage.restart();
  const isThere = await published;
  assert.equal(
    stage.events('placed').some((event) => event.startsWith('1 ')),
    isThere,
  );
  await stage.quiet();
  assert.equal(stage.outside.done.length, isThere ? 1 : 0);
});
