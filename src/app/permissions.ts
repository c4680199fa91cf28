import type { ScriptId, WorkflowId } from '#base';
import type { PermissionRequest } from '#model';
import { type Ask, missingFrom } from '#permission';
import { parseManifest } from '#script';
import type { App } from './start-app.ts';

/** What a version asks of its connections, in the connectors' own words for what is read or changed. */
export async function asksOf({ engine, connections }: App, script: ScriptId): Promise<Ask[]> {
  const kept = await engine.reader.scriptCode(script);
  const { calls } = parseManifest(kept?.manifest ?? '{}');
  return Object.entries(calls).flatMap(([connection, methods]) =>
    Object.entries(methods).map(([method, targets]) => ({
      connection,
      method,
      targets: targets.map((target) => connections.targetPattern(connection, method, target)),
    })),
  );
}

/** What it asks for and nobody has allowed. */
export async function missingFor(app: App, workflow: WorkflowId, script: ScriptId): Promise<Ask[]> {
  return missingFrom(await app.engine.reader.fetch('grantsOf', workflow), await asksOf(app, script));
}

/** Whether a method only looks. A connection that is not in the config is taken to change things. */
export function kindOf({ connections }: App, { connection, method }: Pick<Ask, 'connection' | 'method'>) {
  const catalogue = connections.describe();
  const type = catalogue.connections[connection] ?? '';
  return catalogue.connectors[type]?.reads.includes(method) ? 'read' : 'change';
}

/** What a request was made for: what is asked, and the version that was active then. */
export interface Wanted {
  readonly asks: readonly Ask[];
  readonly base: ScriptId | null;
}

export function wantedBy({ asks }: PermissionRequest): Wanted {
  return JSON.parse(asks) as Wanted;
}

export async function openRequestOf({ engine }: App, workflow: WorkflowId): Promise<PermissionRequest | undefined> {
  return (await engine.reader.fetch('openRequests', workflow))[0];
}
