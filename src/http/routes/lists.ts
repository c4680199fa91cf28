import { z } from 'zod';
import { type IdKind, idShapeOf } from '#base';
import { type Script, SESSION_RESULTS, type Workflow } from '#model';
import { inputStory, outputStory, versionName } from '#story';
import { type Api, tellerOf } from '../context.ts';
import { scriptNamed, workflowAt } from '../find.ts';
import { cut, filterOf, isWithin, nextAfter, says } from '../page.ts';
import { type Route, route } from '../route.ts';
import { eventRow, parsedJson, runRow, scriptRow, sessionRow, stateRow, workflowRow } from '../rows.ts';
import { listOf, name, order, page, search, times } from '../shapes/parts.ts';
import {
  event,
  eventStatus,
  handlerState,
  input,
  inputState,
  logLine,
  output,
  outputStatus,
  run,
  runStatus,
  session,
  trigger,
  version,
  workflow,
  workflowStatus,
} from '../shapes/things.ts';

const PAGE = 100;
const PAGE_OF_WORKFLOWS = 1_000;
const LIST = { ...page(PAGE), ...search, ...times, order };

/** The cursor of these lists is an id of what they list: another one would begin anywhere. */
function placed(kind: IdKind) {
  const after = LIST.after.refine((given) => given === undefined || idShapeOf(given) === kind, {
    message: `is no place in this list, which is the id of one of its items (${kind})`,
  });
  return { ...LIST, after };
}

type AskedWorkflow = (given: string | undefined, api: Api) => Promise<Workflow | undefined>;

/** `?workflow=` names one; without it all are meant. */
const asked: AskedWorkflow = async (given, api) => (given === undefined ? undefined : await workflowAt(api, given));

const SESSIONS = {
  ...placed('session'),
  status: z.enum(SESSION_RESULTS).optional(),
  trigger: trigger.optional(),
  version: name,
};
const RUNS = { ...placed('run'), status: runStatus.optional(), handler: name, session: name, version: name };
const EVENTS = { ...placed('event'), status: eventStatus.optional(), topic: name };
const INPUTS = { ...placed('input'), status: inputState.optional(), source: name, type: name, version: name };
const OUTPUTS = {
  ...placed('mutation'),
  status: outputStatus.optional(),
  handler: name,
  connection: name,
  method: name,
  version: name,
};

type QueryOf<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>;

async function sessions(api: Api, of: Workflow | undefined, query: QueryOf<typeof SESSIONS>) {
  const { status, trigger: by, version: of_ } = query;
  const filter = filterOf(of, query, { status, trigger: by, script: await scriptNamed(api, of, of_) });
  const { rows, next } = await api.app.engine.history.list('sessions', filter);
  return { items: await Promise.all(rows.map((row) => sessionRow(tellerOf(api), row))), next };
}

async function runs(api: Api, of: Workflow | undefined, query: QueryOf<typeof RUNS>) {
  const { status, handler, session: within, version: under } = query;
  const filter = filterOf(of, query, { status, handler, session: within, script: await scriptNamed(api, of, under) });
  const { rows, next } = await api.app.engine.history.list('runs', filter);
  return { items: await Promise.all(rows.map((row) => runRow(tellerOf(api), row))), next };
}

/** Oldest first, as they are worked on, where nothing else is asked for. */
async function events(api: Api, of: Workflow | undefined, query: QueryOf<typeof EVENTS>) {
  const { status, topic } = query;
  const filter = filterOf(of, { ...query, order: query.order ?? 'oldest' }, { status, topic });
  const { rows, next } = await api.app.engine.history.list('events', filter);
  return { items: rows.map(eventRow), next };
}

/** The state of an input follows from what it caused: a page is filtered when it is told, and may come out shorter. */
async function inputs(api: Api, of: Workflow | undefined, query: QueryOf<typeof INPUTS>) {
  const teller = tellerOf(api);
  const { source, type, status, version: by } = query;
  const filter = filterOf(of, query, { source, type, script: await scriptNamed(api, of, by) });
  const { rows, next } = await teller.history.list('inputs', filter);
  const items = (await Promise.all(rows.map((row) => inputStory(teller, row)))).filter(
    ({ state }) => state === (status ?? state),
  );
  return { items, next };
}

async function outputs(api: Api, of: Workflow | undefined, query: QueryOf<typeof OUTPUTS>) {
  const teller = tellerOf(api);
  const { status, handler, connection, method, version: by } = query;
  const filter = filterOf(of, query, { status, handler, connection, method, script: await scriptNamed(api, of, by) });
  const { rows, next } = await teller.history.list('mutations', filter);
  return { items: await Promise.all(rows.map((row) => outputStory(teller, row))), next };
}

const LISTS = [
  { noun: 'sessions', says: 'sessions, newest first', query: SESSIONS, item: session, list: sessions },
  { noun: 'runs', says: 'runs, newest first', query: RUNS, item: run, list: runs },
  { noun: 'events', says: 'events, oldest first', query: EVENTS, item: event, list: events },
  { noun: 'inputs', says: 'what came in and what came of it, newest first', query: INPUTS, item: input, list: inputs },
  { noun: 'outputs', says: 'calls to the outside, newest first', query: OUTPUTS, item: output, list: outputs },
] as const;

