import { z } from 'zod';
import { explain, statusOf } from '#story';
import { tellerOf } from '../context.ts';
import { needsPage } from '../needs.ts';
import { nextAfter, says } from '../page.ts';
import { type Route, route } from '../route.ts';
import { id, listOf, many, maybeTime, name, page, search, text } from '../shapes/parts.ts';
import { need, status } from '../shapes/status.ts';

/** How everything stands must fit one page, or nobody sees it at 3 am. */
const PAGE = 1_000;
const KIND = need.shape.kind;

export const STATUS_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/status',
    scope: 'read',
    says: 'how each workflow stands, in plain words, with what to do about it',
    query: { ...page(PAGE), ...search, kind: status.shape.kind.optional(), workflow: name },
    answer: listOf(status),
    async run({ api, query: { after, limit, q, kind, workflow } }) {
      const teller = tellerOf(api);
      const rows = await teller.history.workflows({ after, limit });
      const asked = rows.filter((row) => workflow === undefined || row.name === workflow || row.id === workflow);
      const told = await Promise.all(asked.map((row) => statusOf(teller, row)));
      return {
        items: told.filter((each) => each.kinds.includes(kind ?? each.kind) && says(q, each.name, each.sentence)),
        next: nextAfter(rows, limit, (row) => row.name),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/needs',
    scope: 'read',
    says: 'everything that waits for a person, each with its evidence and what can be pressed',
    query: {
      ...page(PAGE),
      ...search,
      after: z
        .string()
        .max(500)
        .regex(/^wf_\w+ ./, 'is no place in this list')
        .optional(),
      kind: KIND.optional(),
      workflow: name,
    },
    answer: listOf(need),
    run: ({ api, query }) => needsPage(api, query),
  }),
  route({
    method: 'GET',
    path: '/api/explain/{id}',
    scope: 'read',
    says: 'the story of an input, event, run, output, delivery or workflow, in the order of time',
    answer: z
      .strictObject({
        kind: z.enum(['workflow', 'run', 'event', 'input', 'output', 'delivery']),
        id,
        /** What happened, each with its time; what is said of now has none. */
        lines: many(z.strictObject({ at: maybeTime, text })),
        /** The same as sentences, with the times of the engine's clock. */
        story: many(text),
      })
      .meta({ id: 'Explained' }),
    run: ({ api, params }) => explain(tellerOf(api), params.id),
  }),
];
