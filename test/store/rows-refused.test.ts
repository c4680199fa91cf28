import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowId } from '#base';
import type { Write } from '#model';
import { GuardError } from '#store';
import {
  AT,
  awaiting,
  consumerRun,
  delivery,
  event,
  evt,
  execution,
  input,
  mutation,
  notice,
  producerRun,
  RUN,
  request,
  run,
  script,
  session,
  task,
  token,
  unknown,
  workflow,
} from './rows.ts';
import { AT_WORK, commit, openAnyWorld, RUNNING } from './world.ts';

interface Case {
  readonly says: string;
  readonly given: readonly Write[];
  readonly write: Write;
}

const stopped = { status: 'crashed', endTimestamp: AT } as const;
const chained = (n: number) => consumerRun({ id: run(n), rootRunId: run(n), ...stopped });

/** What must be unique among rows. Each pair is legal row by row. */
const TWICE: readonly Case[] = [
  {
    says: 'two tokens with one secret',
    given: [{ set: 'token.created', row: token() }],
    write: { set: 'token.created', row: token({ id: 'tok_2' as never }) },
  },
  {
    says: 'two open requests of a workflow',
    given: [...RUNNING, { set: 'permission.asked', row: request() }],
    write: { set: 'permission.asked', row: request({ id: 'req_2' as never }) },
  },
  {
    says: 'two notices of one case on one channel',
    given: [{ set: 'notice.opened', row: notice() }],
    write: { set: 'notice.opened', row: notice({ id: 'ntc_2' as never }) },
  },
  {
    says: 'two active runs of a workflow',
    given: AT_WORK,
    write: { set: 'run.created', row: consumerRun({ id: run(2), rootRunId: run(2) }) },
  },
  {
    says: 'two open sessions of a workflow',
    given: RUNNING,
    write: { set: 'session.created', row: session({ id: 'ses_2' as never }) },
  },
  {
    says: 'two executions of a workflow under way',
    given: RUNNING,
    write: { set: 'execution.requested', row: execution({ id: 'exe_2' as never, status: 'scheduled' }) },
  },
  {
    says: 'two executions of a workflow waiting',
    given: [...RUNNING, { set: 'execution.requested', row: execution({ id: 'exe_2' as never }) }],
    write: { set: 'execution.requested', row: execution({ id: 'exe_3' as never }) },
  },
  {
    says: 'two retries of a run',
    given: [
      ...RUNNING,
      { set: 'run.created', row: consumerRun(stopped) },
      { set: 'run.created', row: consumerRun({ id: run(2), rootRunId: RUN, retryOf: RUN, attempt: 1, ...stopped }) },
    ],
    write: {
      set: 'run.created',
      row: consumerRun({ id: run(3), rootRunId: RUN, retryOf: RUN, attempt: 2, ...stopped }),
    },
  },
  {
    says: 'two runs at one place of a chain',
    given: [
      ...RUNNING,
      { set: 'run.created', row: consumerRun(stopped) },
      { set: 'run.created', row: consumerRun({ id: run(2), rootRunId: RUN, retryOf: RUN, attempt: 1, ...stopped }) },
    ],
    write: {
      set: 'run.created',
      row: consumerRun({ id: run(3), rootRunId: RUN, retryOf: run(2), attempt: 1, ...stopped }),
    },
  },
  {
    says: 'two calls of a chain',
    given: [
      ...AT_WORK,
      { set: 'mutation.recorded', row: mutation({ status: 'failed', resolvedBy: 'provider', resolvedAt: AT }) },
    ],
    write: { set: 'mutation.recorded', row: mutation({ id: 'mut_2' as never }) },
  },
  {
    says: 'two open questions of a workflow',
    given: [
      ...AT_WORK,
      { set: 'run.created', row: chained(2) },
      { set: 'mutation.recorded', row: unknown({ id: 'mut_2' as never, rootRunId: run(2), handlerRunId: run(2) }) },
    ],
    write: { set: 'mutation.recorded', row: mutation() },
  },
  {
    says: 'two events with one message id in a topic',
    given: AT_WORK,
    write: { set: 'event.published', row: event({ id: evt(9), messageId: 'evt_1' }) },
  },
  {
    says: 'two workflows of one name',
    given: RUNNING,
    write: { set: 'workflow.created', row: workflow({ id: 'wf_2' as WorkflowId }) },
  },
  {
    says: 'two versions of one number',
    given: RUNNING,
    write: { set: 'script.added', row: script({ id: 'scr_2' as never }), code: '', manifest: '{}' },
  },
  {
    says: 'one delivery accepted twice',
    given: [...RUNNING, { set: 'delivery.accepted', row: delivery() }],
    write: { set: 'delivery.accepted', row: delivery({ id: 'dlv_2' as never, deliveryId: delivery().deliveryId }) },
  },
  {
    says: 'one input registered twice',
    given: [...RUNNING, { set: 'input.registered', row: input() }],
    write: { set: 'input.registered', row: input({ id: 'inp_2' as never, externalId: input().externalId }) },
  },
  {
    says: 'two open repairs of a run',
    given: [...AT_WORK, { set: 'task.opened', row: task() }],
    write: { set: 'task.opened', row: task({ id: 'tsk_2' as never }) },
  },
];

