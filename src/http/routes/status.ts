import { z } from 'zod';
import { type Case, casesOf, explain, statusOf } from '#story';
import { tellerOf } from '../context.ts';
import { needOf } from '../needs.ts';
import { nextAfter } from '../page.ts';
import { type Route, route } from '../route.ts';
import { id, listOf, many, maybeTime, page, search, text } from '../shapes/parts.ts';
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
    query: { ...page(PAGE), ...search },
    answer: listOf(status),
    async run({ api, query: { after, limit, q = '' } }) {
      const teller = tellerOf(api);
      const rows = await teller.history.workflows({ after, limit });
      const items = rows.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
      return {
        items: await Promise.all(items.map((row) => statusOf(teller, row))),
        next: nextAfter(rows, limit, (row) => row.name),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/needs',
    scope: 'read',
    says: 'everything that waits for a person, each with its evidence and what can be pressed',
    query: { ...page(PAGE), ...search, kind: KIND.optional(), workflow: z.string().max(200).optional() },
    answer: listOf(need),
    async run({ api, query: { after, limit, q, kind, workflow } }) {
      const teller = tellerOf(api);
      const rows = await teller.history.troubled({ after, limit });
      const cases = (
        await Promise.all(
          rows
            .filter((row) => workflow === undefined || row.name === workflow || row.id === workflow)
            .map((row) => casesOf(teller, row)),
        )
      )
        .flat()
        .filter((each) => each.kind === (kind ?? each.kind) && fits(each, q));
      const items = await Promise.all(cases.map((each) => needOf(api, each)));
      return { items, next: nextAfter(rows, limit, (row) => row.id) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/explain/{id}',
    scope: 'read',
    says: 'the story of an input, event, run, output or workflow, in the order of time',
    answer: z
      .strictObject({
        kind: z.enum(['workflow', 'run', 'event', 'input', 'output']),
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

function fits({ sentence, name, title, call }: Case, q = ''): boolean {
  return [sentence, name, title ?? '', call?.preview ?? ''].some((part) =>
    part.toLowerCase().includes(q.toLowerCase()),
  );
}
