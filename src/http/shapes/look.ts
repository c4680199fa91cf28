import { z } from 'zod';
import { count, id, many, maybeTime, text, time } from './parts.ts';

const bucket = z
  .strictObject({
    /** When it begins. */
    at: time,
    inputs: count,
    outputs: count,
    /** Of the outputs: done, or on the way. */
    done: count,
    failed: count,
    /** Waits for approval. */
    waiting: count,
    unknown: count,
  })
  .meta({ id: 'Bucket' });

const per = z.enum(['hour', 'day']);

/** Whole hours or days of universal time, oldest first. */
export const chart = z.strictObject({ per, from: time, to: time, items: many(bucket) }).meta({ id: 'Chart' });

export const backlog = z
  .strictObject({ workflow: id, name: text, pending: count, oldestAt: time, ageMs: count })
  .meta({ id: 'Backlog' });

export const needsCount = z
  .strictObject({ total: count, kinds: z.record(z.string(), count) })
  .meta({ id: 'NeedsCount' });

export const overview = z
  .strictObject({
    now: time,
    startedAt: time,
    needs: needsCount,
    /** How many workflows have each status. */
    workflows: z.record(z.string(), count),
    lastDay: bucket,
    backlog: z.strictObject({ pending: count, oldestAt: maybeTime, workflows: count }),
    health: z.strictObject({
      /** Runs that were under way when the engine last died, and went on. */
      recoveredRuns: count,
      /** Workflows on hold because something that must be true was not. */
      violations: count,
      refusedConnections: many(text),
    }),
  })
  .meta({ id: 'Overview' });

/** Something that was looked for. */
export const found = z
  .strictObject({
    kind: z.enum(['workflow', 'input', 'output', 'event', 'run', 'session', 'version', 'delivery', 'connection']),
    id: text,
    title: text,
    /** The name of its workflow. */
    workflow: text,
    status: text,
    at: maybeTime,
  })
  .meta({ id: 'Found' });
