import { z } from 'zod';
import {
  CONSUMER_PHASE_STEPS,
  EVENT_STEPS,
  EXECUTION_ENDS,
  EXECUTION_STEPS,
  HANDLER_TYPES,
  HOLDS,
  MUTATION_OUTCOMES,
  MUTATION_STEPS,
  PRODUCER_PHASE_STEPS,
  RESOLVERS,
  RUN_STATUS_STEPS,
  SESSION_RESULTS,
  TASK_KINDS,
  TASK_STEPS,
  TRIGGERS,
  WORKFLOW_STATUS_STEPS,
} from '#model';
import { count, id, json, many, maybeText, maybeTime, text, time, wordsOf } from './parts.ts';

/** Rows as the API gives them: JSON as values, times in milliseconds since 1970, versions by their number. */

export const workflowStatus = wordsOf(WORKFLOW_STATUS_STEPS).meta({ id: 'WorkflowStatus' });
export const runStatus = wordsOf(RUN_STATUS_STEPS).meta({ id: 'RunStatus' });
export const eventStatus = wordsOf(EVENT_STEPS).meta({ id: 'EventStatus' });
export const outputStatus = wordsOf(MUTATION_STEPS).meta({ id: 'OutputStatus' });
export const trigger = z.enum(TRIGGERS).meta({ id: 'Trigger' });
const phase = z.enum([
  ...(Object.keys(CONSUMER_PHASE_STEPS) as (keyof typeof CONSUMER_PHASE_STEPS)[]),
  ...(Object.keys(PRODUCER_PHASE_STEPS) as (keyof typeof PRODUCER_PHASE_STEPS)[]).filter(
    (each) => !(each in CONSUMER_PHASE_STEPS),
  ),
]);

export const waiting = z
  .strictObject({ pending: count, reserved: count, parked: count, deliveries: count })
  .meta({ id: 'Waiting' });

export const WORKFLOW = {
  id,
  name: text,
  status: workflowStatus,
  holds: many(z.enum(HOLDS)),
  errorReason: maybeText,
  heldConnections: many(text),
  grantMissing: z.boolean(),
  maintenance: z.boolean(),
  maintenanceRunId: id.nullable(),
  pendingRetryRunId: id.nullable(),
  eventSeq: count,
  quiet: z.boolean(),
  dueAt: maybeTime,
  activeScriptId: id.nullable(),
  createdAt: time,
  version: maybeText,
  pending: count,
  waiting,
};
export const workflow = z.strictObject(WORKFLOW).meta({ id: 'Workflow' });

const producerSpec = z.strictObject({ name: text, publishes: many(text), webhook: z.boolean() });
const consumerSpec = z.strictObject({
  name: text,
  subscribe: many(text),
  publishes: many(text),
  hasMutate: z.boolean(),
  hasNext: z.boolean(),
});

export const version = z
  .strictObject({
    id,
    workflowId: id,
    major: count,
    minor: count,
    contentHash: text,
    handlers: z.strictObject({ topics: many(text), producers: many(producerSpec), consumers: many(consumerSpec) }),
    createdAt: time,
    createdBy: text,
    version: text,
    active: z.boolean(),
  })
  .meta({ id: 'Version' });

const executionEnd = z.enum(EXECUTION_ENDS).meta({ id: 'ExecutionEnd' });

export const session = z
  .strictObject({
    id,
    executionId: id,
    scriptId: id,
    workflowId: id,
    trigger,
    result: z.enum(SESSION_RESULTS),
    /** How its execution ended: `timeout` where its time limit was over, whatever came of its runs. */
    end: executionEnd.nullable(),
    error: maybeText,
    cost: z.number(),
    handlerRunCount: count,
    version: maybeText,
    startedAt: time,
    endedAt: maybeTime,
  })
  .meta({ id: 'Session' });

export const run = z
  .strictObject({
    id,
    scriptRunId: id,
    scriptId: id,
    workflowId: id,
    rootRunId: id,
    retryOf: id.nullable(),
    attempt: count,
    handlerType: z.enum(HANDLER_TYPES),
    handlerName: text,
    phase,
    status: runStatus,
    prepareResult: json,
    mutationOutcome: z.enum(MUTATION_OUTCOMES),
    outputState: json,
    error: maybeText,
    errorType: maybeText,
    suspects: many(id),
    cost: z.number(),
    startSeq: count,
    deliveryId: id.nullable(),
    version: maybeText,
    startedAt: time,
    endedAt: maybeTime,
  })
  .meta({ id: 'Run' });

