import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusedError, type RunId, type WorkerId } from '#base';
import type { Fence } from '#model';
import { PERSON } from '../support/fixture.ts';
import { beginSession, CALLS, LEASE_MS, placed, setTheStage } from './world.ts';

/** What the walk found, each on the shortest way to it. */

const SCHEDULING_MS = 15_000;

function refusal(ask: () => unknown): RefusedError {
  try {
    ask();
  } catch (error) {
    if (error instanceof RefusedError) return error;
    throw error;
  }
  return assert.fail('it was not refused');
}

test('a request that is swept back while another waits becomes one with it', () => {
  const { stage, home } = setTheStage([placed('1')], 1, 1);
  const first = stage.do({ do: 'requestExecution', workflow: home, trigger: 'webhook' });
  stage.do({ do: 'beginScheduling', execution: first.execution });
  const second = stage.do({ do: 'requestExecution', workflow: home, trigger: 'event' });
  stage.wait(SCHEDULING_MS);
  stage.do({ do: 'sweepScheduling', execution: first.execution });
  const { executions } = stage.state.rows;
  assert.equal(executions.get(first.execution)?.status, 'cancelled');
  assert.equal(executions.get(second.execution)?.status, 'requested');
  assert.equal(executions.get(second.execution)?.trigger, 'webhook', 'the stronger trigger stays');
});

test('a consumer woken by its own wish is woken again when that run stops before its commit', () => {
  const { stage, home, workers } = setTheStage([], 1, 1);
  const fence = beginSession(stage, home, workers[0] as WorkerId);
  const wakeAt = stage.state.now + 60_000;
  const { run } = stage.do({ do: 'startRun', fence, handler: 'book' });
  stage.do({ do: 'updateConsumerPhase', fence, run, phase: 'prepared', prepareResult: '{}', wakeAt });
  stage.do({ do: 'updateConsumerPhase', fence, run, phase: 'emitting' });
  stage.do({ do: 'commitConsumer', fence, run });
  stage.do({ do: 'finishSession', fence });
  assert.equal(stage.state.rows.workflows.get(home)?.dueAt, wakeAt);
  stage.wait(60_000);

  const woken = beginSession(stage, home, workers[0] as WorkerId);
  const again = stage.do({ do: 'advanceSession', fence: woken });
  assert.ok('run' in again);
  stage.do({ do: 'updateConsumerPhase', fence: woken, run: again.run, phase: 'prepared', prepareResult: '{}' });
  stage.do({ do: 'updateHandlerRunStatus', fence: woken, run: again.run, status: 'crashed', error: 'died' });
  assert.equal(stage.state.rows.workflows.get(home)?.dueAt, stage.state.now, 'what it was woken for is still owed');
});

test('a version that drops a topic is refused while an event of that topic is reserved', () => {
  const { stage, home, versions, workers } = setTheStage([placed('1', 'booked')], 3, 1);
  const fence = beginSession(stage, home, workers[0] as WorkerId);
  const { run } = stage.do({ do: 'startRun', fence, handler: 'ship' });
  const reservations = [{ topic: 'booked', ids: ['1'] }];
  stage.do({ do: 'updateConsumerPhase', fence, run, phase: 'prepared', reservations });
  const script = versions[2] as (typeof versions)[number];
  const refused = refusal(() => stage.do({ do: 'activateScript', workflow: home, script, by: PERSON }));
  assert.equal(refused.code, 'wrong-state');
  stage.do({ do: 'activateScript', workflow: home, script, by: PERSON, skipPending: true });
});

test('a version that drops a topic is refused while a run that may publish to it is under way', () => {
  const { stage, home, versions, workers } = setTheStage([placed('1')], 3, 1);
  const fence = beginSession(stage, home, workers[0] as WorkerId);
  stage.do({ do: 'startRun', fence, handler: 'book' });
  const script = versions[2] as (typeof versions)[number];
  const refused = refusal(() => stage.do({ do: 'activateScript', workflow: home, script, by: PERSON }));
  assert.match(refused.message, /drops topic booked/);
});

