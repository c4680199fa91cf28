import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventId } from '#base';
import { applyWrite, type Mutation, Rows, type RunStatus, type Write } from '#model';
import { GuardError } from '#store';
import {
  AT,
  awaiting,
  consumerRun,
  delivery,
  EXE,
  evt,
  execution,
  MUT,
  mutation,
  RUN,
  run,
  SCRIPT,
  SES,
  task,
  unknown,
  WF,
  WORKER,
  worker,
  workflow,
} from '../store/rows.ts';
import { AT_WORK, commit, openWorld, RUNNING } from '../store/world.ts';

// The triggers of the schema would stop many a write that has lost its WHERE, so they hide that it is lost. Here each statement
// meets a row that is not as it expects, in one respect only, and must itself find no row; the same write on plain rows must fail.

const stopped = (status: RunStatus = 'crashed'): Write => ({
  set: 'run.stopped',
  run: RUN,
  status: status as 'crashed',
  error: 'no',
  errorType: null,
  suspects: [],
  cost: 0,
  at: AT,
});
const at = (phase: 'prepared' | 'mutating' | 'emitting'): Write[] => [
  ...RUNNING,
  { set: 'run.created', row: consumerRun({ phase }) },
];
const committed = { outputState: null, cost: 0, at: AT } as const;

const ALL: EventId[] = [evt(1), evt(2)];
const RESERVED: Write[] = [...AT_WORK, { set: 'events.reserved', run: RUN, events: ALL }];
const CONSUMED: Write[] = [...RESERVED, { set: 'events.consumed', run: RUN, count: 2 }];
const PARKED: Write[] = [...AT_WORK, { set: 'event.parked', event: evt(1) }];
const SECOND: Write = {
  set: 'run.created',
  row: consumerRun({ id: run(2), rootRunId: RUN, retryOf: RUN, attempt: 1, phase: 'emitting' }),
};

const call = (row: Mutation): Write[] => [...AT_WORK, { set: 'mutation.recorded', row }];
const INDETERMINATE = call(mutation({ status: 'indeterminate' }));
const ANSWER = { mutation: MUT, resolvedByName: null, callEndedAt: null, at: AT } as const;
const UNKNOWN = { mutation: MUT, error: null, callEndedAt: null, reconcileCount: 0 } as const;

const CREATED: Write[] = [{ set: 'workflow.created', row: workflow() }];
const POINTED: Write[] = [...AT_WORK, stopped(), { set: 'workflow.retry', workflow: WF, from: null, to: RUN }];
const standing = { holds: [], errorReason: null, heldConnections: [], grantMissing: false } as const;

const asked = (over: Parameters<typeof execution>[0]): Write[] => [
  ...CREATED,
  { set: 'worker.registered', row: worker() },
  { set: 'execution.requested', row: execution(over) },
];
const SCHEDULED = asked({ status: 'scheduled', epoch: 2 });
const SCHEDULING = asked({ status: 'scheduling', schedulingUntil: AT });
const OVER = asked({ status: 'abandoned', endedAt: AT, epoch: 1 });
const ENDED_SESSION: Write[] = [...RUNNING, { set: 'session.completed', session: SES, at: AT }];
const ENDED_WORKER: Write[] = [{ set: 'worker.registered', row: worker({ endedAt: AT }) }];
const SHOP: Write = {
  set: 'connection.created',
  row: { name: 'shop', version: 2, refusedAt: null, refusedReason: null },
};