for (const { says, given, write } of TWICE) {
  test(`the database refuses ${says}`, async (t) => {
    const { store } = await openAnyWorld(t, ...given);
    await assert.rejects(commit(store, write), (error) => error instanceof GuardError && /unique/i.test(error.message));
  });
}

test('a question that was set aside leaves room for the next', async (t) => {
  const { store } = await openAnyWorld(
    t,
    ...AT_WORK,
    { set: 'run.created', row: chained(2) },
    {
      set: 'mutation.recorded',
      row: unknown({ id: 'mut_2' as never, rootRunId: run(2), handlerRunId: run(2), setAsideAt: AT }),
    },
  );
  await commit(store, { set: 'mutation.recorded', row: mutation() });
});

/** Rows that contradict themselves. */
const CONTRADICTIONS: readonly (Case & { readonly set?: never })[] = [
  {
    says: 'a word that is no status',
    given: [],
    write: { set: 'workflow.created', row: workflow({ status: 'sleeping' as never }) },
  },
  {
    says: 'holds out of order',
    given: [],
    write: { set: 'workflow.created', row: workflow({ status: 'error', holds: ['error', 'user'] }) },
  },
  {
    says: 'an active workflow with a hold',
    given: [],
    write: { set: 'workflow.created', row: workflow({ holds: ['user'] }) },
  },
  {
    says: 'a paused workflow that should show an error',
    given: [],
    write: { set: 'workflow.created', row: workflow({ status: 'paused', holds: ['user', 'approval'] }) },
  },
  {
    says: 'a draft with a hold',
    given: [],
    write: { set: 'workflow.created', row: workflow({ status: 'draft', holds: ['user'] }) },
  },
  {
    says: 'a waiting connection without its hold',
    given: [],
    write: { set: 'workflow.created', row: workflow({ heldConnections: ['shop'] }) },
  },
  {
    says: 'maintenance without its run',
    given: [],
    write: { set: 'workflow.created', row: workflow({ maintenance: true }) },
  },
  {
    says: 'an ended execution without its end',
    given: RUNNING,
    write: { set: 'execution.requested', row: execution({ id: 'exe_2' as never, status: 'failed' }) },
  },
  {
    says: 'a running execution without an owner',
    given: RUNNING.slice(0, 1),
    write: { set: 'execution.requested', row: execution({ status: 'running', startedAt: AT }) },
  },
  {
    says: 'a failed session without its error',
    given: RUNNING.slice(0, -1),
    write: { set: 'session.created', row: session({ result: 'failed', endTimestamp: AT }) },
  },
  {
    says: 'a consumer in the phase of a producer',
    given: RUNNING,
    write: { set: 'run.created', row: consumerRun({ phase: 'executing' as never }) },
  },
  {
    says: 'a producer with the result of a prepare',
    given: RUNNING,
    write: { set: 'run.created', row: producerRun({ prepareResult: '{}' as never }) },
  },
  {
    says: 'a run committed in phase only',
    given: RUNNING,
    write: { set: 'run.created', row: consumerRun({ phase: 'committed' }) },
  },
  {
    says: 'a stopped run without its end',
    given: RUNNING,
    write: { set: 'run.created', row: consumerRun({ status: 'crashed' }) },
  },
  {
    says: 'a retry that begins a chain',
    given: RUNNING,
    write: { set: 'run.created', row: consumerRun({ attempt: 1 }) },
  },
  {
    says: 'a pending event that somebody has',
    given: AT_WORK,
    write: { set: 'event.published', row: event({ id: evt(9), reservedByRunId: RUN }) },
  },
  {
    says: 'a reserved event that nobody has',
    given: AT_WORK,
    write: { set: 'event.published', row: event({ id: evt(9), status: 'reserved' }) },
  },
  {
    says: 'an answer without its time',
    given: AT_WORK,
    write: { set: 'mutation.recorded', row: mutation({ status: 'applied', resolvedBy: 'provider' }) },
  },
  {
    says: 'a call in flight without a deadline',
    given: AT_WORK,
    write: { set: 'mutation.recorded', row: mutation({ callDeadline: null }) },
  },
  {
    says: 'a call that waits for approval and has a deadline',
    given: AT_WORK,
    write: { set: 'mutation.recorded', row: awaiting({ callDeadline: AT }) },
  },
  {
    says: 'a look-up where nobody can look',
    given: AT_WORK,
    write: { set: 'mutation.recorded', row: unknown({ canReconcile: false }) },
  },
  {
    says: 'a finished delivery without its run',
    given: RUNNING,
    write: { set: 'delivery.accepted', row: delivery({ status: 'done' }) },
  },
];

for (const { says, given, write } of CONTRADICTIONS) {
  test(`the database refuses ${says}`, async (t) => {
    const { store } = await openAnyWorld(t, ...given);
    await assert.rejects(commit(store, write), (error) => error instanceof GuardError && /check/i.test(error.message));
  });
}

test('the database refuses a number where a text should be', async (t) => {
  const { store } = await openAnyWorld(t);
  const write: Write = { set: 'workflow.created', row: workflow({ createdAt: 'yesterday' as never }) };
  await assert.rejects(
    commit(store, write),
    /cannot store TEXT value in INTEGER column|invalid input syntax for type bigint/,
  );
});
