import { assert, type PermissionRequestId, RefusedError, type ScriptId, type WorkflowId } from '#base';
import type { WorkflowStatus } from '#model';
import { type Ask, merged, missingFrom } from '#permission';
import { type Manifest, nextTick, parseManifest } from '#script';
import { missingFor, openRequestOf, wantedBy } from './permissions.ts';
import type { App } from './start-app.ts';

export interface ActivateOptions {
  readonly by: string;
  readonly skipPending?: boolean | undefined;
  readonly base?: ScriptId | undefined;
  /** Whether whoever does this also allows what the version asks for; else it waits for somebody who may. */
  readonly allow?: boolean | undefined;
  /** The request that is answered with it: if it does not wait any more, nothing is done. */
  readonly answers?: PermissionRequestId;
}

export interface Activated {
  readonly status: WorkflowStatus;
  readonly activated: boolean;
  /** What was not allowed before. */
  readonly missing: readonly Ask[];
  /** The request that waits for a person. */
  readonly request: PermissionRequestId | null;
}

/** A version that is kept takes over: a new one, or an older one again. One that asks for more than was allowed waits, and what is active goes on. */
export async function activate(
  app: App,
  workflow: WorkflowId,
  script: ScriptId,
  options: ActivateOptions,
): Promise<Activated> {
  const { by, allow = true } = options;
  const { reader, manager } = app.engine;
  const missing = await missingFor(app, workflow, script);
  if (missing.length === 0 || allow) return takeOver(app, workflow, script, missing, options);
  const [row] = await reader.fetch('workflow', workflow);
  const wanted = JSON.stringify({ asks: missing, base: row?.activeScriptId ?? null });
  const { request } = await manager.askPermission(workflow, script, wanted, by);
  const [after] = await reader.fetch('workflow', workflow);
  return { status: after?.status ?? 'draft', activated: false, missing, request };
}

async function takeOver(
  app: App,
  workflow: WorkflowId,
  script: ScriptId,
  missing: readonly Ask[],
  { by, skipPending, base, answers }: ActivateOptions,
): Promise<Activated> {
  const { engine, clock } = app;
  const kept = await engine.reader.scriptCode(script);
  assert(kept, `version ${script} is missing`);
  const schedule = firstTicks(parseManifest(kept.manifest), clock.now());
  const grants = merged(await engine.reader.fetch('grantsOf', workflow), missing);
  const waiting = await openRequestOf(app, workflow);
  const answered = answers ?? (waiting?.scriptId === script ? waiting.id : undefined);
  const { status } = await engine.manager.together((model) => {
    if (grants.length > 0) model.giveGrants(workflow, grants, by);
    if (answered !== undefined) model.answerPermission(answered, 'allowed', by);
    return model.activateScript(workflow, script, { by, skipPending, base, schedule });
  });
  return { status, activated: true, missing, request: null };
}

/** A person allows what a version asks for, and it takes over; unless another has since it asked: then it does not wait any more. */
export async function allowRequest(app: App, request: PermissionRequestId, by: string): Promise<Activated> {
  const { engine } = app;
  const [row] = await engine.reader.fetch('permissionRequest', request);
  if (row?.answer !== '') {
    // The model has the words for both.
    await engine.manager.answerPermission(request, 'allowed', by);
    throw new Error(`bug: request ${request} was answered without being open`);
  }
  const { base, asks } = wantedBy(row);
  const unseen = notShown(await missingFor(app, row.workflowId, row.scriptId), asks);
  if (unseen.length > 0) throw takenBack(request, row.workflowId);
  return activate(app, row.workflowId, row.scriptId, { by, answers: request, ...(base !== null && { base }) });
}

/** What was allowed when it asked, and is not any more: whoever says yes now has not seen it. */
function notShown(missing: readonly Ask[], asks: readonly Ask[]): Ask[] {
  const shown = asks.map((ask) => ({ ...ask, capPerHour: null }));
  return missingFrom(shown, missing);
}

function takenBack(request: PermissionRequestId, workflow: WorkflowId): RefusedError {
  return new RefusedError({
    code: 'wrong-state',
    message: `request ${request} would allow more than it shows`,
    why: 'something that its version needs was taken back since it asked',
    next: [
      { label: 'see what the workflow may do', argv: ['pawl', 'permissions', workflow] },
      { label: 'refuse it', argv: ['pawl', 'reject', request] },
      { label: 'deploy the version again: it asks for all it needs' },
    ],
    ids: { request, workflow },
  });
}

/** A producer runs first when its version is activated; a cron line at its next time. */
function firstTicks({ schedules }: Manifest, now: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(schedules).flatMap(([name, schedule]) => {
      const at = 'intervalMs' in schedule ? now : nextTick(schedule, now);
      return at === null ? [] : [[name, at]];
    }),
  );
}
