import assert from 'node:assert/strict';
import type { ErrorClass } from '#model';
import { applyAndEmit, beginSession, CALL, deploy, ORDERS, PERSON, placed, reserve } from '../support/fixture.ts';
import {
  awaitingApproval,
  emitting,
  emittingEmpty,
  failedAfter,
  followUp,
  freshRun,
  inFlight,
  mutating,
  nextRun,
  prepared,
  preparing,
  published,
  restart,
  sayDone,
  sayNotDone,
  send,
  stop,
  unknown,
} from '../support/stage.ts';
import { forEachStore } from '../support/world.ts';

// "Where the sources disagree or stop: settled". One test a row of that table, named after it; what needs more has a file of its own.

forEachStore(
  'empty reservations: emitting, and next is told none; without a result there is no next',
  async (world) => {
    const { manager } = world;
    const workflow = await published(world);
    for (const [reservations, prepareResult] of [
      [[], '{"data":0}'],
      [[{ topic: 'order.placed', ids: [] }], '{"data":0}'],
      [[], undefined],
    ] as const) {
      const { fence, run } = await freshRun(world, workflow);
      await manager.updateConsumerPhase(fence, run, 'prepared', { reservations, prepareResult });
      await world.refuses('wrong-phase', () => manager.updateConsumerPhase(fence, run, 'mutating'));
      await manager.updateConsumerPhase(fence, run, 'emitting');
      world.is('runs', run, { phase: 'emitting', mutationOutcome: '', prepareResult: prepareResult ?? null });
      await manager.commitConsumer(fence, run);
      world.is('runs', run, { status: 'committed' });
      await manager.finishSession(fence);
    }
    assert.deepEqual(world.events, { 1: 'pending' });
  },
);

forEachStore('failed, suspended, pending are statuses: runs begin at preparing or executing', async (world) => {
  const { fence, run } = await preparing(world);
  world.is('runs', run, { phase: 'preparing', status: 'active' });
  await stop(world, { workflow: world.row('runs', run).workflowId, fence, run }, 'crashed');
  const again = await beginSession(world.manager, world.row('runs', run).workflowId, world.self);
  const producer = await world.manager.startRun(again, 'poll');
  world.is('runs', producer.run, { phase: 'executing', status: 'active' });
});

forEachStore('ledger row before mutate runs: only at the call', async (world) => {
  const { fence, run } = await mutating(world);
  assert.equal(world.rows.mutations.values().length, 0);
  await world.manager.startMutation(fence, run, CALL);
  assert.equal(world.rows.mutations.values().length, 1);
});

forEachStore('session suspended, resumed after restart: never; it is ended, and a new one follows', async (world) => {
  const { workflow, fence } = await emitting(world);
  await restart(world);
  world.is('sessions', world.sessionOf(fence), { result: 'failed', endTimestamp: world.clock.now() });
  const next = await followUp(world, workflow);
  assert.notEqual(world.sessionOf(next), world.sessionOf(fence));
});

forEachStore('session failure sets workflow error: only by holds', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'crashed');
  world.is('sessions', world.sessionOf(stage.fence), { result: 'failed' });
  world.is('workflows', stage.workflow, { status: 'active', holds: [] });
});

forEachStore('the final flag: none, a stop always ends the session', async (world) => {
  const stage = await prepared(world);
  await stop(world, stage, 'paused:transient');
  world.is('sessions', world.sessionOf(stage.fence), { result: 'failed' });
  await world.refuses('fenced', () => world.manager.advanceSession(stage.fence));
});

forEachStore('pre-mutation pause releases events', async (world) => {
  const stage = await prepared(world);
  await stop(world, stage, 'paused:transient');
  assert.deepEqual(world.events, { 1: 'pending' });
});

forEachStore('pre-mutation pause keeps the events of a recorded call that waits for approval', async (world) => {
  const { workflow, run, mutation } = await awaitingApproval(world);
  world.is('runs', run, { status: 'paused:approval', phase: 'mutating' });
  world.is('mutations', mutation, { status: 'pending', callDeadline: null });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: run });
  world.is('workflows', workflow, { pendingRetryRunId: run, holds: ['approval'] });
});

