import { z } from 'zod';
import { WORKER_STEPS } from '#model';
import { count, id, json, many, maybeText, maybeTime, nextStep, text, time, wordsOf } from './parts.ts';
import { ask } from './permissions.ts';
import {
  delivery,
  event,
  evidence,
  execution,
  handlerState,
  INPUT,
  inputRow,
  inputState,
  output,
  outputStatus,
  resolver,
  run,
  session,
  task,
  version,
  WORKFLOW,
} from './things.ts';

/** One thing by its id, with what belongs to it. */

const logged = z.strictObject({ runId: id, position: count, at: time, message: text, data: json });
const readOutside = z.strictObject({
  runId: id,
  position: count,
  at: time,
  connection: text,
  method: text,
  request: json,
  answer: text,
});

const shownWorkflow = z
  .strictObject({
    kind: z.literal('workflow'),
    row: z.strictObject({ ...WORKFLOW, sentence: text, since: maybeTime }),
    next: many(nextStep),
    state: many(handlerState),
    executions: many(execution),
    tasks: many(task),
  })
  .meta({ id: 'ShownWorkflow' });

export const shownVersion = z
  .strictObject({
    kind: z.literal('version'),
    row: version,
    /** The script as it runs. */
    code: text.optional(),
    /** The author's own files, where they were sent along. */
    sources: many(z.strictObject({ file: text, text })),
    uses: z.record(z.string(), z.string()),
    /** What it asks of its connections, and what of it nobody has allowed. */
    asks: many(ask),
    missing: many(ask),
    schedules: json,
    webhooks: json,
  })
  .meta({ id: 'ShownVersion' });

const shownExecution = z.strictObject({ kind: z.literal('execution'), row: execution }).meta({ id: 'ShownExecution' });

export const shownSession = z
  .strictObject({ kind: z.literal('session'), row: session, runs: many(run) })
  .meta({ id: 'ShownSession' });

export const shownRun = z
  .strictObject({
    kind: z.literal('run'),
    row: run,
    /** The run and its retries, in their order. */
    chain: many(text),
    runs: many(run),
    output: output.optional(),
    reserved: many(event),
    published: many(event),
    reads: many(readOutside),
    logs: many(logged),
  })
  .meta({ id: 'ShownRun' });

export const shownEvent = z
  .strictObject({
    kind: z.literal('event'),
    row: event,
    inputs: many(inputRow),
    redone: many(event),
    outputs: many(output),
  })
  .meta({ id: 'ShownEvent' });

export const shownOutput = z
  .strictObject({
    kind: z.literal('output'),
    row: z.strictObject({
      id,
      handlerRunId: id,
      rootRunId: id,
      scriptId: id,
      workflowId: id,
      status: outputStatus,
      connection: text,
      method: text,
      params: json,
      effectHash: text,
      eventIds: many(id),
      firstEventId: id,
      idempotencyKey: text,
      uiTitle: maybeText,
      preview: text,
      result: json,
      error: maybeText,
      canReconcile: z.boolean(),
      visibilityMs: count,
      callTimeoutMs: count,
      callDeadline: maybeTime,
      callEndedAt: maybeTime,
      approvedAt: maybeTime,
      approvedBy: maybeText,
      approvalExpiresAt: maybeTime,
      reconcileAt: maybeTime,
      reconcileOwner: id.nullable(),
      reconcileUntil: maybeTime,
      reconcileCount: count,
      setAsideAt: maybeTime,
      resolvedBy: resolver.nullable(),
      resolvedByName: maybeText,
      resolvedAt: maybeTime,
      createdAt: time,
      words: text,
      version: text,
      handler: text,
    }),
    inputs: many(z.strictObject({ id, source: text, title: text })),
    events: many(event),
    evidence: many(evidence),
  })
  .meta({ id: 'ShownOutput' });

export const shownInput = z
  .strictObject({
    kind: z.literal('input'),
    row: z.strictObject({ ...INPUT, state: inputState, sentence: text, versions: many(text) }),
    outputs: many(output),
    events: many(event),
  })
  .meta({ id: 'ShownInput' });

export const shownDelivery = z
  .strictObject({
    kind: z.literal('delivery'),
    row: delivery,
    /** Those that were called with it, oldest first. */
    runs: many(run),
    /** What the last of them published, and the inputs it named for that. */
    events: many(event),
    inputs: many(inputRow),
  })
  .meta({ id: 'ShownDelivery' });
const shownTask = z.strictObject({ kind: z.literal('task'), row: task }).meta({ id: 'ShownTask' });

const shownWorker = z
  .strictObject({
    kind: z.literal('worker'),
    row: z.strictObject({
      id,
      name: text,
      pool: text,
      version: maybeText,
      status: wordsOf(WORKER_STEPS),
      concurrency: count.nullable(),
      lacks: many(text),
      startedAt: time,
      /** Null where one process has the data to itself: nobody needs one. */
      leaseUntil: maybeTime,
      endedAt: maybeTime,
    }),
  })
  .meta({ id: 'ShownWorker' });

export const shown = z.discriminatedUnion('kind', [
  shownWorkflow,
  shownVersion,
  shownExecution,
  shownSession,
  shownRun,
  shownEvent,
  shownOutput,
  shownInput,
  shownDelivery,
  shownTask,
  shownWorker,
]);

const HANDLER = {
  nextAt: maybeTime,
  wakeAt: maybeTime,
  backoffUntil: maybeTime,
  running: z.boolean(),
  /** Needs repair: its last run failed by a mistake in the script. */
  broken: z.boolean(),
};

/** The workflow as a graph: what flows from where to where, and how much of it waits. */
export const graph = z
  .strictObject({
    workflow: id,
    name: text,
    version: maybeText,
    producers: many(
      z.strictObject({
        name: text,
        publishes: many(text),
        webhook: z.boolean(),
        schedule: json,
        ...HANDLER,
      }),
    ),
    topics: many(z.strictObject({ name: text, pending: count, reserved: count, parked: count, oldestAt: maybeTime })),
    consumers: many(
      z.strictObject({
        name: text,
        subscribe: many(text),
        publishes: many(text),
        hasMutate: z.boolean(),
        hasNext: z.boolean(),
        ...HANDLER,
      }),
    ),
    connections: many(z.strictObject({ name: text, type: text, status: z.enum(['ok', 'refused', 'missing']) })),
  })
  .meta({ id: 'Graph' });
