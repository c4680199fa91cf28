import type { Hono } from 'hono';
import { z } from 'zod';
import type { EventId } from '#base';
import {
  EVENT_STEPS,
  type EventStatus,
  MUTATION_STEPS,
  type MutationStatus,
  RUN_STATUS_STEPS,
  type RunStatus,
  SESSION_RESULTS,
  type Workflow,
} from '#model';
import { inputStory, outputStory } from '#story';
import { type Api, type Ask, type Env, listed, one, tellerOf } from '../context.ts';
import { workflowAt } from '../find.ts';
import { nextAfter, pageOf } from '../input.ts';
import { eventRow, parsedJson, runRow, scriptRow, sessionRow, stateRow, workflowRow } from '../rows.ts';

const PAGE = 100;
const PAGE_OF_WORKFLOWS = 1_000;
const INPUT_STATES = ['done', 'pending', 'skipped', 'waiting'] as const;

const statuses = <S extends string>(steps: Readonly<Record<S, unknown>>) =>
  z.enum(Object.keys(steps) as [S, ...S[]]).optional();
const EVENT_STATUS = statuses<EventStatus>(EVENT_STEPS);
const RUN_STATUS = statuses<RunStatus>(RUN_STATUS_STEPS);
const MUTATION_STATUS = statuses<MutationStatus>(MUTATION_STEPS);
const NAME = z.string().max(200).optional();

export function addLists(routes: Hono<Env>, api: Api): void {
  routes.get('/workflows', (ask) => {
    const teller = tellerOf(api);
    const { after, limit } = pageOf(ask, {}, PAGE_OF_WORKFLOWS);
    const rows = teller.history.workflows({ after, limit });
    return listed(
      ask,
      rows.map((row) => workflowRow(teller, row)),
      nextAfter(rows, limit, (row) => row.name),
    );
  });
  routes.get('/workflows/:workflow', (ask) => {
    return one(ask, workflowRow(tellerOf(api), workflowAt(api, ask.req.param('workflow'))));
  });
  for (const [noun, list] of Object.entries(LISTS)) {
    routes.get(`/workflows/:workflow/${noun}`, (ask) => list(ask, api, workflowAt(api, ask.req.param('workflow'))));
  }
  routes.get('/outputs', (ask) => outputs(ask, api, workflowAsked(ask, api)));
  routes.get('/inputs', (ask) => inputs(ask, api, workflowAsked(ask, api)));
}

/** `?workflow=` names one; without it all are meant. */
function workflowAsked(ask: Ask, api: Api): Workflow | null {
  const named = ask.req.query('workflow');
  return named === undefined ? null : workflowAt(api, named);
}

type List = (ask: Ask, api: Api, workflow: Workflow) => Response;

const LISTS: Readonly<Record<string, List>> = {
  versions(ask, { app }, workflow) {
    const { after, limit } = pageOf(ask, {}, PAGE);
    const all = [...app.engine.history.fetch('scriptsOf', workflow.id)].sort(
      (a, b) => b.major - a.major || b.minor - a.minor,
    );
    const begin = after === undefined ? 0 : all.findIndex((row) => row.id === after) + 1;
    const rows = all.slice(begin, begin + limit);
    return listed(
      ask,
      rows.map((row) => scriptRow(row, workflow.activeScriptId)),
      nextAfter(rows, limit, (row) => row.id),
    );
  },
  sessions(ask, api, workflow) {
    const page = pageOf(ask, { status: z.enum(SESSION_RESULTS).optional() }, PAGE);
    const rows = api.app.engine.history.sessions(workflow.id, page);
    return listed(
      ask,
      rows.map((row) => sessionRow(tellerOf(api), row)),
      nextAfter(rows, page.limit, (row) => row.id),
    );
  },
  runs(ask, api, workflow) {
    const page = pageOf(ask, { status: RUN_STATUS, handler: NAME }, PAGE);
    const rows = api.app.engine.history.runs(workflow.id, page);
    return listed(
      ask,
      rows.map((row) => runRow(tellerOf(api), row)),
      nextAfter(rows, page.limit, (row) => row.id),
    );
  },
  events(ask, { app }, workflow) {
    const page = pageOf(ask, { status: EVENT_STATUS, topic: NAME }, PAGE);
    const rows = app.engine.reader.listEvents(workflow.id, { ...page, after: page.after as EventId | undefined });
    return listed(
      ask,
      rows.map(eventRow),
      nextAfter(rows, page.limit, (row) => row.id),
    );
  },
  inputs,
  outputs,
  logs(ask, { app }, workflow) {
    const { after, handler, limit } = pageOf(ask, { after: LOG_CURSOR, handler: NAME }, PAGE);
    const { lines, next } = app.engine.history.logs(workflow.id, { after: logPlace(after), handler, limit });
    const items = lines.map(({ handlerName, data, ...line }) => ({
      ...line,
      handler: handlerName,
      data: parsedJson(data),
    }));
    return listed(ask, items, next && `${next.run}:${next.position}`);
  },
  state(ask, { app }, workflow) {
    return listed(ask, app.engine.history.fetch('handlerStates', workflow.id).map(stateRow), null);
  },
};

const LOG_CURSOR = z
  .string()
  .regex(/^run_\w+:-?\d+$/, 'is no place in a log')
  .optional();

function logPlace(cursor: string | undefined): { run: string; position: number } | null {
  const [run, position] = cursor?.split(':') ?? [];
  return run === undefined ? null : { run, position: Number(position) };
}

/** The state of an input follows from what it caused: a page is filtered when it is told, and may come out shorter. */
function inputs(ask: Ask, api: Api, workflow: Workflow | null): Response {
  const teller = tellerOf(api);
  const { after, limit, status } = pageOf(ask, { status: z.enum(INPUT_STATES).optional() }, PAGE);
  const rows = teller.history.inputs(workflow?.id ?? null, { after, limit });
  const items = rows.map((row) => inputStory(teller, row)).filter(({ state }) => state === (status ?? state));
  return listed(
    ask,
    items,
    nextAfter(rows, limit, (row) => row.id),
  );
}

function outputs(ask: Ask, api: Api, workflow: Workflow | null): Response {
  const teller = tellerOf(api);
  const { after, limit, status, handler } = pageOf(ask, { status: MUTATION_STATUS, handler: NAME }, PAGE);
  const rows = teller.history.mutations(workflow?.id ?? null, { after, limit, status });
  const items = rows
    .map((row) => outputStory(teller, row))
    .filter((output) => output.handler === (handler ?? output.handler) && output.status === (status ?? output.status));
  return listed(
    ask,
    items,
    nextAfter(rows, limit, (row) => row.id),
  );
}