export const event = z
  .strictObject({
    id,
    workflowId: id,
    topic: text,
    messageId: text,
    payload: json,
    title: maybeText,
    status: eventStatus,
    reservedByRunId: id.nullable(),
    redoOf: id.nullable(),
    pendingSeq: count,
    publishedByRunId: id.nullable(),
    createdAt: time,
  })
  .meta({ id: 'Event' });

export const resolver = z.enum(RESOLVERS);

export const inputState = z.enum(['done', 'pending', 'skipped', 'waiting']);

export const INPUT = {
  id,
  workflowId: id,
  source: text,
  type: text,
  externalId: text,
  title: text,
  createdAt: time,
};
export const inputRow = z.strictObject(INPUT).meta({ id: 'InputRow' });

/** What came in, and what came of it. */
export const input = z
  .strictObject({
    id,
    workflow: id,
    name: text,
    source: text,
    type: text,
    externalId: text,
    title: text,
    createdAt: time,
    state: inputState,
    sentence: text,
    /** Those that took it in, worked on what it caused or made a call for it. */
    versions: many(text),
    events: z.strictObject({ pending: count, reserved: count, consumed: count, skipped: count, parked: count }),
    outputs: many(z.strictObject({ id, title: maybeText, status: outputStatus, words: text })),
  })
  .meta({ id: 'Input' });

/** One call to the outside: what it was, why it was made, and what became of it. */
export const output = z
  .strictObject({
    id,
    workflow: id,
    name: text,
    handler: text,
    run: id,
    version: text,
    title: maybeText,
    connection: text,
    method: text,
    preview: text,
    status: outputStatus,
    words: text,
    setAside: z.boolean(),
    resolvedBy: resolver.nullable(),
    resolvedByName: maybeText,
    error: maybeText,
    events: many(id),
    inputs: many(z.strictObject({ id, source: text, title: text })),
    createdAt: time,
    resolvedAt: maybeTime,
  })
  .meta({ id: 'Output' });

export const logLine = z
  .strictObject({ runId: id, position: count, at: time, message: text, data: json, handler: text })
  .meta({ id: 'LogLine' });

export const handlerState = z
  .strictObject({
    handler: text,
    workflowId: id,
    state: json,
    nextAt: maybeTime,
    wakeAt: maybeTime,
    restedSeq: count.nullable(),
    backoffUntil: maybeTime,
    transientSince: maybeTime,
    transientCount: count,
    repaired: z.boolean(),
    failedRepairs: count,
    crashCount: count,
    crashEventId: id.nullable(),
  })
  .meta({ id: 'HandlerState' });

export const execution = z
  .strictObject({
    id,
    workflowId: id,
    status: wordsOf(EXECUTION_STEPS),
    trigger,
    epoch: count,
    owner: id.nullable(),
    cancelRequestedAt: maybeTime,
    cancelRequestedBy: maybeText,
    schedulingUntil: maybeTime,
    /** The limit that had no room: `pool:NAME` or `connection:NAME`. */
    waitsFor: maybeText,
    slots: many(text),
    requestedAt: time,
    startedAt: maybeTime,
    endedAt: maybeTime,
  })
  .meta({ id: 'Execution' });

export const task = z
  .strictObject({
    id,
    workflowId: id,
    runId: id,
    kind: z.enum(TASK_KINDS),
    status: wordsOf(TASK_STEPS),
    detail: text,
    createdAt: time,
    closedAt: maybeTime,
    closedBy: maybeText,
  })
  .meta({ id: 'Task' });

const deliveryStatus = z.enum(['pending', 'running', 'failed', 'done', 'skipped']).meta({ id: 'DeliveryStatus' });

export const delivery = z
  .strictObject({
    id,
    workflowId: id,
    handlerName: text,
    deliveryId: text,
    headers: json,
    body: json,
    /** `failed`: its webhook failed on it, and the workflow waits. */
    status: deliveryStatus,
    sentence: text,
    runId: id.nullable(),
    receivedAt: time,
    skippedAt: maybeTime,
    skippedBy: maybeText,
  })
  .meta({ id: 'Delivery' });

export const evidence = z
  .strictObject({
    id,
    mutationId: id,
    says: z.enum(['applied', 'failed', 'uncertain']),
    detail: text,
    source: text,
    createdAt: time,
  })
  .meta({ id: 'Evidence' });
