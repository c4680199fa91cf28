import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ExecutionModelManager, executorPort, operatorPort, workerPort } from '#execution';
import { CONSUMER_PHASE_STEPS, type ConsumerPhase, STOP_STATUSES } from '#model';
import { CALL, placed, reserve } from '../support/fixture.ts';
import {
  emitting,
  emittingWithoutCall,
  failedAfter,
  inFlight,
  mutating,
  nextRun,
  prepared,
  preparing,
  type Stage,
  stop,
} from '../support/stage.ts';
import { forEachStore, inWorld, type World } from '../support/world.ts';

/** Every stop a caller may ask for while the outcome of a call is known. */
const STOPS = STOP_STATUSES.filter((status) => status !== 'paused:reconciliation');
const CAUSE = { cause: { kind: 'permission' } } as const;

// Source 000, "Method safety: callers can't misuse", row by row.

forEachStore('calling updateConsumerPhase("committed") throws: commitConsumer must be used', async (world) => {
  const { fence, run } = await emitting(world);
  const error = await world.refuses('use-other-method', () =>
    world.manager.updateConsumerPhase(fence, run, 'committed'),
  );
  assert.match(error.next[0]?.label ?? '', /commitConsumer/);
});

forEachStore('calling updateMutationResult("skipped") throws: skipMutation must be used', async (world) => {
  const { fence, mutation } = await inFlight(world);
  const answer = { resolvedBy: 'provider' } as const;
  const error = await world.refuses('use-other-method', () =>
    world.manager.updateMutationResult(mutation, 'skipped', { fence, answer }),
  );
  assert.match(error.next[0]?.label ?? '', /skipMutation/);
});

for (const status of STOPS) {
  forEachStore(`forgetting event release on failure: ${status} releases by itself`, async (world) => {
    const stage = await prepared(world);
    await stop(world, stage, status, CAUSE);
    world.is('events', world.event('1'), { status: 'pending', reservedByRunId: null });
    world.is('workflows', stage.workflow, { pendingRetryRunId: null });
  });

  forEachStore(`forgetting pending_retry on post-mutation failure: ${status} sets it by itself`, async (world) => {
    const stage = await emitting(world);
    await stop(world, stage, status, CAUSE);
    world.is('workflows', stage.workflow, { pendingRetryRunId: stage.run });
    world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: stage.run });
  });

  forEachStore(`forgetting to finalize session on failure: ${status} ends it by itself`, async (world) => {
    const stage = await preparing(world);
    await stop(world, stage, status, { ...CAUSE, cost: 2 });
    world.is('sessions', world.sessionOf(stage.fence), { result: 'failed', error: 'it broke', cost: 2 });
    world.is('executions', stage.fence.execution, { status: status === 'cancelled' ? 'cancelled' : 'failed' });
  });
}

forEachStore('forgetting reservation transfer on retry: createRetryRun transfers by itself', async (world) => {
  const failed = await failedAfter(world, 'crashed');
  const retry = await nextRun(world, failed.workflow);
  world.is('events', world.event('1'), { reservedByRunId: retry.run });
  world.is('workflows', failed.workflow, { pendingRetryRunId: null });
});

forEachStore('calling createRetryRun on a pre-mutation run throws', async (world) => {
  const failed = await prepared(world);
  await stop(world, failed, 'crashed');
  const { fence, run } = await nextRun(world, failed.workflow);
  await world.manager.updateConsumerPhase(fence, run, 'prepared');
  await world.manager.updateConsumerPhase(fence, run, 'emitting');
  await world.manager.commitConsumer(fence, run);
  await world.refuses('before-boundary', () => world.manager.createRetryRun(fence, failed.run));
});

test('direct handlerRunStore.update() of status: a reader cannot write, whatever it is asked', () =>
  inWorld('sqlite', async (world) => {
    await preparing(world);
    const before = world.dump();
    for (const sql of [
      `UPDATE handler_runs SET status = 'committed'`,
      `UPDATE events SET status = 'pending'`,
      'DELETE FROM handler_runs',
    ]) {
      assert.throws(() => world.reader.offenders(sql), /cannot be written/);
    }
    assert.deepEqual(world.dump(), before);
  }));

test('direct eventStore.releaseEvents(): no port has a word for it', () =>
  inWorld('memory', async (world) => {
    const { fence } = await preparing(world);
    const ports = [executorPort(world.manager), workerPort(world.manager, fence), operatorPort(world.manager)];
    const words = [...ports.flatMap((port) => Object.keys(port)), ...methodsOf(world.manager)];
    const forbidden = ['reserveEvents', 'consumeEvents', 'releaseEvents', 'transferReservations', 'update', 'write'];
    assert.deepEqual(
      words.filter((word) => forbidden.includes(word)),
      [],
    );
    for (const port of ports) assert.throws(() => Object.assign(port, { releaseEvents: () => undefined }), TypeError);
  }));

