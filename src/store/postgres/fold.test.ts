import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventId, ExecutionId, RunId, SessionId, WorkerId, WorkflowId } from '#base';
import type { Event, Execution, Run, Write } from '#model';
import { folded } from './fold.ts';

const run = 'run_1' as RunId;
const other = 'run_2' as RunId;
const reserved: Write = { set: 'events.reserved', run, events: ['evt_1' as EventId] };
const prepared: Write = { set: 'run.prepared', run, prepareResult: '{}' };
const sending: Write = { set: 'run.phase', run, from: 'prepared', to: 'mutating' };
const mutated: Write = { set: 'run.mutated', run };
const emitting: Write = { set: 'run.phase', run, from: 'mutated', to: 'emitting' };
const committed: Write = { set: 'run.committed', run, from: 'emitting', outputState: '1', cost: 2, at: 3 };

test('the steps of a run up to its call are one write, and so are those after it', () => {
  assert.deepEqual(folded([prepared, reserved, sending]), [
    { write: reserved, writes: [reserved] },
    { write: { set: 'run.sending', run, prepareResult: '{}' }, writes: [prepared, sending] },
  ]);
  assert.deepEqual(folded([mutated, emitting, committed]), [
    { write: { set: 'run.done', run, outputState: '1', cost: 2, at: 3 }, writes: [mutated, emitting, committed] },
  ]);
});

for (const [what, writes] of Object.entries({
  'a run that gave nothing back': [{ ...prepared, prepareResult: null }, sending],
  'a run without a call': [prepared, { ...sending, to: 'emitting' }],
  'an answer whose next is still to come': [mutated, emitting],
  'a run that goes on after its call': [prepared, sending, mutated],
  'the steps of two runs': [prepared, { ...sending, run: other }],
} satisfies Record<string, readonly Write[]>)) {
  test(`${what} is written step by step`, () => {
    assert.deepEqual(
      folded(writes),
      writes.map((write) => ({ write, writes: [write] })),
    );
  });
}

const row = { id: run, handlerType: 'consumer', phase: 'preparing', prepareResult: null } as unknown as Run;
const created: Write = { set: 'run.created', row };

test('a run that begins with its call is written once, as it is then, before anything refers to it', () => {
  const writes = [created, prepared, reserved, sending];
  assert.deepEqual(folded(writes), [
    {
      write: { set: 'run.created', row: { ...row, phase: 'mutating', prepareResult: '{}' } },
      writes: [created, prepared, sending],
    },
    { write: reserved, writes: [reserved] },
  ]);
});

test('a run that begins and goes no further is written as it begins', () => {
  assert.deepEqual(folded([committed, created]), [
    { write: committed, writes: [committed] },
    { write: created, writes: [created] },
  ]);
});

const event = { id: 'evt_1', status: 'pending', reservedByRunId: null } as unknown as Event;
const published: Write = { set: 'event.published', row: event };

test('an event that is taken in the unit that publishes it is written once, when the run that takes it is there', () => {
  const writes = [published, created, prepared, reserved, sending];
  assert.deepEqual(folded(writes).slice(1), [
    {
      write: { set: 'event.published', row: { ...event, status: 'reserved', reservedByRunId: run } },
      writes: [published, reserved],
    },
  ]);
});

for (const [what, writes] of Object.entries({
  'an event that nobody takes': [published, created],
  'an event that is taken with others': [published, { ...reserved, events: [event.id, 'evt_2' as EventId] }],
  'an event that something refers to before it is taken': [
    published,
    { set: 'event.caused', event: event.id, inputs: [] },
    reserved,
  ],
} satisfies Record<string, readonly Write[]>)) {
  test(`${what} is written step by step`, () => {
    assert.deepEqual(
      folded(writes),
      writes.map((write) => ({ write, writes: [write] })),
    );
  });
}

const execution = 'exe_1' as ExecutionId;
const asked = {
  id: execution,
  status: 'requested',
  epoch: 0,
  owner: null,
  schedulingUntil: null,
  startedAt: null,
  waitsFor: null,
  slots: [],
} as unknown as Execution;
const requested: Write = { set: 'execution.requested', row: asked };
const scheduling: Write = { set: 'execution.scheduling', execution, until: 9, slots: ['all'] };
const due: Write = { set: 'workflow.due', workflow: 'wf_1' as WorkflowId, at: null };
const scheduled: Write = { set: 'execution.scheduled', execution, epoch: 1 };
const running: Write = { set: 'execution.running', execution, epoch: 1, owner: 'wrk_1' as WorkerId, at: 4 };

test('an execution that is handed off, or taken, in the unit that asks for it is written once, as it is then', () => {
  const handedOff = { ...asked, status: 'scheduled', epoch: 1, slots: ['all'] };
  assert.deepEqual(folded([requested, scheduling, due, scheduled]), [
    { write: { set: 'execution.requested', row: handedOff }, writes: [requested, scheduling, scheduled] },
    { write: due, writes: [due] },
  ]);
  const taken = { ...handedOff, status: 'running', owner: 'wrk_1', startedAt: 4 };
  assert.deepEqual(folded([requested, scheduling, due, scheduled, running]), [
    { write: { set: 'execution.requested', row: taken }, writes: [requested, scheduling, scheduled, running] },
    { write: due, writes: [due] },
  ]);
});

const otherEnded: Write = {
  set: 'execution.ended',
  execution: 'exe_2' as ExecutionId,
  from: 'running',
  to: 'completed',
  at: 4,
};

const session = 'ses_1' as SessionId;
const counted: Write = { set: 'session.counted', session, cost: 2 };
const completed: Write = { set: 'session.completed', session, at: 5 };
const workflow = 'wf_1' as WorkflowId;
const seq: Write = { set: 'workflow.seq', workflow, from: 6, to: 7 };

test('the last run of a session and its end are one write, and so are an event and the time it makes due', () => {
  assert.deepEqual(folded([counted, completed]), [
    { write: { set: 'session.done', session, cost: 2, at: 5 }, writes: [counted, completed] },
  ]);
  assert.deepEqual(folded([seq, { ...due, at: 8 }]), [
    { write: { set: 'workflow.fed', workflow, from: 6, to: 7, at: 8 }, writes: [seq, { ...due, at: 8 }] },
  ]);
});

for (const [what, writes] of Object.entries({
  'an execution that goes no further than scheduling': [requested, scheduling],
  'an execution that leaves out a step': [requested, scheduled, running],
  'an execution that ends before it begins': [requested, scheduling, scheduled, running, { ...otherEnded, execution }],
  'an execution that was asked for before': [scheduling, scheduled, running],
  'an execution with an epoch that is not the next': [requested, scheduling, { ...scheduled, epoch: 2 }],
  'an execution that is taken with another epoch': [requested, scheduling, scheduled, { ...running, epoch: 2 }],
  'an execution beside one that has to end first': [requested, otherEnded, scheduling, scheduled],
  'a session that counts two runs': [counted, counted, completed],
  'a session that only counts': [counted],
  'a workflow that has two due times': [seq, due, { ...due, at: 8 }],
} satisfies Record<string, readonly Write[]>)) {
  test(`${what} is written step by step`, () => {
    assert.deepEqual(
      folded(writes),
      writes.map((write) => ({ write, writes: [write] })),
    );
  });
}
