import assert from 'node:assert/strict';
import { deploy, PERSON, placed } from '../support/fixture.ts';
import {
  applied,
  awaitingApproval,
  emitting,
  emittingWithoutCall,
  failedAfter,
  freshRun,
  inFlight,
  nextRun,
  nothingFollows,
  preparing,
  published,
  restart,
  sayDone,
  sayNotDone,
  send,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore } from '../support/world.ts';

// What only a person does: finish without next, redo, set aside, skip and park events, mend a handler's state, archive.

forEachStore('finish without next: a stopped run past its boundary is closed as it stands', async (world) => {
  const { workflow, fence, run } = await failedAfter(world, 'failed:internal');
  assert.deepEqual(await world.manager.finishWithoutNext(run, PERSON), { run, status: 'committed' });
  world.is('runs', run, { phase: 'committed', status: 'committed' });
  world.is('events', world.event('1'), { status: 'consumed', reservedByRunId: run });
  world.is('workflows', workflow, { pendingRetryRunId: null, holds: ['error'] });
  world.is('sessions', world.sessionOf(fence), { handlerRunCount: 1, result: 'failed' });
});

forEachStore('finish without next: after a user skip the events are skipped', async (world) => {
  const { workflow, run, mutation } = await unknown(world);
  await world.manager.skipMutation(mutation, PERSON);
  await world.manager.finishWithoutNext(run, PERSON);
  assert.deepEqual(world.events, { 1: 'skipped' });
  world.is('workflows', workflow, { pendingRetryRunId: null, dueAt: null });
});

forEachStore('finish without next: the trouble that led to it is forgotten', async (world) => {
  const { workflow, run } = await failedAfter(world, 'paused:transient');
  await world.manager.finishWithoutNext(run, PERSON);
  world.is('handlerStates', `${workflow} book`, { backoffUntil: null, transientSince: null, transientCount: 0 });
});

forEachStore('finish without next: also a run that made no call', async (world) => {
  const stage = await emittingWithoutCall(world);
  await stop(world, stage, 'crashed');
  await world.manager.finishWithoutNext(stage.run, PERSON);
  assert.deepEqual(world.events, { 1: 'consumed' });
});

forEachStore('finish without next: also a run that is set aside', async (world) => {
  const { run, mutation } = await unknown(world);
  await world.manager.setAside(mutation, PERSON);
  await world.refuses('wrong-state', () => world.manager.finishWithoutNext(run, PERSON), /boundary is unknown/);
  await sayDone(world, mutation);
  await world.manager.finishWithoutNext(run, PERSON);
  world.is('mutations', mutation, { setAsideAt: null, status: 'applied' });
  assert.deepEqual(world.events, { 1: 'consumed' });
});

forEachStore('finish without next: no other run', async (world) => {
  const { workflow, run, mutation } = await unknown(world);
  await world.refuses('wrong-state', () => world.manager.finishWithoutNext(run, PERSON), /boundary is unknown/);
  await sayDone(world, mutation);
  const retry = await nextRun(world, workflow);
  await world.refuses('wrong-state', () => world.manager.finishWithoutNext(run, PERSON), /waits for no retry/);
  await world.refuses('wrong-state', () => world.manager.finishWithoutNext(retry.run, PERSON), /is active/);
});

forEachStore('finish without next: not a call that waits for approval', async (world) => {
  const { run } = await awaitingApproval(world);
  await world.refuses('wrong-state', () => world.manager.finishWithoutNext(run, PERSON), /boundary is held/);
});

forEachStore('redo: a new event with the same payload and causes, and its effect with it', async (world) => {
  const { manager } = world;
  const workflow = await published(world, { events: [] });
  const poll = await freshRun(world, workflow, 'poll');
  await manager.commitProducer(poll.fence, poll.run, {
    inputs: [{ source: 'mail', type: 'letter', id: 'm1', title: 'From Bob' }],
    publishes: [{ ...placed('1'), title: 'Order 1', input: 0 }],
  });
  const { run } = (await manager.advanceSession(poll.fence)) as { run: typeof poll.run };
  const called = await send(world, { ...poll, run });
  await applied(world, called);
  await manager.commitConsumer(poll.fence, run);
  await manager.finishSession(poll.fence);
  world.is('workflows', workflow, { dueAt: null });

  const consumed = world.event('1');
  const { events } = await manager.redoEvents([consumed], PERSON);
  const [redone] = events;
  assert.ok(redone);
  const { payload, title, topic } = world.row('events', consumed);
  world.is('events', redone, { redoOf: consumed, status: 'pending', payload, title, topic, reservedByRunId: null });
  assert.notEqual(world.row('events', redone).messageId, '1');
  assert.deepEqual(
    world.rows.eventInputs.values().map((cause) => cause.inputId),
    ['inp_00001', 'inp_00001'],
  );
  const again = await send(
    world,
    await nextRun(world, workflow),
    {},
    { events: [world.row('events', redone).messageId] },
  );
  assert.notEqual(
    world.row('mutations', again.mutation).idempotencyKey,
    world.row('mutations', called.mutation).idempotencyKey,
  );
});

