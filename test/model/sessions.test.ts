import assert from 'node:assert/strict';
import type { RunId, ScriptId, WorkflowId } from '#base';
import { type ExpectedRun, type Fence, SESSION_RUNS_MAX, SESSION_STAY_MS_MAX } from '#model';
import { applyAndEmit, beginSession, deployVersion, ORDERS, PERSON, placed, SECONDS } from '../support/fixture.ts';
import {
  emittingEmpty,
  failedAfter,
  followUp,
  freshRun,
  nextRun,
  preparing,
  published,
  sayDone,
  send,
  stop,
  unknown,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// What a session does next, and when it ends.

/** Runs that make no call and reserve nothing, to see only the order. */
async function passThrough(world: World, fence: Fence): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const next = await world.manager.advanceSession(fence);
    if ('ended' in next) return [...names, next.ended];
    assert.ok('run' in next);
    const { handlerName, handlerType, phase } = world.row('runs', next.run);
    names.push(phase === 'emitting' ? `${handlerName} (next)` : handlerName);
    if (handlerType === 'producer') await world.manager.commitProducer(fence, next.run);
    else await commitEmpty(world, fence, next.run, phase === 'emitting');
  }
}

function commitEmpty(world: World, fence: Fence, run: RunId, isRetry: boolean) {
  return world.manager.together((model) => {
    if (!isRetry) {
      model.updateConsumerPhase(fence, run, 'prepared');
      model.updateConsumerPhase(fence, run, 'emitting');
    }
    model.commitConsumer(fence, run);
  });
}

/** A call of unknown outcome for this event, set aside. */
async function setAside(world: World, workflow: Parameters<typeof freshRun>[1], event: string) {
  const stage = await send(world, await freshRun(world, workflow), {}, { events: [event] });
  await stop(world, stage, 'crashed', { callEnded: true });
  await world.manager.setAside(stage.mutation, PERSON);
  return stage;
}

forEachStore(
  'order: the pending retry, set-aside runs oldest first, producers, consumers by oldest event',
  async (world) => {
    const { manager } = world;
    const workflow = await published(world, { events: ['1', '2', '3', '4'] });
    await manager.publishEvents(workflow, [placed('p1', '{}', 'parcel'), placed('b1', '{}', 'order.booked')], PERSON);
    const first = await setAside(world, workflow, '1');
    const second = await setAside(world, workflow, '2');
    const third = await send(world, await freshRun(world, workflow), {}, { events: ['3'] });
    await applyAndEmit(manager, third.fence, third.run, third.mutation);
    await stop(world, third, 'crashed');
    await sayDone(world, second.mutation);
    await sayDone(world, first.mutation);
    await manager.requestExecution(workflow, 'manual', PERSON);

    const fence = await followUp(world, workflow);
    const order = await passThrough(world, fence);
    assert.deepEqual(order, ['book (next)', 'book (next)', 'book (next)', 'poll', 'book', 'ship', 'tell', 'completed']);
    const retried = world.rows.runs.values().flatMap(({ retryOf }) => (retryOf === null ? [] : [retryOf]));
    assert.deepEqual(retried, [third.run, first.run, second.run]);
  },
);

forEachStore('a session is due for a set-aside run that may go on, as for the pointer', async (world) => {
  const { workflow, mutation } = await unknown(world);
  await world.manager.setAside(mutation, PERSON);
  world.is('workflows', workflow, { dueAt: null });
  await sayDone(world, mutation);
  world.is('workflows', workflow, { dueAt: world.clock.now() });
  const { fence } = await nextRun(world, workflow);
  world.is('executions', fence.execution, { trigger: 'retry' });
});

forEachStore('deliveries come before schedules, one run each, oldest first', async (world) => {
  const { manager } = world;
  const workflow = await published(world, { events: [] });
  const delivery = { hook: 'hook', headers: '{}', body: '{}' };
  const first = await manager.acceptDelivery(workflow, { ...delivery, deliveryId: 'd1' });
  const second = await manager.acceptDelivery(workflow, { ...delivery, deliveryId: 'd2' });
  const fence = await followUp(world, workflow);
  world.is('executions', fence.execution, { trigger: 'webhook' });
  assert.deepEqual(await passThrough(world, fence), ['hook', 'hook', 'completed']);
  const runs = world.rows.runs.values();
  assert.deepEqual(
    runs.map((run) => run.deliveryId),
    [first.delivery, second.delivery],
  );
  world.is('deliveries', first.delivery, { status: 'done', runId: runs[0]?.id ?? null });
  world.is('deliveries', second.delivery, { status: 'done', runId: runs[1]?.id ?? null });
  world.is('workflows', workflow, { dueAt: null });
});