const CASES: readonly (readonly [says: string, given: readonly Write[], write: Write])[] = [
  [
    'prepared, of a run that has stopped',
    [...AT_WORK, stopped()],
    { set: 'run.prepared', run: RUN, prepareResult: null },
  ],
  ['prepared, of a run past it', at('emitting'), { set: 'run.prepared', run: RUN, prepareResult: null }],
  ['a phase, from another one', at('prepared'), { set: 'run.phase', run: RUN, from: 'mutated', to: 'emitting' }],
  [
    'a phase, of a run that has stopped',
    [...at('prepared'), stopped()],
    { set: 'run.phase', run: RUN, from: 'prepared', to: 'mutating' },
  ],
  ['mutated, from another phase', at('prepared'), { set: 'run.mutated', run: RUN }],
  ['mutated, of a run that has stopped', [...at('mutating'), stopped()], { set: 'run.mutated', run: RUN }],
  ['a stop, of a run that has stopped', [...AT_WORK, stopped()], stopped()],
  ['a commit, from another phase', at('mutating'), { set: 'run.committed', run: RUN, from: 'emitting', ...committed }],
  [
    'a commit, of a run that has stopped',
    [...at('emitting'), stopped()],
    { set: 'run.committed', run: RUN, from: 'emitting', ...committed },
  ],
  [
    'a finish, of an active run',
    at('emitting'),
    { set: 'run.finished', run: RUN, from: 'emitting', status: 'active', at: AT },
  ],
  [
    'a finish, from another phase',
    [...at('mutating'), stopped()],
    { set: 'run.finished', run: RUN, from: 'emitting', status: 'crashed', at: AT },
  ],
  [
    'a finish, from another status',
    [...at('emitting'), stopped('cancelled')],
    { set: 'run.finished', run: RUN, from: 'emitting', status: 'crashed', at: AT },
  ],

  [
    'a change, of a reserved event',
    RESERVED,
    { set: 'event.changed', event: evt(1), payload: '1', title: null, pendingSeq: 9 },
  ],
  ['a reservation, of a parked event', PARKED, { set: 'events.reserved', run: RUN, events: ALL }],
  ['a release, of consumed events', CONSUMED, { set: 'events.released', run: RUN, count: 2, pendingSeq: 9 }],
  ['a commit, of released events', AT_WORK, { set: 'events.consumed', run: RUN, count: 2 }],
  ['a skip, of consumed events', CONSUMED, { set: 'events.skipped', run: RUN, count: 2 }],
  ['parking, of consumed events', CONSUMED, { set: 'events.parked', run: RUN, count: 2 }],
  [
    'a transfer, of consumed events',
    [...CONSUMED, stopped(), SECOND],
    { set: 'events.transferred', from: RUN, to: run(2), count: 2 },
  ],
  ['a skip, of an event in another state', PARKED, { set: 'event.skipped', event: evt(1), from: 'pending' }],
  ['parking, of a reserved event', RESERVED, { set: 'event.parked', event: evt(1) }],
  ['unparking, of a pending event', AT_WORK, { set: 'event.unparked', event: evt(1), pendingSeq: 9 }],

  ['sending, of a call nobody approved', call(awaiting()), { set: 'mutation.sent', mutation: MUT, deadline: AT }],
  [
    'sending, of a call that was sent',
    call(mutation({ approvedAt: AT, approvedBy: 'ada' })),
    { set: 'mutation.sent', mutation: MUT, deadline: AT },
  ],
  [
    'applied, of a call in another state',
    INDETERMINATE,
    { set: 'mutation.applied', from: 'needs_reconcile', result: null, resolvedBy: 'reconcile', ...ANSWER },
  ],
  [
    'failed, of a call in another state',
    INDETERMINATE,
    { set: 'mutation.failed', from: 'needs_reconcile', error: 'no', resolvedBy: 'reconcile', ...ANSWER },
  ],
  [
    'unknown, of a call in another state',
    INDETERMINATE,
    { set: 'mutation.unknown', from: 'in_flight', to: 'needs_reconcile', reconcileAt: AT, ...UNKNOWN },
  ],
  [
    'approval, of a call that was sent',
    call(mutation()),
    { set: 'mutation.approved', mutation: MUT, at: AT, by: 'bob' },
  ],
  [
    'approval, of an approved call',
    call(awaiting({ approvedAt: AT, approvedBy: 'ada' })),
    { set: 'mutation.approved', mutation: MUT, at: AT, by: 'bob' },
  ],
  [
    'setting aside, of what is set aside',
    call(unknown({ setAsideAt: AT })),
    { set: 'mutation.setAside', mutation: MUT, from: null, to: AT + 1 },
  ],
  [
    'a look-up, of what nobody looks up',
    INDETERMINATE,
    { set: 'mutation.reconcileClaimed', mutation: MUT, owner: WORKER, until: AT },
  ],
  [
    'a later look-up, of what nobody looks up',
    INDETERMINATE,
    { set: 'mutation.reconcilePostponed', mutation: MUT, at: AT, count: 1 },
  ],

  ['a version, over another one', RUNNING, { set: 'workflow.script', workflow: WF, from: null, to: SCRIPT }],
  [
    'holds, from another status',
    CREATED,
    { set: 'workflow.standing', workflow: WF, from: 'paused', to: 'active', ...standing },
  ],
  ['a repair, over another one', AT_WORK, { set: 'workflow.maintenance', workflow: WF, from: RUN, to: null }],
  ['the pointer, over another one', POINTED, { set: 'workflow.retry', workflow: WF, from: null, to: RUN }],
  ['the event clock, from another time', CREATED, { set: 'workflow.seq', workflow: WF, from: 7, to: 8 }],

  [
    'folding, of what is being scheduled',
    SCHEDULING,
    { set: 'execution.folded', execution: EXE, from: 'event', to: 'manual' },
  ],
  ['folding, from another trigger', asked({}), { set: 'execution.folded', execution: EXE, from: 'wake', to: 'manual' }],
  [
    'scheduling, of what is handed off',
    SCHEDULED,
    { set: 'execution.scheduling', execution: EXE, until: AT, slots: [] },
  ],
  ['giving back, of what is handed off', SCHEDULED, { set: 'execution.returned', execution: EXE }],
  ['a handoff, of what nobody took', asked({}), { set: 'execution.scheduled', execution: EXE, epoch: 1 }],
  ['a handoff, over an epoch', SCHEDULING, { set: 'execution.scheduled', execution: EXE, epoch: 2 }],
  [
    'a claim, at another epoch',
    SCHEDULED,
    { set: 'execution.running', execution: EXE, epoch: 1, owner: WORKER, at: AT },
  ],
  [
    'a claim, of what is not handed off',
    SCHEDULING,
    { set: 'execution.running', execution: EXE, epoch: 0, owner: WORKER, at: AT },
  ],
  ['a fence, at another epoch', SCHEDULED, { set: 'execution.fenced', execution: EXE, from: 1, to: 3 }],
  ['a fence, of what is over', OVER, { set: 'execution.fenced', execution: EXE, from: 1, to: 2 }],
  [
    'an end, from another state',
    SCHEDULED,
    { set: 'execution.ended', execution: EXE, from: 'running', to: 'abandoned', at: AT },
  ],
  ['a cancel, of what is over', OVER, { set: 'execution.cancelRequested', execution: EXE, at: AT, by: 'ada' }],
  [
    'a cancel, of what was cancelled',
    asked({ cancelRequestedAt: AT, cancelRequestedBy: 'ada' }),
    { set: 'execution.cancelRequested', execution: EXE, at: AT, by: 'bob' },
  ],

  [
    'a failure, of a session that has ended',
    ENDED_SESSION,
    { set: 'session.failed', session: SES, error: 'no', cost: 0, at: AT },
  ],
  ['completion, of a session that has ended', ENDED_SESSION, { set: 'session.completed', session: SES, at: AT }],
  [
    'the end, of a delivery that is done',
    [...AT_WORK, { set: 'delivery.accepted', row: delivery({ status: 'done', runId: RUN }) }],
    { set: 'delivery.done', delivery: delivery().id, run: RUN },
  ],
  [
    'closing, of a closed task',
    [...AT_WORK, { set: 'task.opened', row: task({ status: 'closed', closedAt: AT, closedBy: 'ada' }) }],
    { set: 'task.closed', task: task().id, at: AT, by: 'bob' },
  ],
  [
    'a sign of life, of a worker that has ended',
    ENDED_WORKER,
    { set: 'worker.renewed', worker: WORKER, leaseUntil: AT },
  ],
  ['what it lacks, of a worker that has ended', ENDED_WORKER, { set: 'worker.lacks', worker: WORKER, lacks: [] }],
  ['the end, of a worker that has ended', ENDED_WORKER, { set: 'worker.ended', worker: WORKER, at: AT }],
  [
    'a change, of another version of a connection',
    [SHOP],
    { set: 'connection.changed', name: 'shop', from: 1, to: 3, refusedAt: null, refusedReason: null },
  ],
];

for (const [says, given, write] of CASES) {
  test(`${write.set} finds no row: ${says}`, async (t) => {
    const { store } = await openWorld(t, ...given);
    await assert.rejects(commit(store, write), (error) => {
      assert.ok(error instanceof GuardError, String(error));
      assert.match(error.message, /changed [01] rows, not [12]:/, 'the statement itself must not find the row');
      return true;
    });
    const rows = new Rows();
    for (const each of given) applyWrite(rows, each);
    assert.throws(() => applyWrite(rows, write), /not in the state|reserved events/);
  });
}