forEachStore('user skip asks the version the retry would run under whether there is a next', async (world) => {
  const { workflow, run, mutation } = await unknown(world);
  const consumers = ORDERS.consumers.map((consumer) => ({ ...consumer, hasNext: consumer.name !== 'book' }));
  const version = { major: 2, minor: 0, contentHash: 'h2', code: 'x', handlers: { ...ORDERS, consumers }, by: PERSON };
  const { script } = await world.manager.addScript(workflow, version);
  await world.manager.activateScript(workflow, script, { by: PERSON });
  assert.deepEqual(await world.manager.skipMutation(mutation, PERSON), { run, status: 'committed' });
  assert.deepEqual(world.events, { 1: 'skipped' });
});

forEachStore('a paused run resumes: a new run in its chain does', async (world) => {
  const { workflow, run } = await failedAfter(world, 'paused:transient');
  world.clock.advance(1_000);
  const retry = await nextRun(world, workflow);
  world.is('runs', run, { status: 'paused:transient', phase: 'emitting' });
  world.is('runs', retry.run, { status: 'active', retryOf: run, rootRunId: run });
});

forEachStore('user must resume after an answer: the engine lifts its own hold', async (world) => {
  const { workflow, mutation } = await unknown(world);
  await sayDone(world, mutation);
  world.is('workflows', workflow, { status: 'active', holds: [] });
});

forEachStore('resume while unknown: refused', async (world) => {
  const { workflow } = await unknown(world);
  await world.refuses('unknown-outcome', () => world.manager.resumeWorkflow(workflow, PERSON));
});

forEachStore('"it happened": said by a name, with a result or without', async (world) => {
  const { manager } = world;
  const { run, mutation } = await unknown(world);
  const answer = { resolvedBy: 'user_assert_applied', by: PERSON } as const;
  await world.refuses('invalid', () => manager.updateMutationResult(mutation, 'success', { answer, result: '{' }));
  await world.refuses('invalid', () => manager.updateMutationResult(mutation, 'failure', { answer }));
  await manager.updateMutationResult(mutation, 'success', { answer });
  world.is('mutations', mutation, {
    status: 'applied',
    result: null,
    resolvedBy: 'user_assert_applied',
    resolvedByName: PERSON,
    resolvedAt: world.clock.now(),
  });
  world.is('runs', run, { mutationOutcome: 'success', phase: 'mutating' });
});

forEachStore('"it didn\'t happen": refused, with the time, until the call is over and would show', async (world) => {
  const { workflow, mutation } = await unknown(world);
  const over = world.clock.now();
  const error = await world.refuses('too-early', () => sayNotDone(world, mutation), /its call is over/);
  assert.equal(error.notBefore, over + 30_000);
  assert.equal(error.retryable, true);
  world.clock.advance(29_999);
  await world.refuses('too-early', () => sayNotDone(world, mutation), /another 1 s/);
  world.clock.advance(1);
  await sayNotDone(world, mutation);
  world.is('workflows', workflow, { holds: [], pendingRetryRunId: null });
});

for (const [errorClass, status] of [
  ['logic', 'failed:logic'],
  ['transient', 'paused:transient'],
  ['auth', 'paused:approval'],
  ['permission', 'paused:approval'],
  ['internal', 'failed:internal'],
  [undefined, 'paused:transient'],
] as const) {
  forEachStore(`two commits for a failed mutation: one, stopped by class ${errorClass ?? '(none)'}`, async (world) => {
    const { fence, run, mutation } = await inFlight(world);
    const commits = world.commits;
    const answer = { resolvedBy: 'provider' } as const;
    await world.manager.updateMutationResult(mutation, 'failure', {
      fence,
      answer,
      errorClass,
      stop: causeOf(errorClass),
    });
    assert.equal(world.commits, commits + 1);
    world.is('runs', run, { status, phase: 'mutating', mutationOutcome: 'failure', error: 'it did not happen' });
    world.is('mutations', mutation, { status: 'failed', resolvedBy: 'provider', callEndedAt: world.clock.now() });
    assert.deepEqual(world.events, { 1: 'pending' });
  });
}