test('no run begins under a version that was replaced', () => {
  const { stage, home, versions, workers } = setTheStage([placed('1')], 3, 1);
  const fence = beginSession(stage, home, workers[0] as WorkerId);
  stage.do({ do: 'activateScript', workflow: home, script: versions[1] as (typeof versions)[number], by: PERSON });
  assert.equal(refusal(() => stage.do({ do: 'startRun', fence, handler: 'book' })).code, 'held');
  assert.deepEqual(stage.do({ do: 'advanceSession', fence }), { ended: 'completed' });
});

test('a version that drops a webhook is refused while a delivery to it waits', () => {
  const { stage, home, versions } = setTheStage([], 3, 1);
  const delivery = { do: 'acceptDelivery', workflow: home, headers: '{}', body: '{}' } as const;
  stage.do({ ...delivery, hook: 'hook', deliveryId: '1' });
  const script = versions[2] as (typeof versions)[number];
  const refused = refusal(() => stage.do({ do: 'activateScript', workflow: home, script, by: PERSON }));
  assert.equal(refused.code, 'wrong-state');
});

test('a delivery whose webhook is gone does not stand in the way of others', () => {
  const { stage, home, versions } = setTheStage([], 4, 1);
  const delivery = { do: 'acceptDelivery', workflow: home, headers: '{}', body: '{}' } as const;
  stage.do({ ...delivery, hook: 'hook', deliveryId: '1' });
  const script = versions[3] as (typeof versions)[number];
  stage.do({ do: 'activateScript', workflow: home, script, by: PERSON, skipPending: true });
  assert.equal(stage.state.rows.workflows.get(home)?.dueAt, null, 'nobody can take it now');
  stage.do({ ...delivery, hook: 'second hook', deliveryId: '1' });
  assert.equal(stage.state.rows.workflows.get(home)?.dueAt, stage.state.now);
});

test('only a living worker takes a look-up', () => {
  const { stage, home, workers } = setTheStage([placed('1')], 1, 1);
  const owner = workers[0] as WorkerId;
  const fence = beginSession(stage, home, owner);
  const run = callFor(stage, fence, '1');
  stage.do({ do: 'updateHandlerRunStatus', fence, run, status: 'paused:transient', error: 'no answer' });
  const [mutation] = stage.state.rows.mutations.matching((row) => row.workflowId === home);
  assert.ok(mutation);
  const claim = { do: 'claimReconcile', mutation: mutation.id, leaseMs: LEASE_MS } as const;
  const nobody = 'wrk_nobody' as WorkerId;
  assert.equal(refusal(() => stage.do({ ...claim, owner: nobody })).code, 'not-found');
  stage.do({ do: 'endWorker', worker: owner });
  assert.equal(refusal(() => stage.do({ ...claim, owner })).code, 'wrong-state');
});

test('cancelling a request that waits does not silence the execution that runs', () => {
  const { stage, home, workers } = setTheStage([placed('1')], 1, 1);
  const fence = beginSession(stage, home, workers[0] as WorkerId);
  const { run } = stage.do({ do: 'startRun', fence, handler: 'book' });
  const waiting = stage.do({ do: 'requestExecution', workflow: home, trigger: 'event' });
  stage.do({ do: 'cancelExecution', execution: waiting.execution, by: PERSON });
  stage.do({ do: 'updateHandlerRunStatus', fence, run, status: 'crashed', error: 'died' });
  assert.equal(stage.state.rows.workflows.get(home)?.dueAt, stage.state.now, 'its follow-up is due');
});

test('a request that waited while its forerunner was cancelled has its own follow-ups', () => {
  const { stage, home, workers } = setTheStage([placed('1')], 1, 1);
  const owner = workers[0] as WorkerId;
  const fence = beginSession(stage, home, owner);
  stage.do({ do: 'requestExecution', workflow: home, trigger: 'event' });
  stage.do({ do: 'cancelExecution', execution: fence.execution, by: PERSON });
  stage.do({ do: 'advanceSession', fence });
  assert.equal(stage.state.rows.workflows.get(home)?.quiet, false);
});

test('a call whose effect would show before it happened cannot be made', () => {
  const { stage, home, workers } = setTheStage([placed('1')], 1, 1);
  const fence = beginSession(stage, home, workers[0] as WorkerId);
  const run = mutatingFor(stage, fence, '1');
  for (const visibilityMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const call = { ...CALLS.blind, visibilityMs };
    assert.equal(refusal(() => stage.do({ do: 'startMutation', fence, run, call })).code, 'invalid');
  }
});

