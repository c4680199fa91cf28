import { z } from 'zod';
import { allowRequest, missingFor } from '#app';
import { RefusedError } from '#base';
import type { Grant, Workflow } from '#model';
import { merged } from '#permission';
import { versionName } from '#story';
import type { Api } from '../context.ts';
import { idOf, workflowAt } from '../find.ts';
import { grantsPage, permissionsOf } from '../permissions.ts';
import { type Route, route } from '../route.ts';
import { id, listOf, name, page, search, text } from '../shapes/parts.ts';
import { askKind, grantOf, permissions } from '../shapes/permissions.ts';
import { workflowStatus } from '../shapes/things.ts';

const PAGE = 100;
const NAME = z.string().min(1).max(200);
const GRANT = z.strictObject({
  connection: NAME,
  method: NAME,
  /** Patterns; what was allowed before stays where nothing is given, else anything. */
  targets: z.array(z.string().min(1).max(1_000)).min(1).max(100).optional(),
  /** Null takes a cap away; what was the cap before stays where nothing is given. */
  capPerHour: z.int().min(0).max(1_000_000).nullable().optional(),
});

const answered = z
  .strictObject({ request: id, workflow: id, version: text, status: workflowStatus, activated: z.boolean() })
  .meta({ id: 'PermissionAnswered' });

/** What workflows may ask of connections. */
export const PERMISSION_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/grants',
    scope: 'read',
    says: 'what all workflows may ask of connections, by their names',
    query: { ...page(PAGE), ...search, workflow: name, connection: name, method: name, kind: askKind.optional() },
    answer: listOf(grantOf),
    run: ({ api, query }) => grantsPage(api, query),
  }),
  route({
    method: 'GET',
    path: '/api/workflows/{workflow}/permissions',
    scope: 'read',
    says: 'what a workflow may ask of its connections, and what waits to be allowed',
    answer: permissions,
    run: async ({ api, params }) => permissionsOf(api, await workflowAt(api, params.workflow)),
  }),
  route({
    method: 'POST',
    path: '/api/workflows/{workflow}/permissions',
    scope: 'operate',
    says: 'allow a workflow methods of connections, with targets and a cap an hour',
    body: z.strictObject({ grants: z.array(GRANT).min(1).max(100) }),
    answer: permissions,
    async run({ api, params, body, by }) {
      const workflow = await workflowAt(api, params.workflow);
      const before = await api.app.engine.reader.fetch('grantsOf', workflow.id);
      const grants = body.grants.map((given) => filledIn(api, before, given));
      await api.app.engine.manager.giveGrants(workflow.id, grants, by);
      return permissionsOf(api, workflow);
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows/{workflow}/permissions/take',
    scope: 'operate',
    says: 'take back what a workflow was allowed; its next such call asks a person',
    body: z.strictObject({ connection: NAME, method: NAME }),
    answer: permissions,
    async run({ api, params, body: { connection, method }, by }) {
      const workflow = await workflowAt(api, params.workflow);
      await api.app.engine.manager.takeGrant(workflow.id, connection, method, by);
      return permissionsOf(api, workflow);
    },
  }),
  route({
    method: 'POST',
    path: '/api/requests/{id}/allow',
    scope: 'operate',
    says: 'allow a version what it asks for: it takes over',
    answer: answered,
    async run({ api, params, by }) {
      const request = idOf('permissionRequest', params.id);
      const { status, activated } = await allowRequest(api.app, request, by);
      return { ...(await aboutRequest(api, request)), status, activated };
    },
  }),
  route({
    method: 'POST',
    path: '/api/requests/{id}/refuse',
    scope: 'operate',
    says: 'refuse a version what it asks for: what is active stays',
    answer: answered,
    async run({ api, params, by }) {
      const request = idOf('permissionRequest', params.id);
      await api.app.engine.manager.answerPermission(request, 'refused', by);
      return { ...(await aboutRequest(api, request)), activated: false };
    },
  }),
];

/** A person gives a workflow that stands still what its active version asks for; where it asks for nothing, their word is enough. */
export async function allowWorkflow(api: Api, workflow: Workflow, by: string) {
  const { engine } = api.app;
  const missing =
    workflow.activeScriptId === null ? [] : await missingFor(api.app, workflow.id, workflow.activeScriptId);
  if (missing.length === 0) return engine.manager.approveGrant(workflow.id, by);
  const grants = merged(await engine.reader.fetch('grantsOf', workflow.id), missing);
  const { status } = await engine.manager.giveGrants(workflow.id, grants, by);
  return { status };
}

function filledIn({ app }: Api, before: readonly Grant[], given: z.output<typeof GRANT>) {
  const { connection, method } = given;
  const known = Object.entries(app.connections.describe().connections).find(([name]) => name === connection);
  const methods = known && app.connections.describe().connectors[known[1]];
  if (methods && ![...methods.reads, ...methods.mutations].includes(method)) throw noMethod(connection, method);
  const grant = before.find((each) => each.connection === connection && each.method === method);
  return {
    connection,
    method,
    targets: given.targets ?? grant?.targets ?? ['*'],
    capPerHour: given.capPerHour === undefined ? (grant?.capPerHour ?? null) : given.capPerHour,
  };
}

function noMethod(connection: string, method: string): RefusedError {
  return new RefusedError({
    code: 'invalid',
    message: `${connection} has no method ${method}`,
    why: 'what is allowed must be something that can be asked for',
    next: [{ label: 'see the connections and their methods', argv: ['pawl', 'connections'] }],
  });
}

async function aboutRequest({ app }: Api, request: ReturnType<typeof idOf<'permissionRequest'>>) {
  const { history } = app.engine;
  const [row] = await history.fetch('permissionRequest', request);
  const [script] = row ? await history.fetch('script', row.scriptId) : [];
  const [workflow] = row ? await history.fetch('workflow', row.workflowId) : [];
  return {
    request,
    workflow: row?.workflowId ?? '',
    version: script ? versionName(script) : '',
    status: workflow?.status ?? 'draft',
  } as const;
}
