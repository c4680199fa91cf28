import { z } from 'zod';
import type { WorkflowId } from '#base';
import type { RunRead } from '#model';
import type { Api } from '../context.ts';
import { workflowAt } from '../find.ts';
import { type Route, route } from '../route.ts';
import { parsedJson } from '../rows.ts';
import { json, many, page, text } from '../shapes/parts.ts';

const EVENTS = 20;
const READS_MAX = 1_000;
const ANSWERS_MAX = 200;

/** In the shape that a rehearsal takes its samples in. */
const samples = z
  .strictObject({
    events: many(z.strictObject({ topic: text, messageId: text, payload: json, title: text.optional() })),
    reads: many(z.strictObject({ connection: text, method: text, request: json, answer: json })),
    mutations: many(z.strictObject({ connection: text, method: text, params: json, result: json })),
    states: z.record(z.string(), json),
  })
  .meta({ id: 'Samples' });

export const RECORDED_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/workflows/{workflow}/recorded',
    scope: 'read',
    says: 'what a rehearsal takes: the newest events that came from outside, what reads and calls answered, what handlers remember',
    query: { limit: page(EVENTS).limit },
    answer: z.strictObject({ samples }),
    run: async ({ api, params, query }) => ({
      samples: await samplesOf(api, (await workflowAt(api, params.workflow)).id, query.limit),
    }),
  }),
];

async function samplesOf({ app }: Api, id: WorkflowId, limit: number): Promise<z.input<typeof samples>> {
  const { history } = app.engine;
  const states = (await history.fetch('handlerStates', id)).filter(({ state }) => state !== null);
  return {
    events: (await history.arrivedEvents(id, limit)).toReversed().map(({ topic, messageId, payload, title }) => ({
      topic,
      messageId,
      payload: parsedJson(payload),
      ...(title !== null && { title }),
    })),
    reads: wholeReads(await history.readsOfWorkflow(id, READS_MAX)).map(({ connection, method, request, answer }) => ({
      connection,
      method,
      request: parsedJson(request),
      answer: parsedJson(answer),
    })),
    mutations: (await history.mutations(id, { limit: ANSWERS_MAX, status: 'applied' }))
      .toReversed()
      .map(({ connection, method, params, result }) => ({
        connection,
        method,
        params: parsedJson(params),
        result: parsedJson(result),
      })),
    states: Object.fromEntries(states.map(({ handlerName, state }) => [handlerName, parsedJson(state)])),
  };
}

/** The newest answer to each request, oldest first; not those that were too long to be kept. */
function wholeReads(newestFirst: readonly RunRead[]): RunRead[] {
  const newest = new Map<string, RunRead>();
  for (const read of newestFirst) {
    const key = `${read.connection} ${read.method} ${read.request}`;
    if (!newest.has(key)) newest.set(key, read);
  }
  return [...newest.values()].filter(({ answer }) => !CUT.test(answer)).toReversed();
}

/** Kept in place of an answer that was longer than is kept. */
const CUT = /^\{"cut":\d+\}$/;
