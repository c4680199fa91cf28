import { z } from 'zod';

const NAME = z.string().min(1).max(200);

const EVENT = z.strictObject({
  topic: NAME,
  payload: z.json().default(null),
  messageId: NAME.optional(),
  title: z.string().optional(),
});

const DELIVERY = z.strictObject({
  webhook: NAME,
  body: z.json().default(null),
  headers: z.record(z.string(), z.string()).default({}),
  id: NAME.optional(),
});

const READ = z.strictObject({
  connection: NAME,
  method: NAME,
  /** What the script asks with; null where it asks with nothing. */
  request: z.json().default(null),
  answer: z.json(),
});

const ANSWER = z.strictObject({
  connection: NAME,
  method: NAME,
  /** Left out: the answer to every call of this method. */
  params: z.json().optional(),
  result: z.json(),
});

const WHOLE = z.strictObject({
  events: z.array(EVENT).default([]),
  deliveries: z.array(DELIVERY).default([]),
  reads: z.array(READ).default([]),
  mutations: z.array(ANSWER).default([]),
  /** What handlers remember at the beginning. */
  states: z.record(z.string(), z.json()).default({}),
});

/** What a workflow is rehearsed with: a list of events, or all of it. */
export type Samples = z.infer<typeof WHOLE>;

export const NO_SAMPLES: Samples = { events: [], deliveries: [], reads: [], mutations: [], states: {} };

export function parseSamples(value: unknown): { readonly samples: Samples } | { readonly problem: string } {
  const parsed = WHOLE.safeParse(Array.isArray(value) ? { events: value } : value);
  if (parsed.success) return { samples: parsed.data };
  const [issue] = parsed.error.issues;
  return { problem: `${issue?.path.join('.') || 'the whole'}: ${issue?.message}` };
}

/** The later ones win where both have an answer. */
export function joinSamples(first: Samples, second: Samples): Samples {
  return {
    events: [...first.events, ...second.events],
    deliveries: [...first.deliveries, ...second.deliveries],
    reads: [...first.reads, ...second.reads],
    mutations: [...first.mutations, ...second.mutations],
    states: { ...first.states, ...second.states },
  };
}