forEachStore('the next delivery is seen in the transaction that finishes the one before', async (world) => {
  const { manager } = world;
  const workflow = await published(world, { events: [] });
  for (const deliveryId of ['d1', 'd2', 'd3']) {
    await manager.acceptDelivery(workflow, { hook: 'hook', deliveryId, headers: '{}', body: '{}' });
  }
  const fence = await followUp(world, workflow);
  const begun = await manager.advanceSession(fence);
  assert.ok('run' in begun);
  const next = await manager.together((model) => {
    model.commitProducer(fence, begun.run);
    return model.advanceSession(fence);
  });
  assert.ok('run' in next);
  await stop(world, { workflow, fence, run: next.run }, 'crashed');
  world.is('workflows', workflow, { dueAt: world.clock.now() });
});

forEachStore('to a budget of 100 runs: with work left it ends completed and is due again at once', async (world) => {
  const { manager } = world;
  const events = Array.from({ length: SESSION_RUNS_MAX + 1 }, (_, position) => String(position + 1).padStart(3, '0'));
  const workflow = await published(world, { events });
  const fence = await followUp(world, workflow);
  const ended = await manager.together((model) => {
    for (const event of events) {
      const next = model.advanceSession(fence);
      if ('ended' in next) return { ended: next.ended, before: event };
      assert.ok('run' in next);
      model.updateConsumerPhase(fence, next.run, 'prepared', {
        reservations: [{ topic: 'order.placed', ids: [event] }],
      });
      model.updateConsumerPhase(fence, next.run, 'mutating');
      model.updateConsumerPhase(fence, next.run, 'mutated');
      model.updateConsumerPhase(fence, next.run, 'emitting');
      model.commitConsumer(fence, next.run);
    }
    return undefined;
  });
  assert.deepEqual(ended, { ended: 'completed', before: '101' });
  world.is('sessions', world.sessionOf(fence), { handlerRunCount: SESSION_RUNS_MAX, result: 'completed' });
  world.is('workflows', workflow, { dueAt: world.clock.now() });
});

forEachStore('while a retry is pending no other consumer runs, also while it waits out its backoff', async (world) => {
  const { workflow, run } = await failedAfter(world, 'paused:transient');
  await world.manager.publishEvents(workflow, [placed('2'), placed('p1', '{}', 'parcel')], PERSON);
  const fence = await beginSession(world.manager, workflow, world.self);
  const error = await world.refuses('busy', () => world.manager.startRun(fence, 'ship'));
  assert.equal(error.ids.run, run);
  assert.deepEqual(await world.manager.advanceSession(fence), { ended: 'completed' });
  world.clock.advance(1 * SECONDS);
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { retryOf: run });
});

forEachStore('a session keeps to its version: it ends when another one is activated', async (world) => {
  const { workflow, fence, run } = await preparing(world, { events: ['1', '2'] });
  await deployVersion(world.manager, workflow, ORDERS, 1);
  await commitEmpty(world, fence, run, false);
  assert.deepEqual(await world.manager.advanceSession(fence), { ended: 'completed' });
  world.is('workflows', workflow, { dueAt: world.clock.now() });
});

forEachStore('a pause lets the run end, and then the session', async (world) => {
  const { workflow, fence, run } = await emittingEmpty(world, { events: ['1', '2'] });
  await world.manager.pauseWorkflow(workflow, PERSON);
  await world.manager.commitConsumer(fence, run);
  await world.refuses('held', () => world.manager.startRun(fence, 'book'), /paused: user/);
  assert.deepEqual(await world.manager.advanceSession(fence), { ended: 'completed' });
  world.is('workflows', workflow, { dueAt: null });
});

