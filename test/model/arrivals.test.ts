import assert from 'node:assert/strict';
import type { Publish } from '#model';
import { SHOWN_AHEAD_MS_MAX } from '#model';
import { beginSession, CALL, PERSON, placed, SECONDS } from '../support/fixture.ts';
import { published } from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// An event that a script was shown before it was there: published, reserved and its call recorded in one transaction.

const TOPIC = 'order.placed';

/** A session without anything to do, an event that is about to come, and what its script has made of it. */
async function arriving(world: World, pending: readonly string[] = []) {
  const workflow = await published(world, { events: pending });
  const fence = await beginSession(world.manager, workflow, world.self);
  const { activeScriptId } = world.row('workflows', workflow);
  assert.ok(activeScriptId);
  const event = world.ids.next('event');
  const createdAt = world.clock.now() - 3;
  const publish: Publish = { ...placed('new'), shownAs: { event, createdAt } };
  const run = world.ids.next('run');
  const expected = { run, startedAt: createdAt, script: activeScriptId, handler: 'book', state: null, newIn: TOPIC };
  const take = (publishes = [publish], handedOut = [{ event, pendingSeq: undefined as number | undefined }]) =>
    world.manager.together((model) => {
      const reply = model.publishEvents(workflow, publishes, PERSON);
      const moved = model.advanceSession(fence, { expected, stays: true });
      if (!('run' in moved) || moved.isOther) return { ...reply, moved };
      const reservations = [{ topic: TOPIC, ids: ['new'] }];
      model.updateConsumerPhase(fence, run, 'prepared', { reservations, prepareResult: '{}', handedOut });
      model.updateConsumerPhase(fence, run, 'mutating');
      model.startMutation(fence, run, CALL);
      return { ...reply, moved };
    });
  return { workflow, fence, event, createdAt, run, publish, take };
}

forEachStore(
  'an event is published, reserved and called for at once, under the id and time it was shown with',
  async (world) => {
    const { event, createdAt, run, take } = await arriving(world);
    assert.deepEqual(await take(), { published: [event], moved: { run } });
    world.is('events', event, { messageId: 'new', status: 'reserved', reservedByRunId: run, createdAt });
    world.is('runs', run, { phase: 'mutating', status: 'active', startTimestamp: createdAt });
    assert.deepEqual(
      [...world.rows.mutations.values()].map(({ handlerRunId, firstEventId, status }) => [
        handlerRunId,
        firstEventId,
        status,
      ]),
      [[run, event, 'in_flight']],
    );
  },
);

forEachStore('an event that waited before is seen first: then the run begins anew', async (world) => {
  const { event, run, take } = await arriving(world, ['old']);
  const { moved } = await take();
  assert.ok('run' in moved && moved.isOther === true && moved.run !== run);
  world.is('events', event, { status: 'pending' });
  world.is('runs', moved.run, { handlerName: 'book', phase: 'preparing' });
});

forEachStore('one that was there already keeps its id, and nothing begins for it', async (world) => {
  const { workflow, fence, event, publish, take } = await arriving(world, ['new']);
  const [known] = [...world.rows.events.values()];
  assert.ok(known);
  await world.manager.skipEvents([known.id], PERSON);
  assert.deepEqual(await take([publish]), { published: [known.id], moved: { waits: true } });
  assert.equal(
    [...world.rows.events.values()].some(({ id }) => id === event),
    false,
  );
  assert.deepEqual(await world.manager.advanceSession(fence), { ended: 'completed' });
  world.is('workflows', workflow, { status: 'active' });
});

forEachStore('what was shown too long before is refused, and nothing of it is there', async (world) => {
  const { publish, event, take, createdAt } = await arriving(world);
  const off = SHOWN_AHEAD_MS_MAX + 1 * SECONDS;
  for (const at of [createdAt - off, createdAt + off]) {
    await assert.rejects(take([{ ...publish, shownAs: { event, createdAt: at } }]), { code: 'invalid' });
  }
  assert.deepEqual([...world.rows.events.values()], []);
  assert.deepEqual([...world.rows.runs.values()], []);
});

forEachStore(
  'only an event of the same transaction may be taken without its place among those that wait',
  async (world) => {
    const { fence, workflow, take } = await arriving(world);
    await world.manager.publishEvents(workflow, [placed('new')], PERSON);
    const [known] = [...world.rows.events.values()];
    assert.ok(known);
    const moved = await world.manager.advanceSession(fence);
    assert.ok('run' in moved);
    const reservations = [{ topic: TOPIC, ids: ['new'] }];
    await assert.rejects(
      world.manager.updateConsumerPhase(fence, moved.run, 'prepared', {
        reservations,
        prepareResult: '{}',
        handedOut: [{ event: known.id, pendingSeq: undefined }],
      }),
      { code: 'event-unavailable' },
    );
    world.is('events', known.id, { status: 'pending' });
    await assert.rejects(take(), { code: 'busy' });
  },
);
