import { z } from 'zod';
import { backlogOf, bucketOf, chartOf } from '../chart.ts';
import { type Api, tellerOf } from '../context.ts';
import { workflowAt } from '../find.ts';
import { graphOf } from '../graph.ts';
import { needsCountOf } from '../needs.ts';
import { cut, says } from '../page.ts';
import { RequestError } from '../problem.ts';
import { type Route, rawRoute, route } from '../route.ts';
import { searchFor } from '../search.ts';
import { backlog, chart, found, needsCount, overview } from '../shapes/look.ts';
import { listOf, name, page, search, times } from '../shapes/parts.ts';
import { graph } from '../shapes/shown.ts';

const DAY = 24 * 3_600_000;
const WORKFLOWS_MAX = 10_000;
const FOUND = 20;
const WORKFLOWS_SHOWN = 1_000;

/** What is looked at as a whole, and whoever looks on live. */
export const LOOK_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/overview',
    scope: 'read',
    says: 'everything at a glance: what needs a person, the last day, the age of the backlog, health',
    answer: overview,
    run: ({ api }) => overviewOf(api),
  }),
  route({
    method: 'GET',
    path: '/api/needs/count',
    scope: 'read',
    says: 'how much waits for a person, by kind',
    answer: needsCount,
    run: ({ api }) => needsCountOf(tellerOf(api)),
  }),
  route({
    method: 'GET',
    path: '/api/chart',
    scope: 'read',
    says: 'inputs and outputs over time, by the hour or the day',
    query: { ...times, per: z.enum(['hour', 'day']).default('hour'), workflow: name },
    answer: chart,
    async run({ api, query: { from, to, per, workflow } }) {
      const of = workflow === undefined ? undefined : await workflowAt(api, workflow);
      return chartOf(tellerOf(api), { workflow: of?.id, from, to, per });
    },
  }),
  route({
    method: 'GET',
    path: '/api/backlog',
    scope: 'read',
    says: 'how much waits in each workflow, and since when; the oldest first',
    query: { ...page(WORKFLOWS_SHOWN), ...search, workflow: name },
    answer: listOf(backlog),
    async run({ api, query }) {
      const { q, workflow } = query;
      const lines = (await backlogOf(tellerOf(api))).filter(
        (line) =>
          (workflow === undefined || line.name === workflow || line.workflow === workflow) && says(q, line.name),
      );
      const { rows, next } = cut(lines, query, ({ oldestAt, workflow: of }) => `${stampPlace(oldestAt)} ${of}`);
      return { items: rows, next };
    },
  }),
  route({
    method: 'GET',
    path: '/api/search',
    scope: 'read',
    says: 'anything by its id, its name or a part of its title',
    query: { q: z.string().min(1).max(200), limit: page(FOUND).limit },
    answer: listOf(found),
    run: async ({ api, query }) => ({ items: await searchFor(api, query.q, query.limit), next: null }),
  }),
  route({
    method: 'GET',
    path: '/api/workflows/{workflow}/graph',
    scope: 'read',
    says: 'producers, topics and consumers, and how much waits between them',
    answer: graph,
    run: async ({ api, params }) => graphOf(api, await workflowAt(api, params.workflow)),
  }),
  rawRoute({
    method: 'GET',
    path: '/api/live',
    scope: 'read',
    says: 'live changes as server-sent events: keys of what is not as it was; one `reset` when some were missed',
    raw: {
      type: 'text/event-stream',
      says: '`change` with `{"changes":[{"kind":"run","id":"run_…"}]}`, and `reset` with `{}`: read everything anew',
    },
    run({ api: { live }, ask }) {
      if (live.isFull) throw tooManyReaders();
      const stream = live.open(ask.req.header('last-event-id'));
      const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
      return ask.body(stream, 200, headers);
    },
  }),
  rawRoute({
    method: 'GET',
    path: '/api/openapi.json',
    scope: 'open',
    says: 'this document',
    raw: { type: 'application/json', says: 'OpenAPI 3.1' },
    run: ({ api, ask }) => ask.json(api.document()),
  }),
];

async function overviewOf(api: Api): Promise<z.input<typeof overview>> {
  const teller = tellerOf(api);
  const { history, now } = teller;
  const workflows: Record<string, number> = {};
  for (const { status } of await history.workflows({ limit: WORKFLOWS_MAX }))
    workflows[status] = (workflows[status] ?? 0) + 1;
  const waiting = await backlogOf(teller);
  const names = Object.keys(api.app.connections.describe().connections);
  const refused = (await Promise.all(names.map((each) => history.fetch('connection', each)))).flat();
  return {
    now,
    startedAt: api.startedAt,
    needs: await needsCountOf(teller),
    workflows,
    lastDay: await bucketOf(teller, now - DAY, DAY + 1),
    backlog: {
      pending: waiting.reduce((sum, each) => sum + each.pending, 0),
      oldestAt: waiting[0]?.oldestAt ?? null,
      workflows: waiting.length,
    },
    health: {
      recoveredRuns: api.app.engine.recovered.runs,
      violations: api.app.engine.recovered.violations.length,
      refusedConnections: refused.filter((row) => row?.refusedAt != null).map(({ name }) => name),
    },
  };
}

const TIME_DIGITS = 16;

/** Times as texts are in the order of time. */
function stampPlace(at: number): string {
  return String(at).padStart(TIME_DIGITS, '0');
}

function tooManyReaders(): RequestError {
  return new RequestError(
    503,
    'too-many-readers',
    'nobody else can look on now',
    'each open page keeps a connection, and there are as many as the engine serves',
    'close some pages, and try again',
  );
}
