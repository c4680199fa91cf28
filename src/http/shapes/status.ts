import { z } from 'zod';
import { count, id, json, many, maybeText, maybeTime, nextStep, text, time } from './parts.ts';
import { event, inputRow, outputStatus, waiting, workflowStatus } from './things.ts';

const standing = z
  .enum([
    'unknown',
    'checking',
    'approval',
    'connection',
    'error',
    'evidence',
    'repair',
    'paused',
    'running',
    'cancelling',
    'retrying',
    'limited',
    'worker',
    'quiet',
    'due',
    'idle',
    'draft',
    'ready',
    'archived',
  ])
  .meta({ id: 'Standing' });

/** How a workflow stands, for whoever looks at 3 am. */
export const status = z
  .strictObject({
    workflow: id,
    name: text,
    status: workflowStatus,
    kind: standing,
    /** Of everything that stands, the one to look at first in front. */
    kinds: many(standing),
    sentence: text,
    since: maybeTime,
    blocks: maybeText,
    waiting,
    next: many(nextStep),
  })
  .meta({ id: 'Status' });

/** What a person can press. */
const choice = z
  .strictObject({
    id: text,
    label: text,
    /** What it will do, in a sentence. */
    does: text,
    /** Refused before this time; null: now. */
    notBefore: maybeTime,
    /** What to give besides: `result` in the body, `cover` (`calls`, `hours`, `target`), `olderThan` (a time), or fewer `events`. */
    asks: z.enum(['result', 'cover', 'olderThan', 'events']).nullable(),
    /** What it asks of this API; null for what is done elsewhere. */
    request: z.strictObject({ method: z.literal('POST'), path: text, body: json }).nullable(),
    argv: many(text).nullable(),
  })
  .meta({ id: 'Choice' });

/** The result of a call that happened, if a person must or may give it. */
const resultAsked = z
  .strictObject({
    /** JSON Schema of what the method gives. */
    schema: json,
    /** False: the engine knows it by itself, or the method can do without. */
    required: z.boolean(),
    /** What will be recorded when nothing is given. */
    assumed: json,
  })
  .meta({ id: 'ResultAsked' });

/** One thing that needs a person, with everything there is to decide by. */
export const need = z
  .strictObject({
    kind: z.enum(['unknown', 'approval', 'connection', 'repair', 'error', 'evidence', 'permission']),
    id: text,
    workflow: id,
    name: text,
    sentence: text,
    since: maybeTime,
    evidence: many(text),
    next: many(nextStep),
    /** What the script said it would do. */
    title: maybeText,
    /** The call as the host saw it. */
    call: z
      .strictObject({
        id,
        connection: text,
        method: text,
        preview: text,
        params: json,
        idempotencyKey: text,
        status: outputStatus,
        setAside: z.boolean(),
        expiresAt: maybeTime,
      })
      .nullable(),
    inputs: many(inputRow),
    events: many(event),
    known: many(text),
    unknown: many(text),
    facts: many(z.strictObject({ at: time, source: text, says: text })),
    choices: many(choice),
    result: resultAsked.nullable(),
    workflows: many(text),
    handler: maybeText,
    version: maybeText,
    run: id.nullable(),
    /** What a webhook failed on. */
    delivery: id.nullable(),
    /** Where the script failed, with the lines around it where they are known. */
    place: z
      .strictObject({
        file: text,
        line: count,
        column: count,
        lines: many(z.strictObject({ number: count, text })),
      })
      .nullable(),
    /** Where the console shows it. */
    link: text,
  })
  .meta({ id: 'Need' });