function causeOf(errorClass: ErrorClass | undefined) {
  if (errorClass === 'auth') return { cause: { kind: 'auth', connection: 'shop', version: 0 } } as const;
  return errorClass === 'permission' ? ({ cause: { kind: 'permission' } } as const) : {};
}

forEachStore('republish changes a pending event in its place, and is ignored once it was taken up', async (world) => {
  const { manager } = world;
  const workflow = await published(world, { events: ['1', '2'] });
  const before = world.row('events', world.event('1'));
  await manager.publishEvents(workflow, [{ ...placed('1', '{"v":2}'), title: 'second' }], PERSON);
  world.is('events', before.id, { payload: '{"v":2}', title: 'second', pendingSeq: before.pendingSeq + 1 });
  const seq = world.row('workflows', workflow).eventSeq;
  await manager.publishEvents(workflow, [placed('1', '{"v":2}')], PERSON);
  world.is('events', before.id, { pendingSeq: before.pendingSeq + 1 });
  world.is('workflows', workflow, { eventSeq: seq });

  const stage = await freshRun(world, workflow);
  await manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', { reservations: reserve('1') });
  const taken = world.row('events', before.id);
  await manager.publishEvents(workflow, [placed('1', '{"v":3}')], PERSON);
  assert.deepEqual(world.row('events', before.id), taken);
  await manager.parkEvents([world.event('2')], PERSON);
  await manager.publishEvents(workflow, [placed('2', '{"v":3}')], PERSON);
  world.is('events', world.event('2'), { status: 'parked', payload: '{"id":"2"}' });
  await manager.skipEvents([world.event('2')], PERSON);
  await manager.publishEvents(workflow, [placed('2', '{"v":3}')], PERSON);
  world.is('events', world.event('2'), { status: 'skipped', payload: '{"id":"2"}' });
});

forEachStore('two consumers on one topic: refused; a topic without a consumer is no mistake', async (world) => {
  const { workflow } = await world.manager.createWorkflow('shared', PERSON);
  const [book] = ORDERS.consumers;
  assert.ok(book);
  const handlers = { ...ORDERS, consumers: [book, { ...book, name: 'twin' }] };
  const version = { major: 1, minor: 0, contentHash: 'h', code: 'x', by: PERSON };
  const error = await world.refuses('invalid', () => world.manager.addScript(workflow, { ...version, handlers }));
  assert.match(error.next[0]?.label ?? '', /publish to two topics/);
  const lonely = { topics: ['nobody.reads'], producers: [], consumers: [] };
  const { script } = await world.manager.addScript(workflow, { ...version, handlers: lonely });
  await world.manager.activateScript(workflow, script, { by: PERSON });
  await world.manager.publishEvents(workflow, [placed('1', '{}', 'nobody.reads')], PERSON);
  world.is('workflows', workflow, { dueAt: null });
});

forEachStore('consumer picked again after reserving nothing: it rests', async (world) => {
  const { workflow, fence, run } = await emittingEmpty(world);
  await world.manager.commitConsumer(fence, run);
  assert.deepEqual(await world.manager.advanceSession(fence), { ended: 'completed' });
  world.is('workflows', workflow, { dueAt: null });
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  world.is('workflows', workflow, { dueAt: world.clock.now() });
});

