import type { z } from 'zod';
import { asksOf, missingFor } from '#app';
import {
  type DeliveryId,
  type EventId,
  type ExecutionId,
  type IdKind,
  type InputId,
  idShapeOf,
  type MutationId,
  RefusedError,
  type RunId,
  type ScriptId,
  type SessionId,
  type TaskId,
  type WorkerId,
  type WorkflowId,
} from '#base';
import type { Workflow } from '#model';
import { authorSources, parseManifest } from '#script';
import { deliveryStory, inputStory, inputsOf, lackSentences, outputStory, outputsOfEvent, statusOf } from '#story';
import { type Api, tellerOf } from '../context.ts';
import { idOf } from '../find.ts';
import { askRow } from '../permissions.ts';
import { type Route, route } from '../route.ts';
import { eventRow, mutationRow, parsedJson, runRow, scriptRow, sessionRow, stateRow, workflowRow } from '../rows.ts';
import {
  shown,
  shownDelivery,
  shownEvent,
  shownInput,
  shownOutput,
  shownRun,
  shownSession,
  shownVersion,
} from '../shapes/shown.ts';

const RELATED_MAX = 100;

type Shown<S extends z.ZodType> = z.input<S>;

export const SHOW_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/show/{id}',
    scope: 'read',
    says: 'anything by its id, or a workflow by its name, with what belongs to it',
    answer: shown,
    async run({ api, params: { id } }) {
      const [named] = await api.app.engine.history.fetch('workflowNamed', id);
      return (named ? await showWorkflow(api, named) : await SHOW[idShapeOf(id) ?? '']?.(api, id)) ?? missing(id);
    },
  }),
  ...[
    one('version', '/api/versions/{id}', 'script', shownVersion, 'a version, with its code and its author’s files'),
    one('session', '/api/sessions/{id}', 'session', shownSession, 'a session with its runs'),
    one('run', '/api/runs/{id}', 'run', shownRun, 'a run with its chain, its call, what it read and logged'),
    one('event', '/api/events/{id}', 'event', shownEvent, 'an event with its inputs and the calls made for it'),
    one('input', '/api/inputs/{id}', 'input', shownInput, 'an input with everything that came of it'),
    one('output', '/api/outputs/{id}', 'mutation', shownOutput, 'a call with its inputs and its evidence'),
    one('delivery', '/api/deliveries/{id}', 'delivery', shownDelivery, 'a webhook’s delivery with what came of it'),
  ],
];

function one<P extends `${string}{id}`>(what: string, path: P, kind: IdKind, answer: z.ZodType, says: string): Route {
  return route({
    method: 'GET',
    path,
    scope: 'read',
    says,
    answer,
    async run({ api, params }) {
      const id = idOf(kind, (params as { id: string }).id);
      return (await SHOW[kind]?.(api, id)) ?? missing(id, what);
    },
  });
}

function missing(id: string, what?: string): never {
  throw new RefusedError({
    code: 'not-found',
    message: `there is no ${what === undefined ? '' : `${what} `}${JSON.stringify(id.slice(0, 100))}`,
    why:
      what === undefined
        ? 'no workflow has this name, and nothing that can be shown has this id'
        : 'no row has this id',
    next: [{ label: 'see the workflows', argv: ['pawl', 'workflows'] }],
  });
}