forEachStore('redo: skipped events too, several at once, twice if asked; no others', async (world) => {
  const workflow = await published(world, { events: ['1', '2', '3'] });
  const [one, two, three] = ['1', '2', '3'].map((messageId) => world.event(messageId));
  assert.ok(one && two && three);
  await world.manager.skipEvents([one, two], PERSON);
  const { eventSeq } = world.row('workflows', workflow);
  assert.equal((await world.manager.redoEvents([one, two], PERSON)).events.length, 2);
  world.is('workflows', workflow, { eventSeq: eventSeq + 1 });
  assert.equal((await world.manager.redoEvents([one], PERSON)).events.length, 1);
  await world.refuses('wrong-state', () => world.manager.redoEvents([one, three], PERSON), /is pending/);
});

forEachStore('set aside: the question stays, the workflow goes on, order is given up', async (world) => {
  const { manager } = world;
  const { workflow, run, mutation } = await unknown(world, { canReconcile: true }, { events: ['1'] });
  await manager.publishEvents(workflow, [placed('2')], PERSON);
  await manager.setAside(mutation, PERSON);
  world.is('mutations', mutation, { status: 'needs_reconcile', setAsideAt: world.clock.now() });
  world.is('workflows', workflow, { holds: [], status: 'active', pendingRetryRunId: null, dueAt: world.clock.now() });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: run });
  const next = await send(world, await nextRun(world, workflow), {}, { events: ['2'] });
  await applied(world, next);
  await manager.commitConsumer(next.fence, next.run);
  assert.deepEqual(world.events, { 1: 'reserved', 2: 'consumed' });
  await world.refuses('wrong-state', () => manager.setAside(mutation, PERSON), /already/);
  await manager.claimReconcile(mutation, world.self, 1_000);
});

forEachStore('set aside, then it did not happen: the events are released', async (world) => {
  const { workflow, mutation } = await unknown(world);
  await world.manager.setAside(mutation, PERSON);
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, mutation);
  world.is('mutations', mutation, { status: 'failed', setAsideAt: null });
  assert.deepEqual(world.events, { 1: 'pending' });
  world.is('workflows', workflow, { dueAt: world.clock.now() });
});

forEachStore('set aside, then skip without next: done at once', async (world) => {
  const { run, mutation } = await unknown(world, {}, { handler: 'ship' });
  await world.manager.setAside(mutation, PERSON);
  assert.deepEqual(await world.manager.skipMutation(mutation, PERSON), { run, status: 'committed' });
  world.is('mutations', mutation, { setAsideAt: null });
  assert.deepEqual(world.events, { 1: 'skipped' });
});

forEachStore('set aside survives a restart, and check again', async (world) => {
  const { workflow, mutation } = await unknown(world, { canReconcile: true });
  await world.manager.setAside(mutation, PERSON);
  for (let count = 0; count < 12; count++) await world.manager.postponeReconcile(mutation, 0);
  world.is('mutations', mutation, { status: 'indeterminate' });
  await restart(world);
  await world.manager.checkAgain(mutation, PERSON);
  world.is('workflows', workflow, { holds: [] });
  assert.deepEqual(await world.manager.assertNoOrphanedReservedEvents(), { events: [], held: [] });
});

forEachStore('skip, park and unpark: events of one workflow, each in the right state, or none', async (world) => {
  const { manager } = world;
  const workflow = await published(world, { events: ['1', '2'] });
  const other = await deploy(manager, 'other');
  const { published: elsewhere } = await manager.publishEvents(other, [placed('x')], PERSON);
  const [one, two] = [world.event('1'), world.event('2')];
  const [alien] = elsewhere;
  assert.ok(alien);
  await world.refuses('invalid', () => manager.skipEvents([one, alien], PERSON), /2 workflows/);
  await world.refuses('wrong-state', () => manager.unparkEvents([one], PERSON));
  assert.deepEqual(await manager.parkEvents([one, two], PERSON), { changed: 2 });
  await nothingFollows(world, workflow);
  await world.refuses('wrong-state', () => manager.parkEvents([one], PERSON));
  assert.deepEqual(await manager.unparkEvents([one], PERSON), { changed: 1 });
  assert.deepEqual(await manager.skipEvents([one, two], PERSON), { changed: 2 });
  await world.refuses('wrong-state', () => manager.skipEvents([one], PERSON));
});

forEachStore('set state: by a name, for a handler there is, not while it runs', async (world) => {
  const { manager } = world;
  const { workflow } = await preparing(world);
  await world.refuses('busy', () => manager.setHandlerState(workflow, 'book', '{}', PERSON));
  await manager.setHandlerState(workflow, 'poll', '{"since":3}', PERSON);
  world.is('handlerStates', `${workflow} poll`, { state: '{"since":3}' });
  await world.refuses(
    'not-found',
    () => manager.setHandlerState(workflow, 'nobody', '{}', PERSON),
    /it has poll, hook/,
  );
  const { workflow: empty } = await manager.createWorkflow('empty', PERSON);
  await world.refuses('not-found', () => manager.setHandlerState(empty, 'poll', '{}', PERSON), /it has none/);
});

