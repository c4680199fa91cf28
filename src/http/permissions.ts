import type { z } from 'zod';
import { asksOf, kindOf, missingFor, openRequestOf, wantedBy } from '#app';
import type { PermissionRequest, Workflow } from '#model';
import { type Ask, askSentence, grantSentence } from '#permission';
import { versionName } from '#story';
import type { Api } from './context.ts';
import { cut, says } from './page.ts';
import type { ask, grant, permissionRequest, permissions } from './shapes/permissions.ts';

/** What a workflow may do, as sentences that a person can judge. */
export async function permissionsOf(api: Api, workflow: Workflow): Promise<z.input<typeof permissions>> {
  const { app } = api;
  const { activeScriptId } = workflow;
  const request = await openRequestOf(app, workflow.id);
  const missing = activeScriptId === null ? [] : await missingFor(app, workflow.id, activeScriptId);
  return {
    workflow: workflow.id,
    name: workflow.name,
    grants: await grantsOf(api, workflow),
    missing: missing.map((each) => askRow(api, each)),
    request: request ? await requestRow(api, request) : null,
  };
}

async function grantsOf({ app }: Api, { id, activeScriptId }: Workflow): Promise<z.input<typeof grant>[]> {
  const asks = activeScriptId === null ? [] : await asksOf(app, activeScriptId);
  const isUsed = ({ connection, method }: Ask): boolean =>
    asks.some((each) => each.connection === connection && each.method === method);
  return (await app.engine.history.fetch('grantsOf', id)).map(({ workflowId: _, ...row }) => {
    const kind = kindOf(app, row);
    return { ...row, kind, sentence: grantSentence(row, kind), used: isUsed(row) };
  });
}

interface GrantsAsked {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly q?: string | undefined;
  readonly workflow?: string | undefined;
  readonly connection?: string | undefined;
  readonly method?: string | undefined;
  readonly kind?: 'read' | 'change' | undefined;
}

/** More workflows than this nobody has here. */
const WORKFLOWS_MAX = 10_000;

/** Who may do what: the grants of all workflows, by the names of the workflow, the connection and the method. */
export async function grantsPage(api: Api, asked: GrantsAsked) {
  const { workflow, connection, method, kind, q } = asked;
  const workflows = (await api.app.engine.history.workflows({ limit: WORKFLOWS_MAX })).filter(
    ({ id, name }) => workflow === undefined || workflow === name || workflow === id,
  );
  const all = await Promise.all(
    workflows.map(async (row) =>
      (await grantsOf(api, row)).map((each) => ({ ...each, workflow: row.id, name: row.name })),
    ),
  );
  const found = all
    .flat()
    .filter(
      (each) =>
        each.connection === (connection ?? each.connection) &&
        each.method === (method ?? each.method) &&
        each.kind === (kind ?? each.kind) &&
        says(q, each.name, each.sentence, each.allowedBy),
    );
  const { rows, next } = cut(found, asked, (each) => `${each.name} ${each.connection} ${each.method}`);
  return { items: rows, next };
}

export function askRow({ app }: Api, asked: Ask): z.input<typeof ask> {
  const kind = kindOf(app, asked);
  return { ...asked, kind, sentence: askSentence(asked, kind) };
}

async function requestRow(api: Api, row: PermissionRequest): Promise<z.input<typeof permissionRequest>> {
  const { history } = api.app.engine;
  const [script] = await history.fetch('script', row.scriptId);
  const [workflow] = await history.fetch('workflow', row.workflowId);
  return {
    id: row.id,
    workflow: row.workflowId,
    name: workflow?.name ?? '',
    script: row.scriptId,
    version: script ? versionName(script) : '',
    asks: wantedBy(row).asks.map((each) => askRow(api, each)),
    askedAt: row.askedAt,
    askedBy: row.askedBy,
  };
}