type Stage = ReturnType<typeof setTheStage>['stage'];

function mutatingFor(stage: Stage, fence: Fence, messageId: string): RunId {
  const { run } = stage.do({ do: 'startRun', fence, handler: 'book' });
  const reservations = [{ topic: 'placed', ids: [messageId] }];
  stage.do({ do: 'updateConsumerPhase', fence, run, phase: 'prepared', reservations, prepareResult: '{}' });
  stage.do({ do: 'updateConsumerPhase', fence, run, phase: 'mutating' });
  return run;
}

function callFor(stage: Stage, fence: Fence, messageId: string): RunId {
  const run = mutatingFor(stage, fence, messageId);
  stage.do({ do: 'startMutation', fence, run, call: CALLS.checked });
  return run;
}

/** One call that ended without an answer. */
function unansweredCall() {
  const { stage, home, workers } = setTheStage([placed('1')], 1, 1);
  const fence = beginSession(stage, home, workers[0] as WorkerId);
  const run = callFor(stage, fence, '1');
  stage.do({ do: 'updateHandlerRunStatus', fence, run, status: 'crashed', error: 'no answer', callEnded: true });
  const [mutation] = stage.state.rows.mutations.matching((row) => row.workflowId === home);
  assert.ok(mutation);
  return { stage, home, mutation };
}

test('a look-up that began too early does not count, however late its answer comes', () => {
  const { stage, mutation } = unansweredCall();
  const askedAt = stage.state.now + mutation.visibilityMs - 1;
  stage.wait(mutation.visibilityMs + 10_000);
  const answer = { resolvedBy: 'reconcile', askedAt } as const;
  const denial = { do: 'updateMutationResult', mutation: mutation.id, outcome: 'failure' } as const;
  assert.equal(refusal(() => stage.do({ ...denial, answer })).code, 'too-early');
  stage.do({ ...denial, answer: { ...answer, askedAt: askedAt + 1 } });
});

test('nothing becomes pending in a topic that no version reads', () => {
  const { stage, home, versions } = setTheStage([placed('1', 'booked'), placed('2', 'booked')], 3, 1);
  const [parked, skipped] = stage.state.rows.events.matching((event) => event.workflowId === home);
  assert.ok(parked && skipped);
  stage.do({ do: 'parkEvents', events: [parked.id], by: PERSON });
  stage.do({ do: 'skipEvents', events: [skipped.id], by: PERSON });
  stage.do({ do: 'activateScript', workflow: home, script: versions[2] as (typeof versions)[number], by: PERSON });
  const unpark = { do: 'unparkEvents', events: [parked.id], by: PERSON } as const;
  const redo = { do: 'redoEvents', events: [skipped.id], by: PERSON } as const;
  assert.match(refusal(() => stage.do(unpark)).why, /does not have that topic/);
  assert.match(refusal(() => stage.do(redo)).why, /does not have that topic/);
  stage.do({ do: 'archiveWorkflow', workflow: home, by: PERSON });
  assert.match(refusal(() => stage.do(unpark)).message, /archived/);
  assert.match(refusal(() => stage.do(redo)).message, /archived/);
});

test('evidence that was there before someone denied the call holds its repeat as well', () => {
  const { stage, home, mutation } = unansweredCall();
  const late = {
    do: 'recordEvidence',
    says: 'applied',
    detail: '200',
    source: 'a worker that was fenced off',
  } as const;
  assert.equal(stage.do({ ...late, mutation: mutation.id }).held, false, 'nobody has denied it yet');
  stage.wait(mutation.visibilityMs);
  const answer = { resolvedBy: 'reconcile' } as const;
  stage.do({ do: 'updateMutationResult', mutation: mutation.id, outcome: 'failure', answer });
  const held = stage.state.rows.workflows.get(home);
  assert.deepEqual(held?.holds, ['error']);
  assert.match(held?.errorReason ?? '', /would be sent again/);
  assert.equal(stage.state.rows.tasks.values().filter((task) => task.kind === 'evidence').length, 1);
  stage.do({ do: 'resumeWorkflow', workflow: home, by: PERSON });
  assert.equal(stage.state.rows.workflows.get(home)?.dueAt, stage.state.now, 'sent again in the name of who resumed');
});