forEachStore('handoff = publish after write: the message is a row of the same transaction', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.beginScheduling(execution);
  const commits = world.commits;
  const { epoch } = await world.manager.handOff(execution);
  assert.equal(world.commits, commits + 1);
  world.is('executions', execution, { status: 'scheduled', epoch });
  const sent = world.rows.messages.values().filter((message) => message.type === 'execution.scheduled');
  assert.deepEqual(
    sent.map((message) => [message.executionId, message.epoch]),
    [[execution, epoch]],
  );
  const [message] = sent;
  assert.ok(message);
  await world.manager.deleteMessage(message.id);
  assert.equal(world.rows.messages.get(message.id), undefined);
  await world.manager.deleteMessage(message.id);
});

forEachStore("startup recovery of every active run: dead owners' only", async (world) => {
  const stage = await prepared(world);
  assert.deepEqual(await world.manager.recoverCrashedRuns(world.self), { recovered: 0, left: 0 });
  world.is('runs', stage.run, { status: 'active' });
  const living = world.ids.next('worker');
  await world.manager.registerWorker(living, { name: 'two', pool: 'default', leaseMs: 45_000 });
  assert.deepEqual(await world.manager.recoverCrashedRuns(living), { recovered: 1, left: 0 });
  assert.deepEqual(await world.manager.recoverCrashedRuns(living), { recovered: 0, left: 0 });
});

forEachStore('who writes abandoned: the reaper, after raising the epoch', async (world) => {
  const stage = await prepared(world);
  const { execution, epoch } = stage.fence;
  const early = await world.refuses('too-early', () =>
    world.manager.reapExecution(execution, epoch, { provenDead: false }),
  );
  assert.equal(early.notBefore, world.clock.now() + 45_000);
  world.clock.advance(45_000);
  assert.deepEqual(await world.manager.reapExecution(execution, epoch, { provenDead: false }), {
    ended: 'abandoned',
    run: { run: stage.run, status: 'crashed' },
  });
  world.is('executions', execution, { status: 'abandoned', epoch: epoch + 1 });
  await world.refuses('fenced', () => world.manager.updateConsumerPhase(stage.fence, stage.run, 'mutating'));
});

forEachStore('cancel between publish and receipt: a flag; the claiming worker writes cancelled', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.beginScheduling(execution);
  const { epoch } = await world.manager.handOff(execution);
  assert.deepEqual(await world.manager.cancelExecution(execution, PERSON), { cancelled: false });
  world.is('executions', execution, { status: 'scheduled', cancelRequestedBy: PERSON });
  assert.deepEqual(await world.manager.claimExecution(execution, epoch, world.self), { cancelled: true });
  world.is('executions', execution, { status: 'cancelled', owner: null });
  const messages = world.rows.messages.values().map((message) => message.type);
  assert.deepEqual(messages.slice(-2), ['execution.status_changed', 'execution.completed']);
  world.is('workflows', workflow, { quiet: true, dueAt: null });
  assert.equal(world.rows.sessions.values().length, 0);
});

forEachStore('cancel between publish and receipt: or the reaper writes it', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.beginScheduling(execution);
  const { epoch } = await world.manager.handOff(execution);
  await world.manager.cancelExecution(execution, PERSON);
  const reaped = await world.manager.reapExecution(execution, epoch, { provenDead: true });
  assert.deepEqual(reaped, { ended: 'cancelled', run: null });
  world.is('executions', execution, { status: 'cancelled' });
  world.is('workflows', workflow, { quiet: true });
});

forEachStore('children are follow-up executions of the same workflow', async (world) => {
  const { workflow, fence, run } = await preparing(world, { events: ['1', '2'] });
  const other = await deploy(world.manager, 'other');
  const { mutation } = await send(world, { workflow, fence, run });
  await applyAndEmit(world.manager, fence, run, mutation);
  await world.manager.commitConsumer(fence, run, { publishes: [{ topic: 'order.booked', payload: '{}' }] });
  await world.manager.finishSession(fence);
  world.is('workflows', workflow, { dueAt: world.clock.now() });
  world.is('workflows', other, { dueAt: null });
  const next = await nextRun(world, workflow);
  world.is('executions', next.fence.execution, { workflowId: workflow, trigger: 'event' });
});
