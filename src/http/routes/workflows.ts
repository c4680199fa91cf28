import type { Hono } from 'hono';
import { z } from 'zod';
import { activate, deployCode } from '#app';
import { RefusedError } from '#base';
import { BUSY_EXECUTION, type ExecutionStatus, type Script, type Workflow } from '#model';
import { statusOf, versionBefore, versionName } from '#story';
import { type Api, type Env, one, tellerOf } from '../context.ts';
import { workflowAt } from '../find.ts';
import { bodyOf } from '../input.ts';

const NOTHING = z.object({});
const ROLLBACK = z.object({ version: z.string().max(200).optional() });
const PUBLISH = z.object({
  events: z
    .array(
      z.object({
        topic: z.string(),
        messageId: z.string().optional(),
        payload: z.json().default(null),
        title: z.string().optional(),
      }),
    )
    .min(1)
    .max(1_000),
});
const STATE = z.object({ state: z.json() });
const DEPLOY = z.object({
  name: z.string().min(1).max(200),
  code: z.string().min(1),
  sourceMap: z.string(),
  /** By what the version is known; whoever bundled it may leave out what does not count. */
  contentHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  activate: z.boolean().optional(),
  skipPending: z.boolean().optional(),
  base: z.string().max(200).optional(),
  major: z.boolean().optional(),
});

/** What a person does to a whole workflow. */
export function addWorkflowActs(routes: Hono<Env>, api: Api): void {
  const { manager } = api.app.engine;
  const act = (verb: string, does: (workflow: Workflow, by: string) => Promise<object>): void => {
    routes.post(`/workflows/:workflow/${verb}`, async (ask) => {
      const workflow = workflowAt(api, ask.req.param('workflow'));
      await bodyOf(ask, NOTHING);
      const answer = await does(workflow, ask.get('by'));
      return one(ask, { workflow: workflow.id, name: workflow.name, ...standingOf(api, workflow), ...answer });
    });
  };
  act('trigger', ({ id }, by) => manager.requestExecution(id, 'manual', by));
  act('pause', ({ id }, by) => manager.pauseWorkflow(id, by));
  act('resume', ({ id }, by) => manager.resumeWorkflow(id, by));
  act('archive', ({ id }, by) => manager.archiveWorkflow(id, by));
  act('retry', ({ id }, by) => manager.exitMaintenanceMode(id, by, false));
  act('approve', ({ id }, by) => manager.approveGrant(id, by));
  act('cancel', (workflow, by) => cancel(api, workflow, by));
  addVersions(routes, api);
  addPublish(routes, api);
}

function standingOf(api: Api, { id }: Workflow): { status?: string; sentence?: string } {
  const teller = tellerOf(api);
  const [row] = teller.history.fetch('workflow', id);
  if (!row) return {};
  const { status, sentence } = statusOf(teller, row);
  return { status, sentence };
}

async function cancel({ app }: Api, workflow: Workflow, by: string): Promise<object> {
  const open = app.engine.reader.fetch('openExecutions', workflow.id);
  const isBusy = ({ status }: { status: ExecutionStatus }): boolean =>
    (BUSY_EXECUTION as readonly ExecutionStatus[]).includes(status);
  const execution = open.find(isBusy) ?? open[0];
  if (!execution) {
    throw new RefusedError({
      code: 'wrong-state',
      message: `nothing of workflow ${workflow.name} is under way`,
      why: 'only a session that runs or waits to run can be cancelled',
      next: [{ label: 'keep it from running', argv: ['pawl', 'pause', workflow.name] }],
      ids: { workflow: workflow.id },
    });
  }
  const { cancelled } = await app.engine.manager.cancelExecution(execution.id, by);
  return { execution: execution.id, cancelled };
}

function addVersions(routes: Hono<Env>, api: Api): void {
  routes.post('/deploy', async (ask) => {
    const { name, code, sourceMap, contentHash, ...options } = await bodyOf(ask, DEPLOY);
    const by = ask.get('by');
    const deployed = await deployCode(api.app, { name, code, sourceMap, contentHash }, { by, ...options });
    const { compiled, before, inFlight: run, ...answer } = deployed;
    const { history } = tellerOf(api);
    const [script] = run ? history.fetch('script', run.script) : [];
    return one(ask, {
      ...answer,
      name,
      findings: compiled.findings,
      inFlight:
        run && script ? [`${run.handler} (${run.run}) goes on to its end under version ${versionName(script)}`] : [],
      undo: undoOf(name, answer.activated, before),
    });
  });

  routes.post('/workflows/:workflow/rollback', async (ask) => {
    const workflow = workflowAt(api, ask.req.param('workflow'));
    const { version } = await bodyOf(ask, ROLLBACK);
    const to = version === undefined ? versionBefore(tellerOf(api), workflow) : versionAt(api, workflow, version);
    if (!to) throw noVersion(workflow, version);
    const [from] =
      workflow.activeScriptId === null ? [] : api.app.engine.reader.fetch('script', workflow.activeScriptId);
    await activate(api.app, workflow.id, to.id, { by: ask.get('by') });
    return one(ask, {
      workflow: workflow.id,
      name: workflow.name,
      script: to.id,
      version: versionName(to),
      ...standingOf(api, workflow),
      undo: from ? ['pawl', 'rollback', workflow.name, versionName(from)] : null,
    });
  });
}

function undoOf(name: string, activated: boolean, before: Script | undefined): readonly string[] | null {
  if (!activated) return null;
  return before ? ['pawl', 'rollback', name, versionName(before)] : ['pawl', 'pause', name];
}

function versionAt({ app }: Api, { id }: Workflow, version: string): Script | undefined {
  const versions = app.engine.reader.fetch('scriptsOf', id);
  return versions.find((script) => script.id === version || versionName(script) === version);
}

function noVersion({ id, name }: Workflow, version: string | undefined): RefusedError {
  return new RefusedError({
    code: 'not-found',
    message:
      version === undefined
        ? `workflow ${name} has no version to go back to`
        : `workflow ${name} has no version ${version}`,
    why:
      version === undefined ? 'no older version of it was ever active' : 'none of its versions has this number or id',
    next: [{ label: 'see its versions', argv: ['pawl', 'versions', name] }],
    ids: { workflow: id },
  });
}

function addPublish(routes: Hono<Env>, api: Api): void {
  const { manager } = api.app.engine;
  routes.post('/workflows/:workflow/publish', async (ask) => {
    const workflow = workflowAt(api, ask.req.param('workflow'));
    const { events } = await bodyOf(ask, PUBLISH);
    const publishes = events.map(({ payload, ...event }) => ({ ...event, payload: JSON.stringify(payload) }));
    const { published } = await manager.publishEvents(workflow.id, publishes, ask.get('by'));
    return one(ask, { workflow: workflow.id, events: published });
  });

  routes.put('/workflows/:workflow/state/:handler', async (ask) => {
    const workflow = workflowAt(api, ask.req.param('workflow'));
    const { state } = await bodyOf(ask, STATE);
    const handler = ask.req.param('handler');
    await manager.setHandlerState(workflow.id, handler, JSON.stringify(state), ask.get('by'));
    return one(ask, { workflow: workflow.id, handler, state });
  });
}