export const LIST_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/workflows',
    scope: 'read',
    says: 'the workflows, by name',
    query: { ...page(PAGE_OF_WORKFLOWS), ...search, status: workflowStatus.optional() },
    answer: listOf(workflow),
    async run({ api, query: { after, limit, q, status } }) {
      const teller = tellerOf(api);
      const rows = await teller.history.workflows({ after, limit });
      const items = rows.filter((row) => row.status === (status ?? row.status) && says(q, row.name));
      return {
        items: await Promise.all(items.map((row) => workflowRow(teller, row))),
        next: nextAfter(rows, limit, (row) => row.name),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/workflows/{workflow}',
    scope: 'read',
    says: 'one workflow, by its name or id',
    answer: workflow,
    run: async ({ api, params }) => workflowRow(tellerOf(api), await workflowAt(api, params.workflow)),
  }),
  route({
    method: 'GET',
    path: '/api/workflows/{workflow}/versions',
    scope: 'read',
    says: 'the versions of a workflow, newest first',
    query: { ...LIST, after: LIST.after.refine(isVersionPlace, 'is no place in this list'), author: name },
    answer: listOf(version),
    async run({ api, params, query }) {
      const of = await workflowAt(api, params.workflow);
      const all = (await api.app.engine.history.fetch('scriptsOf', of.id)).filter(
        (row) =>
          row.createdBy === (query.author ?? row.createdBy) &&
          isWithin(row.createdAt, query) &&
          says(query.q, versionName(row), row.createdBy, row.id),
      );
      const { rows, next } = cut(all, { ...query, order: query.order ?? 'newest' }, versionPlace);
      return { items: rows.map((row) => scriptRow(row, of.activeScriptId)), next };
    },
  }),
  ...LISTS.flatMap(({ noun, says, query, item, list }) => {
    // The rows of each list fit its item; of all lists at once the compiler cannot tell.
    const told = list as (api: Api, of: Workflow | undefined, query: object) => never;
    return [
      route({
        method: 'GET',
        path: `/api/workflows/{workflow}/${noun}`,
        scope: 'read',
        says: `of one workflow: ${says}`,
        query,
        answer: listOf(item as z.ZodType),
        run: async (given) => told(given.api, await workflowAt(given.api, given.params.workflow), given.query),
      }),
      route({
        method: 'GET',
        path: `/api/${noun}`,
        scope: 'read',
        says,
        query: { ...query, workflow: name },
        answer: listOf(item as z.ZodType),
        run: async ({ api, query: { workflow: of, ...rest } }) => told(api, await asked(of, api), rest),
      }),
    ];
  }),
  route({
    method: 'GET',
    path: '/api/workflows/{workflow}/logs',
    scope: 'read',
    says: 'what a workflow’s handlers logged, newest first',
    query: {
      ...page(PAGE),
      ...search,
      ...times,
      after: z
        .string()
        .max(200)
        .regex(/^run_\w+:-?\d+$/, 'is no place in a log')
        .optional(),
      handler: name,
    },
    answer: listOf(logLine),
    async run({ api, params, query }) {
      const { after, handler, limit } = query;
      const { id } = await workflowAt(api, params.workflow);
      const { lines, next } = await api.app.engine.history.logs(id, { after: logPlace(after), handler, limit });
      const items = lines
        .filter(({ at, message, data }) => isWithin(at, query) && says(query.q, message, data))
        .map(({ handlerName, data, ...line }) => ({ ...line, handler: handlerName, data: parsedJson(data) }));
      return { items, next: next && `${next.run}:${next.position}` };
    },
  }),
  route({
    method: 'GET',
    path: '/api/workflows/{workflow}/state',
    scope: 'read',
    says: 'what each handler remembers, and when it is next due',
    query: { ...page(PAGE), ...search, handler: name },
    answer: listOf(handlerState),
    async run({ api, params, query }) {
      const { id } = await workflowAt(api, params.workflow);
      const states = (await api.app.engine.history.fetch('handlerStates', id)).filter(
        ({ handlerName, state }) => handlerName === (query.handler ?? handlerName) && says(query.q, handlerName, state),
      );
      const { rows, next } = cut(states, query, ({ handlerName }) => handlerName);
      return { items: rows.map(stateRow), next };
    },
  }),
];

const DIGITS = 10;
const VERSION_PLACE = new RegExp(`^\\d{${DIGITS}}\\.\\d{${DIGITS}}$`);

/** In the order of their numbers: 1.9 stands before 1.10. */
function versionPlace({ major, minor }: Script): string {
  return [major, minor].map((each) => String(each).padStart(DIGITS, '0')).join('.');
}

function isVersionPlace(given: string | undefined): boolean {
  return given === undefined || VERSION_PLACE.test(given);
}

function logPlace(cursor: string | undefined): { run: string; position: number } | null {
  const [run_, position] = cursor?.split(':') ?? [];
  return run_ === undefined ? null : { run: run_, position: Number(position) };
}
