import { z } from 'zod';

/** The parts that every answer is made of. Each thing that a client names has an `id`: it becomes a type of its own. */

export const id = z.string();
export const time = z.int();
export const maybeTime = time.nullable();
export const text = z.string();
export const maybeText = text.nullable();
export const count = z.int();
/** What a script or a provider said: any JSON. */
export const json = z.unknown();

/** Any JSON that must be there. */
export const givenJson = z.unknown().refine((value) => value !== undefined, 'is missing');

export function many<T extends z.ZodType>(item: T) {
  return z.array(item).readonly();
}

/** The words of a table of states. */
export function wordsOf<S extends string>(steps: Readonly<Record<S, unknown>>) {
  return z.enum(Object.keys(steps) as [S, ...S[]]);
}

export const nextStep = z
  .strictObject({
    label: text,
    /** As it can be typed. */
    argv: many(text).optional(),
  })
  .meta({ id: 'NextStep' });

/** A list: a page may hold fewer than were asked for; only `next: null` is its end. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: many(item), next: maybeText });
}

/** Every error, as `application/problem+json` (RFC 9457). */
export const problem = z
  .strictObject({
    type: text,
    title: text,
    status: z.int(),
    /** One sentence: what happened to which thing. */
    detail: text,
    code: text,
    why: text,
    retryable: z.boolean(),
    ids: z.record(z.string(), z.string()),
    next: many(nextStep),
    docs: text,
    /** Set when it ends by itself: when to try again. */
    notBefore: time.optional(),
    /** What is wrong with a script, line by line. */
    findings: many(json).optional(),
  })
  .meta({ id: 'Problem' });

const LIMIT_MAX = 1_000;
const CURSOR_CHARS_MAX = 500;
const SEARCH_CHARS_MAX = 200;

/** The query of every list. */
export function page(limit: number) {
  return {
    after: z.string().max(CURSOR_CHARS_MAX).optional().describe('the cursor: `next` of the page before'),
    limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(limit),
  };
}

export const search = {
  q: z.string().max(SEARCH_CHARS_MAX).optional().describe('a part of what people read, in any case'),
};

const moment = z.coerce.number().int().min(0);

export const times = {
  from: moment.optional().describe('made at this time or later, in milliseconds since 1970'),
  to: moment.optional().describe('made before this time'),
};

export const name = z.string().max(200).optional();
export const order = z.enum(['newest', 'oldest']).optional();