forEachStore('state: undefined keeps the old one', async (world) => {
  const { workflow, fence, run } = await emitting(world);
  await world.manager.commitConsumer(fence, run, { state: '{"n":1}' });
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  const next = (await world.manager.advanceSession(fence)) as { run: typeof run };
  const called = await send(world, { workflow, fence, run: next.run }, {}, { events: ['2'] });
  await applied(world, called);
  await world.manager.commitConsumer(fence, next.run);
  world.is('handlerStates', `${workflow} book`, { state: '{"n":1}' });
  world.is('runs', next.run, { outputState: null });
});

forEachStore('archive: from any state without open work, for good', async (world) => {
  const { manager } = world;
  const { workflow: draft } = await manager.createWorkflow('draft', PERSON);
  assert.deepEqual(await manager.archiveWorkflow(draft, PERSON), { status: 'archived' });
  const stage = await preparing(world);
  await world.refuses('busy', () => manager.archiveWorkflow(stage.workflow, PERSON), /is running/);
  await stop(world, stage, 'failed:logic');
  await manager.createMaintenanceTask(stage.workflow);
  await manager.pauseWorkflow(stage.workflow, PERSON);
  await manager.archiveWorkflow(stage.workflow, PERSON);
  world.is('workflows', stage.workflow, { status: 'archived', holds: [], maintenance: false, dueAt: null });
  assert.equal(world.rows.tasks.values()[0]?.status, 'closed');
  await world.refuses('wrong-state', () => manager.archiveWorkflow(stage.workflow, PERSON));
  await world.refuses('wrong-state', () => manager.publishEvents(stage.workflow, [placed('2')], PERSON));
  await world.refuses('wrong-state', () => manager.requestExecution(stage.workflow, 'event'));
});

forEachStore('archive: an evidence case is closed with it, and nothing is due any more', async (world) => {
  const { workflow, mutation } = await unknown(world);
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, mutation);
  await world.manager.recordEvidence(mutation, { says: 'applied', detail: 'x', source: 'y' });
  await world.manager.archiveWorkflow(workflow, PERSON);
  assert.equal(world.rows.tasks.values()[0]?.status, 'closed');
});

forEachStore(
  'archive: refused for an open question, a set-aside run, a reserved event, a waiting request',
  async (world) => {
    const { manager } = world;
    const { workflow, mutation } = await unknown(world);
    const archive = () => manager.archiveWorkflow(workflow, PERSON);
    await world.refuses('busy', archive, /is indeterminate/);
    await manager.setAside(mutation, PERSON);
    await world.refuses('busy', archive, /is indeterminate/);
    await sayDone(world, mutation);
    await world.refuses('busy', archive, /is applied/);
    const retry = await nextRun(world, workflow);
    await stop(world, retry, 'crashed');
    await world.refuses('busy', archive, /is reserved: its next step is owed/);
    const last = await nextRun(world, workflow);
    await manager.commitConsumer(last.fence, last.run);
    await manager.finishSession(last.fence);
    await manager.requestExecution(workflow, 'event');
    await world.refuses('busy', archive, /is requested/);
  },
);

forEachStore('archive: a workflow with events pending is put away with them', async (world) => {
  const workflow = await published(world);
  world.is('workflows', workflow, { dueAt: world.clock.now() });
  await world.manager.archiveWorkflow(workflow, PERSON);
  world.is('workflows', workflow, { status: 'archived', dueAt: null });
  assert.deepEqual(world.events, { 1: 'pending' });
});

forEachStore('an answer in flight belongs to nobody but the run', async (world) => {
  const { run } = await inFlight(world);
  await world.refuses('wrong-state', () => world.manager.finishWithoutNext(run, PERSON), /is active/);
});

forEachStore('events of an archived workflow may still be put in order', async (world) => {
  const workflow = await published(world);
  await world.manager.archiveWorkflow(workflow, PERSON);
  assert.deepEqual(await world.manager.skipEvents([world.event('1')], PERSON), { changed: 1 });
  world.is('workflows', workflow, { status: 'archived', holds: [], dueAt: null });
});

forEachStore('unpark and redo: only what a live workflow has a topic for', async (world) => {
  const { manager } = world;
  const workflow = await published(world, { events: ['1', '2'] });
  const [parked, skipped] = [world.event('1'), world.event('2')];
  await manager.parkEvents([parked], PERSON);
  await manager.skipEvents([skipped], PERSON);
  const handlers = { topics: ['parcel'], producers: [], consumers: [] };
  const version = { major: 2, minor: 0, contentHash: 'h', code: 'x', handlers, by: PERSON };
  const { script } = await manager.addScript(workflow, version);
  await manager.activateScript(workflow, script, { by: PERSON });
  await world.refuses('wrong-state', () => manager.unparkEvents([parked], PERSON), /does not have that topic/);
  await world.refuses('wrong-state', () => manager.redoEvents([skipped], PERSON), /does not have that topic/);
  await manager.archiveWorkflow(workflow, PERSON);
  await world.refuses('wrong-state', () => manager.unparkEvents([parked], PERSON), /is archived/);
  await world.refuses('wrong-state', () => manager.redoEvents([skipped], PERSON), /is archived/);
});
