import assert from 'node:assert/strict';
import type { ExecutionId, InputId, RunId, SessionId, WorkflowId } from '#base';
import { PRUNED_AT_ONCE_MAX } from '#model';
import { beginSession, deploy, PERSON, placed, reserve } from '../support/fixture.ts';
import { pruneAll } from '../support/prune-all.ts';
import {
  applied,
  awaitingApproval,
  type Called,
  emitting,
  emittingWithoutCall,
  failedAfter,
  followUp,
  freshRun,
  inFlight,
  nextRun,
  preparing,
  published,
  send,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// History that nothing needs goes; whatever a promise still needs stays, and what went is known again by its key.

const NOTHING = { runs: 0, events: 0, mutations: 0, deliveries: 0, sessions: 0, executions: 0, inputs: 0 };
const INPUT = { source: 'mail', type: 'letter', id: 'm1', title: 'From Bob' } as const;

/** Everything that belongs to no history. */
function leftOf(world: World): Record<string, number> {
  const { runs, events, mutations, sessions, executions, enforcements, inputs, deliveries, evidence } = world.rows;
  const { runLogs, runReads, eventInputs, tasks } = world.rows;
  const tables = { runs, events, mutations, sessions, executions, enforcements, inputs, deliveries, evidence };
  const counts = Object.entries({ ...tables, runLogs, runReads, eventInputs, tasks }).map(
    ([name, table]) => [name, table.values().length] as const,
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** A whole cycle: its call applied, `next` done, the session over. */
async function finished(world: World, stage: Called): Promise<Called> {
  await applied(world, stage);
  await world.manager.commitConsumer(stage.fence, stage.run);
  await world.manager.finishSession(stage.fence);
  return stage;
}

async function booked(world: World): Promise<Called> {
  return finished(world, await inFlight(world));
}

forEachStore('a chain that is over goes whole, with all that hangs on it', async (world) => {
  const stage = await inFlight(world);
  const { fence, run, workflow, mutation } = stage;
  const read = { position: 0, at: 1, connection: 'shop', method: 'get', request: '{}', answer: '{}' };
  const logs = [{ position: 0, at: 1, message: 'hello', data: null }];
  await world.manager.keepRecords(fence, run, { logs, reads: [read] });
  await finished(world, stage);
  await world.manager.recordEvidence(mutation, { says: 'applied', detail: '{}', source: 'a late answer' });
  const gone = await pruneAll(world, workflow);
  assert.deepEqual(gone, { ...NOTHING, runs: 1, events: 1, mutations: 1, sessions: 1, executions: 1 });
  assert.deepEqual(leftOf(world), {});
  assert.deepEqual(await pruneAll(world, workflow), NOTHING);
});

forEachStore('a message that went is not taken for a new one', async (world) => {
  const { workflow } = await booked(world);
  const event = world.event('1');
  await pruneAll(world, workflow);
  const again = await world.manager.publishEvents(workflow, [placed('1', '{"other":1}')], PERSON);
  assert.deepEqual(again.published, [event]);
  assert.deepEqual(leftOf(world), {});
  const other = await world.manager.publishEvents(workflow, [placed('1', undefined, 'parcel')], PERSON);
  assert.notDeepEqual(other.published, [event]);
});

forEachStore('a delivery, its input and everything it led to go together, and are known again', async (world) => {
  const workflow = await deploy(world.manager);
  const delivery = { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' };
  const accepted = await world.manager.acceptDelivery(workflow, delivery);
  const fence = await beginSession(world.manager, workflow, world.self);
  const { run } = await world.manager.startRun(fence, 'hook', { delivery: accepted.delivery });
  await world.manager.commitProducer(fence, run, { inputs: [INPUT], publishes: [{ ...placed('1'), input: 0 }] });
  await world.manager.finishSession(fence);
  assert.deepEqual(await pruneAll(world, workflow), NOTHING, 'its event is pending');
  await finished(world, await send(world, await freshRun(world, workflow)));
  const gone = await pruneAll(world, workflow);
  assert.deepEqual(gone, { runs: 2, events: 1, mutations: 1, deliveries: 1, sessions: 2, executions: 2, inputs: 1 });
  assert.deepEqual(leftOf(world), {});
  const again = await world.manager.acceptDelivery(workflow, delivery);
  assert.deepEqual(again, { delivery: accepted.delivery, duplicate: true });
});

/** A delivery whose first run stopped, and whose second one committed. */
async function triedTwice(world: World) {
  const workflow = await deploy(world.manager);
  const given = { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' };
  const { delivery } = await world.manager.acceptDelivery(workflow, given);
  const first = await beginSession(world.manager, workflow, world.self);
  const failed = await world.manager.startRun(first, 'hook', { delivery });
  await stop(world, { workflow, fence: first, run: failed.run }, 'paused:transient');
  const second = await beginSession(world.manager, workflow, world.self, 'manual');
  const { run } = await world.manager.startRun(second, 'hook', { delivery });
  await world.manager.commitProducer(second, run, {});
  await world.manager.finishSession(second);
  return { workflow, delivery, failed: failed.run, run };
}

forEachStore('a delivery stays with the run that finished it until its earlier tries are gone', async (world) => {
  const { workflow, delivery, run } = await triedTwice(world);
  assert.deepEqual(await pruneAll(world, workflow), { ...NOTHING, runs: 1, sessions: 1, executions: 1 });
  world.is('deliveries', delivery, { status: 'done', runId: run });
  assert.deepEqual(await pruneAll(world, workflow), {
    ...NOTHING,
    runs: 1,
    deliveries: 1,
    sessions: 1,
    executions: 1,
  });
  assert.deepEqual(leftOf(world), {});
});

forEachStore('earlier tries of a delivery that are named first go with it', async (world) => {
  const { workflow, failed, run } = await triedTwice(world);
  const before = world.clock.now();
  const gone = await world.manager.pruneHistory(workflow, { before, runs: [failed, run] });
  assert.deepEqual(gone, { ...NOTHING, runs: 2, deliveries: 1, sessions: 2 }, 'messages still speak of the executions');
});

forEachStore('what was published stays as long as what it led to', async (world) => {
  const stage = await emitting(world);
  await world.manager.commitConsumer(stage.fence, stage.run, { publishes: [{ topic: 'order.booked', payload: '{}' }] });
  await world.manager.finishSession(stage.fence);
  assert.deepEqual(await pruneAll(world, stage.workflow), NOTHING);
  await world.manager.skipEvents([world.event(`${stage.run}:0`)], PERSON);
  assert.deepEqual(await pruneAll(world, stage.workflow), { ...NOTHING, events: 1 });
  const gone = await pruneAll(world, stage.workflow);
  assert.deepEqual(gone, { ...NOTHING, runs: 1, events: 1, mutations: 1, sessions: 1, executions: 1 });
  assert.deepEqual(
    Object.values(world.rows.prunedEvents.values())
      .map((event) => event.status)
      .sort(),
    ['consumed', 'skipped'],
  );
});

forEachStore('what was over later than the moment that is named stays', async (world) => {
  const before = world.clock.now();
  world.clock.advance(1);
  const { workflow } = await booked(world);
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  await world.manager.skipEvents([world.event('2')], PERSON);
  const fence = await beginSession(world.manager, workflow, world.self);
  await world.manager.commitProducer(fence, (await world.manager.startRun(fence, 'poll')).run, { inputs: [INPUT] });
  await world.manager.finishSession(fence);
  assert.deepEqual(await pruneAll(world, workflow, before), NOTHING);
});

/** Each leaves something that a promise needs, and nothing else. */
const NEEDED: Readonly<Record<string, (world: World) => Promise<{ readonly workflow: WorkflowId }>>> = {
  'a pending event': async (world) => ({ workflow: await published(world) }),
  'an active run': (world) => preparing(world),
  'a call in flight': (world) => inFlight(world),
  'a call that waits for approval': (world) => awaitingApproval(world),
  'an unknown call': (world) => unknown(world),
  'an unknown call that was set aside': async (world) => {
    const stage = await unknown(world);
    await world.manager.setAside(stage.mutation, PERSON);
    return stage;
  },
  'a call that was answered, and set aside': async (world) => {
    const stage = await unknown(world);
    await world.manager.setAside(stage.mutation, PERSON);
    const answer = { resolvedBy: 'user_assert_applied', by: PERSON } as const;
    await world.manager.updateMutationResult(stage.mutation, 'success', { answer, result: '{}' });
    return stage;
  },
  'a run whose `next` is owed': (world) => failedAfter(world),
  'a run without a call whose `next` is owed': async (world) => {
    const stage = await emittingWithoutCall(world);
    await stop(world, stage, 'failed:internal');
    return stage;
  },
  'a parked event, and the call that was rejected for it': async (world) => {
    const stage = await awaitingApproval(world);
    await world.manager.rejectCall(stage.mutation, 'park', PERSON);
    return stage;
  },
  'a refused call whose event will be taken again': async (world) => {
    const stage = await inFlight(world);
    const failure = { fence: stage.fence, answer: { resolvedBy: 'provider' }, error: 'no', errorClass: 'transient' };
    await world.manager.updateMutationResult(stage.mutation, 'failure', failure as never);
    return stage;
  },
  'a run that is under repair': async (world) => {
    const stage = await preparing(world);
    await stop(world, stage, 'failed:logic', { suspects: [world.event('1')] });
    return stage;
  },
};

for (const [what, given] of Object.entries(NEEDED)) {
  forEachStore(`${what} stays, however old`, async (world) => {
    const { workflow } = await given(world);
    world.clock.advance(1_000_000_000);
    const before = leftOf(world);
    assert.deepEqual(await pruneAll(world, workflow), NOTHING);
    assert.deepEqual(leftOf(world), before);
  });
}

forEachStore('a run that an open case is about stays until the case is closed', async (world) => {
  const stage = await unknown(world);
  world.clock.advance(WAIT_MS);
  const answer = { resolvedBy: 'user_assert_failed', by: PERSON } as const;
  await world.manager.updateMutationResult(stage.mutation, 'failure', { answer, error: 'not there' });
  await world.manager.recordEvidence(stage.mutation, { says: 'applied', detail: '{}', source: 'a late answer' });
  await world.manager.skipEvents([world.event('1')], PERSON);
  assert.deepEqual(await pruneAll(world, stage.workflow), NOTHING);
  await world.manager.resumeWorkflow(stage.workflow, PERSON);
  assert.deepEqual((await pruneAll(world, stage.workflow)).runs, 1);
  await pruneAll(world, stage.workflow);
  assert.deepEqual(leftOf(world), {});
});

forEachStore('an event that a repair or a count of crashes is about stays', async (world) => {
  const stage = await preparing(world, { events: ['1', '2'] });
  await stop(world, stage, 'failed:logic', { suspects: [world.event('1'), world.event('2')] });
  await world.manager.skipEvents([world.event('1')], PERSON);
  assert.deepEqual(await pruneAll(world, stage.workflow), NOTHING);
  await world.manager.skipEvents([world.event('2')], PERSON);
  assert.deepEqual((await pruneAll(world, stage.workflow)).events, 2);
});

forEachStore('an event that its handler has crashed on stays until the handler commits', async (world) => {
  const { workflow, fence } = await preparing(world);
  await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: true });
  await world.manager.skipEvents([world.event('1')], PERSON);
  assert.equal((await pruneAll(world, workflow)).events, 0);
  assert.deepEqual(world.rows.handlerStates.get(`${workflow} book`)?.crashEventId, world.event('1'));
});

forEachStore('an event that was done again stays as long as its repeat', async (world) => {
  const { workflow } = await booked(world);
  const { events } = await world.manager.redoEvents([world.event('1')], PERSON);
  assert.deepEqual(await pruneAll(world, workflow), NOTHING);
  await world.manager.skipEvents(events, PERSON);
  assert.deepEqual(await pruneAll(world, workflow), { ...NOTHING, events: 1 });
  assert.equal((await pruneAll(world, workflow)).runs, 1);
  assert.deepEqual(leftOf(world), {});
});

forEachStore('the refusals that a key counts go once the event is handled', async (world) => {
  const first = await inFlight(world);
  const failure = { fence: first.fence, answer: { resolvedBy: 'provider' }, error: 'no', errorClass: 'transient' };
  await world.manager.updateMutationResult(first.mutation, 'failure', failure as never);
  const fence = await beginSession(world.manager, first.workflow, world.self, 'manual');
  const { run } = await world.manager.startRun(fence, 'book');
  await finished(world, await send(world, { workflow: first.workflow, fence, run }));
  const gone = await pruneAll(world, first.workflow);
  assert.deepEqual(
    [gone.runs, gone.mutations, gone.events],
    [1, 1, 0],
    'the refused one first: the event is held by it',
  );
  await pruneAll(world, first.workflow);
  assert.deepEqual(leftOf(world), {});
});

forEachStore('a chain of retries goes from its first run to its last', async (world) => {
  const { workflow } = await failedAfter(world, 'crashed');
  const { fence, run } = await nextRun(world, workflow);
  await world.manager.commitConsumer(fence, run);
  await world.manager.finishSession(fence);
  const gone = await pruneAll(world, workflow);
  assert.deepEqual(gone, { ...NOTHING, runs: 2, events: 1, mutations: 1, sessions: 2, executions: 2 });
  assert.deepEqual(leftOf(world), {});
});

forEachStore('a session that stays counts what stays of it', async (world) => {
  const stage = await inFlight(world, {}, { events: ['1', '2'] });
  await applied(world, stage);
  await world.manager.commitConsumer(stage.fence, stage.run, {
    publishes: [{ topic: 'order.booked', payload: '{}', messageId: 'b1' }],
  });
  const poll = await world.manager.startRun(stage.fence, 'poll');
  await world.manager.commitProducer(stage.fence, poll.run, {});
  const again = await world.manager.startRun(stage.fence, 'poll');
  await world.manager.commitProducer(stage.fence, again.run, {});
  await world.manager.finishSession(stage.fence);
  const gone = await pruneAll(world, stage.workflow);
  assert.deepEqual(gone, { ...NOTHING, runs: 2 });
  world.is('sessions', world.sessionOf(stage.fence), { handlerRunCount: 1 });
});

/** What was approved is sent, and done. */
async function sentAtLast(world: World, stage: Called): Promise<void> {
  const fence = await followUp(world, stage.workflow);
  const retry = await world.manager.createRetryRun(fence, stage.run);
  await finished(world, { ...stage, fence, run: retry.run });
}

forEachStore('a method that was approved once stays approved', async (world) => {
  const stage = await awaitingApproval(world);
  await world.manager.approveCall(stage.mutation, PERSON);
  await sentAtLast(world, stage);
  assert.equal((await pruneAll(world, stage.workflow)).mutations, 1);
  const approved = { connection: 'shop', method: 'post', approvedBy: PERSON };
  world.is('keptApprovals', `${stage.workflow} shop post`, approved);
  assert.equal(world.reader.wasApproved(stage.workflow, 'shop', 'post'), true);
  assert.equal(world.reader.wasApproved(stage.workflow, 'shop', 'put'), false);
});

forEachStore('calls that an approval has covered are counted as long as it covers more', async (world) => {
  const stage = await awaitingApproval(world);
  const until = world.clock.now() + WAIT_MS;
  await world.manager.approveCall(stage.mutation, PERSON, { cover: { target: null, callsMax: 5, until } });
  await sentAtLast(world, stage);
  // It was made before the approval, which counts from then on.
  await world.manager.publishEvents(stage.workflow, [placed('2')], PERSON);
  const covered = await freshRun(world, stage.workflow);
  await finished(world, await send(world, covered, {}, { events: ['2'] }));
  assert.equal(world.rows.mutations.values().length, 2);
  await pruneAll(world, stage.workflow);
  assert.ok(world.rows.runs.get(covered.run), 'it is one of the five');
  world.clock.advance(WAIT_MS);
  await pruneAll(world, stage.workflow);
  assert.deepEqual(leftOf(world), {});
});

forEachStore('another method than the approved one is not kept for it', async (world) => {
  const stage = await awaitingApproval(world);
  const until = world.clock.now() + WAIT_MS;
  await world.manager.approveCall(stage.mutation, PERSON, { cover: { target: null, callsMax: 5, until } });
  await sentAtLast(world, stage);
  await world.manager.publishEvents(stage.workflow, [placed('2'), placed('3')], PERSON);
  await finished(world, await send(world, await freshRun(world, stage.workflow), { method: 'put' }, { events: ['2'] }));
  await finished(
    world,
    await send(world, await freshRun(world, stage.workflow), { connection: 'mail' }, { events: ['3'] }),
  );
  assert.equal((await pruneAll(world, stage.workflow)).mutations, 2);
});

forEachStore('an execution that ended without a session goes', async (world) => {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  assert.deepEqual(await pruneAll(world, workflow), NOTHING, 'it has not ended');
  await world.manager.cancelExecution(execution, PERSON);
  assert.deepEqual(await pruneAll(world, workflow), { ...NOTHING, executions: 1 });
});

forEachStore('an execution stays while a message speaks of it, and its session while it is open', async (world) => {
  const { workflow, fence } = await booked(world);
  const before = world.clock.now();
  const session = world.sessionOf(fence);
  assert.deepEqual(await world.manager.pruneHistory(workflow, { before, sessions: [session] }), NOTHING);
  const runs = [...world.rows.runs.values().map((run) => run.id)];
  assert.deepEqual(await world.manager.pruneHistory(workflow, { before, runs }), {
    ...NOTHING,
    runs: 1,
    events: 1,
    mutations: 1,
    sessions: 1,
  });
  assert.deepEqual(await pruneAll(world, workflow), { ...NOTHING, executions: 1 });
});

forEachStore('an input goes with the last event it caused', async (world) => {
  const { workflow, fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
  const publishes = [
    { ...placed('1'), input: 0 },
    { ...placed('2'), input: 0 },
  ];
  await world.manager.commitProducer(fence, run, { inputs: [INPUT, { ...INPUT, id: 'm2' }], publishes });
  await world.manager.finishSession(fence);
  assert.deepEqual(await pruneAll(world, workflow), { ...NOTHING, inputs: 1 }, 'the one that caused nothing');
  await world.manager.skipEvents([world.event('1')], PERSON);
  assert.deepEqual(await pruneAll(world, workflow), { ...NOTHING, events: 1 });
  await world.manager.skipEvents([world.event('2')], PERSON);
  assert.deepEqual(await pruneAll(world, workflow), { ...NOTHING, events: 1, inputs: 1 });
  assert.equal((await pruneAll(world, workflow)).runs, 1);
  assert.deepEqual(leftOf(world), {});
});

forEachStore('what belongs to another workflow, or to none, is not touched', async (world) => {
  const { workflow, fence, run } = await booked(world);
  await world.manager.publishEvents(workflow, [placed('2')], PERSON);
  await world.manager.skipEvents([world.event('2')], PERSON);
  const poll = await freshRun(world, workflow, 'poll');
  await world.manager.commitProducer(poll.fence, poll.run, { inputs: [INPUT] });
  await world.manager.finishSession(poll.fence);
  const other = await deploy(world.manager, 'other');
  const before = leftOf(world);
  const [input] = world.rows.inputs.values();
  assert.ok(input);
  const named = {
    runs: [run, 'run_99999' as RunId],
    events: [world.event('2'), world.event('1')],
    sessions: [world.sessionOf(fence), 'ses_99999' as SessionId],
    executions: [fence.execution, 'exe_99999' as ExecutionId],
    inputs: [input.id, 'inp_99999' as InputId],
  };
  assert.deepEqual(await world.manager.pruneHistory(other, { before: world.clock.now(), ...named }), NOTHING);
  assert.deepEqual(leftOf(world), before);
});

forEachStore('what has not passed yet, and more than fits, is refused', async (world) => {
  const workflow = await published(world);
  const now = world.clock.now();
  await world.refuses('invalid', () => world.manager.pruneHistory(workflow, { before: now + 1 }), /cannot go yet/);
  await world.refuses('invalid', () => world.manager.pruneHistory(workflow, { before: -1 }));
  const runs = Array.from({ length: PRUNED_AT_ONCE_MAX + 1 }, (_, i) => `run_${i}` as RunId);
  await world.refuses('invalid', () => world.manager.pruneHistory(workflow, { before: now, runs }), /at most/);
  for (const list of ['runs', 'events', 'sessions', 'executions', 'inputs'] as const) {
    const named = { before: now, [list]: ['wf_00001'] };
    await world.refuses('malformed-id', () => world.manager.pruneHistory(workflow, named as never));
  }
});

forEachStore('events that were reserved together go together', async (world) => {
  const { fence, run, workflow } = await preparing(world, { events: ['1', '2', '3'] });
  await world.manager.together((model) => {
    model.updateConsumerPhase(fence, run, 'prepared', { reservations: reserve('1', '2'), prepareResult: '{}' });
    model.updateConsumerPhase(fence, run, 'mutating');
    model.updateConsumerPhase(fence, run, 'mutated');
    model.updateConsumerPhase(fence, run, 'emitting');
    model.commitConsumer(fence, run);
    model.finishSession(fence);
  });
  assert.deepEqual(await pruneAll(world, workflow), { ...NOTHING, runs: 1, events: 2, sessions: 1, executions: 1 });
  assert.deepEqual(world.events, { 3: 'pending' });
});
