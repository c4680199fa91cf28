import type { Hono } from 'hono';
import {
  type DeliveryId,
  type EventId,
  type ExecutionId,
  type InputId,
  idShapeOf,
  type MutationId,
  RefusedError,
  type RunId,
  type ScriptId,
  type SessionId,
  type TaskId,
  type WorkflowId,
} from '#base';
import type { Workflow } from '#model';
import { inputStory, outputStory, statusOf } from '#story';
import { type Api, type Env, one, tellerOf } from '../context.ts';
import { eventRow, mutationRow, parsedJson, runRow, scriptRow, sessionRow, stateRow, workflowRow } from '../rows.ts';

const RELATED_MAX = 100;

interface Shown {
  readonly kind: string;
  readonly row: object;
  readonly [related: string]: unknown;
}

/** Anything that has an id, with what belongs to it. */
export function addShow(routes: Hono<Env>, api: Api): void {
  routes.get('/show/:id', (ask) => {
    const id = ask.req.param('id');
    const [named] = api.app.engine.history.fetch('workflowNamed', id);
    const shown = named ? workflow(api, named) : SHOW[idShapeOf(id) ?? '']?.(api, id);
    if (shown) return one(ask, shown);
    throw new RefusedError({
      code: 'not-found',
      message: `there is no ${JSON.stringify(id.slice(0, 100))}`,
      why: 'no workflow has this name, and nothing that can be shown has this id',
      next: [{ label: 'see the workflows', argv: ['pawl', 'workflows'] }],
    });
  });
}

type Show = (api: Api, id: string) => Shown | undefined;

const SHOW: Readonly<Record<string, Show>> = {
  workflow(api, id) {
    const [row] = api.app.engine.history.fetch('workflow', id as WorkflowId);
    return row && workflow(api, row);
  },
  script({ app }, id) {
    const { history, reader } = app.engine;
    const [row] = history.fetch('script', id as ScriptId);
    if (!row) return undefined;
    const active = history.fetch('workflow', row.workflowId)[0]?.activeScriptId ?? null;
    return { kind: 'version', row: scriptRow(row, active), code: reader.scriptCode(row.id)?.code };
  },
  execution({ app }, id) {
    const [row] = app.engine.history.fetch('execution', id as ExecutionId);
    return row && { kind: 'execution', row };
  },
  session(api, id) {
    const teller = tellerOf(api);
    const [row] = teller.history.fetch('session', id as SessionId);
    if (!row) return undefined;
    const runs = teller.history.runsOfSession(row.id, { limit: RELATED_MAX }).map((run) => runRow(teller, run));
    return { kind: 'session', row: sessionRow(teller, row), runs };
  },
  run(api, id) {
    const teller = tellerOf(api);
    const { history } = teller;
    const [row] = history.fetch('run', id as RunId);
    if (!row) return undefined;
    const [output] = history.fetch('ledger', row.rootRunId);
    return {
      kind: 'run',
      row: runRow(teller, row),
      chain: history.runsOfChain(row.rootRunId, RELATED_MAX).map((run) => `${run.id} ${run.phase} ${run.status}`),
      output: output && outputStory(teller, output),
      reserved: history.fetch('reserved', row.id).map(eventRow),
      published: history.eventsPublishedBy(row.id, { limit: RELATED_MAX }).map(eventRow),
      reads: history.readsOfRun(row.id, RELATED_MAX).map((read) => ({ ...read, request: parsedJson(read.request) })),
      logs: history.logsOfRun(row.id, RELATED_MAX).map((log) => ({ ...log, data: parsedJson(log.data) })),
    };
  },
  event(api, id) {
    const { history } = tellerOf(api);
    const [row] = history.fetch('event', id as EventId);
    if (!row) return undefined;
    return {
      kind: 'event',
      row: eventRow(row),
      inputs: history.inputsOfEvent(row.id, RELATED_MAX),
      redone: history.redosOf(row.id, RELATED_MAX).map(eventRow),
    };
  },
  mutation(api, id) {
    const teller = tellerOf(api);
    const [row] = teller.history.fetch('mutation', id as MutationId);
    if (!row) return undefined;
    const { inputs, version, handler } = outputStory(teller, row);
    return {
      kind: 'output',
      row: { ...mutationRow(row), version, handler },
      inputs,
      evidence: teller.history.evidence(row.id, RELATED_MAX),
    };
  },
  input(api, id) {
    const teller = tellerOf(api);
    const row = teller.history.input(id as InputId);
    if (!row) return undefined;
    const { state, sentence, outputs } = inputStory(teller, row);
    const events = teller.history.eventsOfInput(row.id, { limit: RELATED_MAX }).map(eventRow);
    return { kind: 'input', row: { ...row, state, sentence }, outputs, events };
  },
  delivery({ app }, id) {
    const [row] = app.engine.history.fetch('delivery', id as DeliveryId);
    return row && { kind: 'delivery', row: { ...row, headers: parsedJson(row.headers), body: parsedJson(row.body) } };
  },
  task({ app }, id) {
    const [row] = app.engine.history.fetch('task', id as TaskId);
    return row && { kind: 'task', row };
  },
};

function workflow(api: Api, row: Workflow): Shown {
  const teller = tellerOf(api);
  const { sentence, since, next } = statusOf(teller, row);
  return {
    kind: 'workflow',
    row: { ...workflowRow(teller, row), sentence, since },
    next,
    state: teller.history.fetch('handlerStates', row.id).map(stateRow),
    executions: teller.history.fetch('openExecutions', row.id),
    tasks: teller.history.fetch('openTasks', row.id),
  };
}
