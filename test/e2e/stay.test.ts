// Events that come one after the other: where sessions follow each other closely, one stays open for a moment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowId } from '#base';
import { StayHabits } from '#session';
import { BY } from './person.ts';
import { orders } from './scripts.ts';
import { Stage } from './stage.ts';

/** On a busy machine a session may be too old to stay before its event is done. */
const EVENTS_MAX = 200;

/** Always, and for longer than it takes to publish. */
class Patient extends StayHabits {
  override readonly stayMs = 300;

  override isWorthIt(): boolean {
    return true;
  }
}

/** Each event when the one before is done, until a session has taken several. */
async function streaming(stage: Stage): Promise<{ readonly workflow: WorkflowId; readonly ids: readonly string[] }> {
  stage.stayHabits = new Patient();
  await stage.restart();
  const { workflow } = await stage.deploy(orders());
  const ids: string[] = [];
  while (!stage.reader.table('script_runs').some(({ handlerRunCount }) => handlerRunCount > 1)) {
    assert.ok(ids.length < EVENTS_MAX, 'no session stayed');
    const id = String(ids.length + 1);
    ids.push(id);
    await stage.publish(workflow, 'placed', { id });
    await stage.until(`${id} is done`, () => stage.events('placed').every((event) => event.endsWith('consumed')));
  }
  return { workflow, ids };
}

function open(stage: Stage): number {
  return stage.reader.table('script_runs').filter(({ endTimestamp }) => endTimestamp === null).length;
}

test('a stream of events shares sessions, each is handled once and in order, and the last session ends by itself', async (t) => {
  const stage = await Stage.open(t);
  const { ids } = await streaming(stage);
  assert.deepEqual(
    stage.outside.done,
    ids.map((id) => `/bookings ${id}`),
  );
  await stage.until('nothing is open', () => open(stage) === 0);
  const sessions = stage.reader.table('script_runs');
  assert.deepEqual(new Set(sessions.map(({ result }) => result)), new Set(['completed']));
  assert.equal(
    sessions.reduce((sum, { handlerRunCount }) => sum + handlerRunCount, 0),
    ids.length,
  );
});

test('an engine that ends while a session stays ends it as completed', async (t) => {
  const stage = await Stage.open(t);
  await streaming(stage);
  await stage.restart();
  assert.equal(open(stage), 0);
  assert.deepEqual(new Set(stage.reader.table('script_runs').map(({ result }) => result)), new Set(['completed']));
});

test('a pause ends a session that stays at once', async (t) => {
  const stage = await Stage.open(t);
  const { workflow, ids } = await streaming(stage);
  await stage.manager.pauseWorkflow(workflow, BY);
  await stage.until('nothing is open', () => open(stage) === 0);
  await stage.publish(workflow, 'placed', { id: 'later' });
  assert.equal(stage.outside.done.length, ids.length);
  await stage.manager.resumeWorkflow(workflow, BY);
  await stage.until('it is done', () => stage.outside.done.length === ids.length + 1);
});

test('events that nobody takes do not keep a session open', async (t) => {
  const stage = await Stage.open(t);
  const { workflow } = await streaming(stage);
  const idle = stage.until('nothing is open', () => open(stage) === 0);
  let isOver = false;
  const ended = idle.then(() => {
    isOver = true;
  });
  for (let i = 0; i < EVENTS_MAX && !isOver; i++) await stage.publish(workflow, 'booked', { id: `b${i}` });
  assert.ok(isOver, 'it ended while they came');
  await ended;
});