forEachStore('a session with a run under way neither ends nor goes on', async (world) => {
  const { fence } = await preparing(world);
  await world.refuses('busy', () => world.manager.finishSession(fence));
  await world.refuses('busy', () => world.manager.advanceSession(fence));
  await world.refuses('busy', () => world.manager.startRun(fence, 'ship'));
});

forEachStore('commit and the next run share a transaction', async (world) => {
  const { fence, run, workflow } = await emittingEmpty(world);
  await world.manager.publishEvents(workflow, [placed('p1', '{}', 'parcel')], PERSON);
  const next = await world.manager.together((model) => {
    model.commitConsumer(fence, run);
    return model.advanceSession(fence);
  });
  assert.ok('run' in next);
  world.is('runs', next.run, { handlerName: 'ship' });
});

/** A session whose runs have all ended, with nothing that is due. */
async function idle(world: World) {
  const { workflow, fence, run } = await emittingEmpty(world, { events: ['1'] });
  await world.manager.commitConsumer(fence, run);
  return { workflow, fence };
}

forEachStore('a session that stays waits where nothing is due, and goes on with what comes', async (world) => {
  const { manager } = world;
  const { workflow, fence } = await idle(world);
  assert.deepEqual(await manager.advanceSession(fence, { stays: true }), { waits: true });
  world.is('sessions', world.sessionOf(fence), { result: '', endTimestamp: null });
  world.is('workflows', workflow, { dueAt: null });
  await manager.publishEvents(workflow, [placed('2')], PERSON);
  world.is('workflows', workflow, { dueAt: null });
  const next = await manager.advanceSession(fence, { stays: true });
  assert.ok('run' in next);
  await commitEmpty(world, fence, next.run, false);
  assert.deepEqual(await manager.advanceSession(fence), { ended: 'completed' });
  world.is('sessions', world.sessionOf(fence), { result: 'completed', handlerRunCount: 2 });
});

forEachStore('a session that stays and dies is closed as completed, and what came meanwhile is due', async (world) => {
  const { workflow, fence } = await idle(world);
  await world.manager.advanceSession(fence, { stays: true });
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  const session = world.sessionOf(fence);
  await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
  world.is('sessions', session, { result: 'completed' });
  world.is('workflows', workflow, { dueAt: world.clock.now() });
});

for (const [who, ask] of Object.entries({
  'a person who paused the workflow': (world, { workflow }) => world.manager.pauseWorkflow(workflow, PERSON),
  'a version that was activated': (world, { workflow }) => deployVersion(world.manager, workflow, ORDERS, 1),
  'a request behind it': (world, { workflow }) => world.manager.requestExecution(workflow, 'schedule'),
} satisfies Record<string, (world: World, idle: { workflow: WorkflowId }) => Promise<unknown>>)) {
  forEachStore(`a session does not stay where ${who} waits for its end`, async (world) => {
    const idling = await idle(world);
    await ask(world, idling);
    assert.deepEqual(await world.manager.advanceSession(idling.fence, { stays: true }), { ended: 'completed' });
  });
}

forEachStore('a session that is no longer young does not stay', async (world) => {
  const { fence } = await idle(world);
  world.clock.advance(SESSION_STAY_MS_MAX - 1);
  assert.deepEqual(await world.manager.advanceSession(fence, { stays: true }), { waits: true });
  world.clock.advance(1);
  assert.deepEqual(await world.manager.advanceSession(fence, { stays: true }), { ended: 'completed' });
});

forEachStore(
  'a session past its time begins nothing more: what is left is due at once, for another one',
  async (world) => {
    const { manager } = world;
    const { workflow, fence } = await idle(world);
    await manager.publishEvents(workflow, [placed('2')], PERSON);
    world.clock.advance(10 * SECONDS);
    assert.deepEqual(await manager.advanceSession(fence, { stays: true, timeoutMs: 10 * SECONDS }), {
      ended: 'timeout',
    });
    world.is('executions', fence.execution, { status: 'timeout' });
    world.is('sessions', world.sessionOf(fence), { result: 'completed' });
    world.is('workflows', workflow, { dueAt: world.clock.now() });
  },
);

