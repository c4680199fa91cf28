// SIGSTOP and SIGCONT: a process that stands still while the world goes on, and does not know it afterwards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from './chance.ts';
import { Watch } from './watch.ts';
import { World } from './world.ts';

const SOUND = { duplicates: [], lost: [], stuck: [], problems: [] };
/** Longer than the deadline of a call. */
const FROZEN_MS = 2_500;
const CONFLICT = 5;

test('an engine that stood still past the deadlines of its calls repeats nothing and loses nothing', async (t) => {
  const world = await World.open({ seed: 3, pairs: 2 });
  t.after(() => world.close('forget'));
  const watch = new Watch(world, new Chance(3));
  // Answers that come while nobody listens.
  await world.service.behave({ answer: 2, linger: 5, delay: 5, drop: 1 });
  const engine = world.start();
  const accompanied = watch.accompany(engine);
  await engine.ready();
  for (let times = 0; times < 3; times++) {
    watch.sender.add();
    await sleep(300);
    engine.signal('SIGSTOP');
    if (times === 0) await secondIsRefused(world);
    await sleep(FROZEN_MS);
    engine.signal('SIGCONT');
  }
  await watch.settle(engine);
  await accompanied;
  assert.deepEqual(watch.findings, SOUND);
});

/** Whoever stands still still has its folder: nobody else may begin to send. */
async function secondIsRefused(world: World): Promise<void> {
  const second = world.start();
  const { code } = await second.ended;
  assert.equal(code, CONFLICT, second.said);
  assert.match(second.said, /is in use by process \d+/);
}
