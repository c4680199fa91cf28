import { RefusedError, type ScriptId, type WorkflowId } from '#base';
import type { WorkflowStatus } from '#model';
import { type CompiledScript, compileScript, manifestOf, nextTick, nextVersion } from '#script';
import type { App } from './start-app.ts';

export interface DeployOptions {
  readonly by: string;
  readonly activate?: boolean;
  readonly skipPending?: boolean;
  readonly major?: boolean;
}

export interface Deployed {
  readonly workflow: WorkflowId;
  readonly script: ScriptId;
  readonly version: string;
  /** False when this content was a version already. */
  readonly isNew: boolean;
  readonly activated: boolean;
  readonly status: WorkflowStatus;
  readonly compiled: CompiledScript;
}

/** An author's file becomes a version of its workflow, and takes over unless it is told to wait. Deploying the same content twice is one version. */
export async function deploy(app: App, file: string, options: DeployOptions): Promise<Deployed> {
  const compiled = await compileScript({
    file,
    describe: (code) => app.sandbox.describe(code),
    connectors: app.connections.describe().connectors,
  });
  const { manager, reader } = app.engine;
  const workflow =
    reader.fetch('workflowNamed', compiled.name)[0]?.id ?? (await createOrFind(app, compiled.name, options.by));
  const next = nextVersion(reader.fetch('scriptsOf', workflow), compiled, { major: options.major ?? false });
  const script = next.kind === 'known' ? next.version.id : await add(app, workflow, compiled, next.version, options.by);
  const active = reader.fetch('workflow', workflow)[0]?.activeScriptId === script;
  const activate = (options.activate ?? true) && !active;
  if (activate) {
    await manager.activateScript(workflow, script, {
      by: options.by,
      skipPending: options.skipPending,
      schedule: firstTicks(compiled, app.clock.now()),
    });
  }
  const { major, minor } = next.version;
  const status = reader.fetch('workflow', workflow)[0]?.status ?? 'draft';
  return {
    workflow,
    script,
    version: `${major}.${minor}`,
    isNew: next.kind === 'new',
    activated: activate || active,
    status,
    compiled,
  };
}

/** Two first deployments of one name at once: one of them creates it. */
async function createOrFind({ engine }: App, name: string, by: string): Promise<WorkflowId> {
  try {
    return (await engine.manager.createWorkflow(name, by)).workflow;
  } catch (error) {
    const [other] = engine.reader.fetch('workflowNamed', name);
    if (error instanceof RefusedError && other) return other.id;
    throw error;
  }
}

async function add(
  { engine }: App,
  workflow: WorkflowId,
  compiled: CompiledScript,
  version: { major: number; minor: number },
  by: string,
): Promise<ScriptId> {
  const { code, contentHash, handlers } = compiled;
  const added = await engine.manager.addScript(workflow, {
    ...version,
    code,
    contentHash,
    handlers,
    manifest: manifestOf(compiled),
    by,
  });
  return added.script;
}

/** A producer runs first when its version is activated; a cron line at its next time. */
function firstTicks({ schedules }: CompiledScript, now: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(schedules).flatMap(([name, schedule]) => {
      const at = 'intervalMs' in schedule ? now : nextTick(schedule, now);
      return at === null ? [] : [[name, at]];
    }),
  );
}