forEachStore('a session within its time goes on and stays; past it, one that has nothing to do ends', async (world) => {
  const { fence } = await idle(world);
  assert.deepEqual(await world.manager.advanceSession(fence, { stays: true, timeoutMs: SECONDS }), { waits: true });
  world.clock.advance(SECONDS);
  assert.deepEqual(await world.manager.advanceSession(fence, { stays: true, timeoutMs: SECONDS }), {
    ended: 'timeout',
  });
});

forEachStore('a cancelled session past its time is cancelled', async (world) => {
  const { fence } = await idle(world);
  await world.manager.cancelExecution(fence.execution, PERSON);
  world.clock.advance(SECONDS);
  assert.deepEqual(await world.manager.advanceSession(fence, { timeoutMs: SECONDS }), { ended: 'cancelled' });
});

forEachStore('a session that was asked to end does not stay', async (world) => {
  const { fence } = await idle(world);
  await world.manager.cancelExecution(fence.execution, PERSON);
  assert.deepEqual(await world.manager.advanceSession(fence, { stays: true }), { ended: 'cancelled' });
});

forEachStore('a session that has a place under a limit gives it back, and does not stay', async (world) => {
  const { manager } = world;
  await manager.setLimit('pool:default', 1);
  const workflow = await published(world, { events: ['1'] });
  const fence = await manager.together((model) => {
    const due = model.scheduleDue(workflow);
    assert.ok('execution' in due);
    model.beginScheduling(due.execution, ['pool:default']);
    const claimed = model.claimExecution(due.execution, model.handOff(due.execution).epoch, world.self);
    assert.ok('fence' in claimed);
    return claimed.fence;
  });
  const next = await manager.advanceSession(fence);
  assert.ok('run' in next);
  await commitEmpty(world, fence, next.run, false);
  assert.deepEqual(await manager.advanceSession(fence, { stays: true }), { ended: 'completed' });
});

/** As whoever has prepared the run ahead says it. */
function expected(world: World, workflow: WorkflowId, change: Partial<ExpectedRun> = {}): ExpectedRun {
  const { activeScriptId } = world.row('workflows', workflow);
  assert.ok(activeScriptId);
  const run = world.ids.next('run');
  return { run, startedAt: world.clock.now() - 5, script: activeScriptId, handler: 'book', state: null, ...change };
}

forEachStore('a run that was expected begins under its own id, when it was prepared', async (world) => {
  const workflow = await published(world, { events: ['1'] });
  const fence = await followUp(world, workflow);
  const ahead = expected(world, workflow);
  assert.deepEqual(await world.manager.advanceSession(fence, { expected: ahead }), { run: ahead.run });
  world.is('runs', ahead.run, { handlerName: 'book', phase: 'preparing', startTimestamp: ahead.startedAt });
});

forEachStore('a run never begins later than it does', async (world) => {
  const workflow = await published(world, { events: ['1'] });
  const fence = await followUp(world, workflow);
  const now = world.clock.now();
  const ahead = expected(world, workflow, { startedAt: now + 1_000 });
  await world.manager.advanceSession(fence, { expected: ahead });
  world.is('runs', ahead.run, { startTimestamp: world.clock.now() });
});

for (const [what, change] of Object.entries({
  'another consumer': { handler: 'ship' },
  'another version': { script: 'scr_other' as ScriptId },
  'a state it no longer has': { state: '{"seen":1}' },
} satisfies Record<string, Partial<ExpectedRun>>)) {
  forEachStore(`what was prepared for ${what} is for nobody: the run that is due begins`, async (world) => {
    const workflow = await published(world, { events: ['1'] });
    const fence = await followUp(world, workflow);
    const ahead = expected(world, workflow, change);
    const moved = await world.manager.advanceSession(fence, { expected: ahead });
    assert.ok('run' in moved && moved.isOther === true);
    assert.notEqual(moved.run, ahead.run);
    world.is('runs', moved.run, { handlerName: 'book', phase: 'preparing' });
  });
}

forEachStore('a retry goes before what was expected', async (world) => {
  const retried = await failedAfter(world, 'crashed');
  const { workflow } = retried;
  const fence = await followUp(world, workflow);
  const moved = await world.manager.advanceSession(fence, { expected: expected(world, workflow) });
  assert.ok('run' in moved && moved.isOther === true);
  world.is('runs', moved.run, { retryOf: retried.run, phase: 'emitting' });
});
