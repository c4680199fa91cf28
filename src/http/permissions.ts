import type { z } from 'zod';
import { asksOf, kindOf, missingFor, openRequestOf, wantedBy } from '#app';
import type { PermissionRequest, Workflow } from '#model';
import { type Ask, askSentence, grantSentence } from '#permission';
import { versionName } from '#story';
import type { Api } from './context.ts';
import type { ask, permissionRequest, permissions } from './shapes/permissions.ts';

/** What a workflow may do, as sentences that a person can judge. */
export async function permissionsOf(api: Api, workflow: Workflow): Promise<z.input<typeof permissions>> {
  const { app } = api;
  const { activeScriptId } = workflow;
  const asks = activeScriptId === null ? [] : await asksOf(app, activeScriptId);
  const isUsed = ({ connection, method }: Ask): boolean =>
    asks.some((each) => each.connection === connection && each.method === method);
  const request = await openRequestOf(app, workflow.id);
  const missing = activeScriptId === null ? [] : await missingFor(app, workflow.id, activeScriptId);
  const grants = await app.engine.history.fetch('grantsOf', workflow.id);
  return {
    workflow: workflow.id,
    name: workflow.name,
    grants: grants.map(({ workflowId: _, ...grant }) => {
      const kind = kindOf(app, grant);
      return { ...grant, kind, sentence: grantSentence(grant, kind), used: isUsed(grant) };
    }),
    missing: missing.map((each) => askRow(api, each)),
    request: request ? await requestRow(api, request) : null,
  };
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