function methodsOf(manager: ExecutionModelManager): string[] {
  const names: string[] = [];
  for (let at: object = manager; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    names.push(...Object.getOwnPropertyNames(at));
  }
  return names;
}

test('ports: an executor cannot touch runs, a worker cannot answer for people', () =>
  inWorld('memory', async (world) => {
    const { fence, run } = await preparing(world);
    const worker = workerPort(world.manager, fence);
    await worker.updateConsumerPhase(run, 'prepared', { reservations: reserve('1') });
    world.is('runs', run, { phase: 'prepared' });
    const executor = Object.keys(executorPort(world.manager));
    const operator = Object.keys(operatorPort(world.manager));
    assert.deepEqual(
      executor.filter((name) => name in worker || operator.includes(name)),
      [],
    );
    assert.deepEqual(
      operator.filter((name) => name in worker),
      [],
    );
  }));

// Source 000, "Abstract model alignment", row by row.

const PHASES = Object.keys(CONSUMER_PHASE_STEPS) as ConsumerPhase[];

/** A run at each phase in which it can still be stopped, with its event reserved from `prepared` on. */
const AT: Readonly<Record<Exclude<ConsumerPhase, 'committed'>, (world: World) => Promise<Stage>>> = {
  preparing: (world) => preparing(world),
  prepared: (world) => prepared(world),
  mutating: (world) => mutating(world),
  mutated: async (world) => {
    const stage = await mutating(world);
    await world.manager.updateConsumerPhase(stage.fence, stage.run, 'mutated');
    return stage;
  },
  emitting: (world) => emittingWithoutCall(world),
};

for (const [phase, reach] of Object.entries(AT)) {
  forEachStore(`phase only moves forward: nothing leads back from ${phase}`, async (world) => {
    const { fence, run } = await reach(world);
    for (const back of PHASES.slice(0, PHASES.indexOf(phase as ConsumerPhase) + 1)) {
      await world.refuses('wrong-phase', () => world.manager.updateConsumerPhase(fence, run, back));
    }
  });

  for (const status of STOPS) {
    forEachStore(`failures change status, not phase: ${status} at ${phase}`, async (world) => {
      const stage = await reach(world);
      await stop(world, stage, status, CAUSE);
      world.is('runs', stage.run, { phase: phase as ConsumerPhase, status });
    });
  }
}

forEachStore('before mutation: can reset, and a fresh run takes the released events', async (world) => {
  const stage = await mutating(world);
  await stop(world, stage, 'crashed');
  assert.deepEqual(world.events, { 1: 'pending' });
  const fresh = await nextRun(world, stage.workflow);
  world.is('runs', fresh.run, { retryOf: null, phase: 'preparing' });
  await world.manager.updateConsumerPhase(fresh.fence, fresh.run, 'prepared', { reservations: reserve('1') });
});

forEachStore('after mutation: must proceed forward, and no other consumer run may start', async (world) => {
  const { workflow, run } = await failedAfter(world, 'crashed');
  await world.manager.publishEvents(workflow, [placed('2')], 'ada');
  const { fence } = await nextRun(world, workflow);
  world.is('workflows', workflow, { pendingRetryRunId: null });
  const retry = world.rows.runs.values().find((row) => row.retryOf === run);
  assert.equal(retry?.phase, 'emitting');
  await world.refuses('busy', () => world.manager.startRun(fence, 'book'));
});

forEachStore('reserved on prepare success: all of it or nothing', async (world) => {
  const { fence, run } = await preparing(world, { events: ['1', '2'] });
  await world.refuses('event-unavailable', () =>
    world.manager.updateConsumerPhase(fence, run, 'prepared', { reservations: reserve('1', 'nowhere') }),
  );
  await world.manager.updateConsumerPhase(fence, run, 'prepared', { reservations: reserve('1', '2') });
  world.is('runs', run, { phase: 'prepared' });
  assert.deepEqual(world.events, { 1: 'reserved', 2: 'reserved' });
});

forEachStore('consumed on commit: all of it or nothing', async (world) => {
  const { fence, run } = await emitting(world);
  await world.refuses('not-subscribed', () =>
    world.manager.commitConsumer(fence, run, { state: '{}', publishes: [placed('x', '{}', 'parcel')] }),
  );
  await world.manager.commitConsumer(fence, run, { state: '{}' });
  world.is('runs', run, { phase: 'committed', status: 'committed' });
  assert.deepEqual(world.events, { 1: 'consumed' });
});

forEachStore('mutation tracked in ledger: before it is sent, and with the run when it is answered', async (world) => {
  const { fence, run, mutation } = await inFlight(world);
  world.is('mutations', mutation, {
    status: 'in_flight',
    params: CALL.params,
    callDeadline: world.clock.now() + CALL.timeoutMs,
    eventIds: [world.event('1')],
  });
  await world.manager.updateMutationResult(mutation, 'success', { fence, answer: { resolvedBy: 'provider' } });
  world.is('mutations', mutation, { status: 'applied' });
  world.is('runs', run, { mutationOutcome: 'success' });
});