const SHOW: Readonly<Record<string, (api: Api, id: string) => Promise<Shown<typeof shown> | undefined>>> = {
  async workflow(api, id) {
    const [row] = await api.app.engine.history.fetch('workflow', id as WorkflowId);
    return row && (await showWorkflow(api, row));
  },
  async script(api, id) {
    const { app } = api;
    const { history, reader } = app.engine;
    const [row] = await history.fetch('script', id as ScriptId);
    const kept = row && (await reader.scriptCode(row.id));
    if (!kept) return undefined;
    const active = (await history.fetch('workflow', row.workflowId))[0]?.activeScriptId ?? null;
    const { uses, schedules, webhooks, ...manifest } = parseManifest(kept.manifest);
    const sources = authorSources(manifest);
    return {
      kind: 'version',
      row: scriptRow(row, active),
      code: kept.code,
      sources,
      uses,
      asks: (await asksOf(app, row.id)).map((each) => askRow(api, each)),
      missing: (await missingFor(app, row.workflowId, row.id)).map((each) => askRow(api, each)),
      schedules,
      webhooks,
    };
  },
  async execution({ app }, id) {
    const [row] = await app.engine.history.fetch('execution', id as ExecutionId);
    return row && { kind: 'execution', row };
  },
  async session(api, id) {
    const teller = tellerOf(api);
    const [row] = await teller.history.fetch('session', id as SessionId);
    if (!row) return undefined;
    const runs = await Promise.all(
      (await teller.history.runsOfSession(row.id, { limit: RELATED_MAX })).map((run) => runRow(teller, run)),
    );
    return { kind: 'session', row: await sessionRow(teller, row), runs };
  },
  async run(api, id) {
    const teller = tellerOf(api);
    const { history } = teller;
    const [row] = await history.fetch('run', id as RunId);
    if (!row) return undefined;
    const [output] = await history.fetch('ledger', row.rootRunId);
    const chain = await history.runsOfChain(row.rootRunId, RELATED_MAX);
    return {
      kind: 'run',
      row: await runRow(teller, row),
      chain: chain.map((run) => `${run.id} ${run.phase} ${run.status}`),
      runs: await Promise.all(chain.map((run) => runRow(teller, run))),
      ...(output && { output: await outputStory(teller, output) }),
      reserved: (await history.fetch('reserved', row.id)).map(eventRow),
      published: (await history.eventsPublishedBy(row.id, { limit: RELATED_MAX })).map(eventRow),
      reads: (await history.readsOfRun(row.id, RELATED_MAX)).map((read) => ({
        ...read,
        request: parsedJson(read.request),
      })),
      logs: (await history.logsOfRun(row.id, RELATED_MAX)).map((log) => ({ ...log, data: parsedJson(log.data) })),
    };
  },
  async event(api, id) {
    const teller = tellerOf(api);
    const { history } = teller;
    const [row] = await history.fetch('event', id as EventId);
    if (!row) return undefined;
    return {
      kind: 'event',
      row: eventRow(row),
      inputs: await history.inputsOfEvent(row.id, RELATED_MAX),
      redone: (await history.redosOf(row.id, RELATED_MAX)).map(eventRow),
      outputs: await Promise.all((await outputsOfEvent(teller, row)).map((each) => outputStory(teller, each))),
    };
  },
  async mutation(api, id) {
    const teller = tellerOf(api);
    const [row] = await teller.history.fetch('mutation', id as MutationId);
    if (!row) return undefined;
    const { inputs, version, handler } = await outputStory(teller, row);
    return {
      kind: 'output',
      row: { ...mutationRow(row), version, handler },
      inputs,
      events: (
        await Promise.all(row.eventIds.slice(0, RELATED_MAX).map((event) => teller.history.fetch('event', event)))
      )
        .flat()
        .map(eventRow),
      evidence: await teller.history.evidence(row.id, RELATED_MAX),
    };
  },
  async input(api, id) {
    const teller = tellerOf(api);
    const row = await teller.history.input(id as InputId);
    if (!row) return undefined;
    const { state, sentence, outputs, versions } = await inputStory(teller, row);
    const events = (await teller.history.eventsOfInput(row.id, { limit: RELATED_MAX })).map(eventRow);
    const ids = outputs.slice(0, RELATED_MAX).map((each) => each.id);
    const calls = (await Promise.all(ids.map((each) => teller.history.fetch('mutation', each)))).flat();
    return {
      kind: 'input',
      row: { ...row, state, sentence, versions },
      outputs: await Promise.all(calls.map((each) => outputStory(teller, each))),
      events,
    };
  },
  async delivery(api, id) {
    const teller = tellerOf(api);
    const { history } = teller;
    const [row] = await history.fetch('delivery', id as DeliveryId);
    if (!row) return undefined;
    const { runs, ...story } = await deliveryStory(teller, row);
    const { id: own, status: _kept, headers, body, ...came } = row;
    const events = row.runId === null ? [] : await history.eventsPublishedBy(row.runId, { limit: RELATED_MAX });
    const ids = events.map((event) => event.id);
    return {
      kind: 'delivery',
      row: { id: own, ...story, ...came, headers: parsedJson(headers), body: parsedJson(body) },
      runs: await Promise.all(runs.slice(-RELATED_MAX).map((run) => runRow(teller, run))),
      events: events.map(eventRow),
      inputs: (await inputsOf(teller, ids)).slice(0, RELATED_MAX),
    };
  },
  async task({ app }, id) {
    const [row] = await app.engine.history.fetch('task', id as TaskId);
    return row && { kind: 'task', row };
  },
  async worker({ app }, id) {
    const [row] = await app.engine.history.fetch('worker', id as WorkerId);
    return (
      row && {
        kind: 'worker',
        row: { ...row, lacks: lackSentences(row.lacks), leaseUntil: app.isShared ? row.leaseUntil : null },
      }
    );
  },
};

async function showWorkflow(api: Api, row: Workflow): Promise<Shown<typeof shown>> {
  const teller = tellerOf(api);
  const { sentence, since, next } = await statusOf(teller, row);
  return {
    kind: 'workflow',
    row: { ...(await workflowRow(teller, row)), sentence, since },
    next,
    state: (await teller.history.fetch('handlerStates', row.id)).map(stateRow),
    executions: await teller.history.fetch('openExecutions', row.id),
    tasks: await teller.history.fetch('openTasks', row.id),
  };
}
