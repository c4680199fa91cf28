import { type PermissionRequestId, RefusedError, type RunId, reach, type ScriptId, type WorkflowId } from '#base';
import type { Script, WorkflowStatus } from '#model';
import type { Ask } from '#permission';
import {
  type CompiledScript,
  compileScript,
  type Finding,
  type GivenCode,
  manifestOf,
  nextVersion,
  ScriptInvalidError,
  scriptFromCode,
} from '#script';
import { activate } from './activate.ts';
import { asksOf, missingFor } from './permissions.ts';
import type { App } from './start-app.ts';

export interface DeployOptions {
  readonly by: string;
  readonly activate?: boolean | undefined;
  readonly skipPending?: boolean | undefined;
  readonly major?: boolean | undefined;
  /** Whether whoever deploys also allows what the version asks for; else it waits for somebody who may. */
  readonly allow?: boolean | undefined;
  /** The version its author started from, by number or id: refused when another is active. */
  readonly base?: string | undefined;
}

export interface Deployed {
  readonly workflow: WorkflowId;
  readonly script: ScriptId;
  readonly version: string;
  /** False when this content was a version already. */
  readonly isNew: boolean;
  readonly activated: boolean;
  /** What the version asks of its connections, and what of it nobody had allowed before. */
  readonly asks: readonly Ask[];
  readonly missing: readonly Ask[];
  /** Set when it waits for a person to allow that. */
  readonly request: PermissionRequestId | null;
  readonly status: WorkflowStatus;
  /** The version that was active before, if another was. */
  readonly before: Script | undefined;
  /** The run that goes on under its own version. */
  readonly inFlight: { readonly run: RunId; readonly handler: string; readonly script: ScriptId } | undefined;
  readonly compiled: CompiledScript;
}

/** An author's file becomes a version of its workflow, and takes over unless it is told to wait. Deploying the same content twice is one version. */
export async function deploy(app: App, file: string, options: DeployOptions): Promise<Deployed> {
  const compiled = await compileScript({
    file,
    describe: (code) => app.sandbox.describe(code),
    connectors: app.connections.describe().connectors,
  });
  return deployCompiled(app, compiled, options);
}

/** The same for a script that was bundled where its author is: what it declares is asked of it again here. */
export async function deployCode(
  app: App,
  given: GivenCode & { readonly name: string },
  options: DeployOptions,
): Promise<Deployed> {
  const compiled = await scriptFromCode({
    ...given,
    describe: (code) => app.sandbox.describe(code),
    connectors: app.connections.describe().connectors,
  });
  if (compiled.name !== given.name) {
    throw new RefusedError({
      code: 'invalid',
      message: `the code is of workflow ${compiled.name}, not of ${given.name}`,
      why: 'a version belongs to the workflow that its own code names',
      next: [{ label: `deploy it as ${compiled.name}` }],
    });
  }
  return deployCompiled(app, compiled, options);
}

/** What is wrong with a script, as far as its code tells; nothing is kept. */
export async function validateCode(
  app: App,
  given: GivenCode & { readonly name: string },
): Promise<{ readonly valid: boolean; readonly findings: readonly Finding[] }> {
  try {
    const { findings } = await scriptFromCode({
      ...given,
      describe: (code) => app.sandbox.describe(code),
      connectors: app.connections.describe().connectors,
    });
    return { valid: true, findings };
  } catch (error) {
    if (error instanceof ScriptInvalidError) return { valid: false, findings: error.findings };
    throw error;
  }
}

async function deployCompiled(app: App, compiled: CompiledScript, options: DeployOptions): Promise<Deployed> {
  mustHaveConnections(app, compiled);
  const { reader } = app.engine;
  const found = (await reader.fetch('workflowNamed', compiled.name))[0];
  const base = options.base === undefined ? undefined : await baseOf(app, compiled.name, found?.id, options.base);
  const workflow = found?.id ?? (await createOrFind(app, compiled.name, options.by));
  reach('deploy-step');
  const before = await activeOf(app, workflow);
  const next = nextVersion(await reader.fetch('scriptsOf', workflow), compiled, { major: options.major ?? false });
  const isActive = next.kind === 'known' && next.version.id === before?.id;
  if (base !== undefined && base.id !== before?.id && !isActive) throw notTheBase(compiled.name, base, before);
  const script = next.kind === 'known' ? next.version.id : await add(app, workflow, compiled, next.version, options.by);
  reach('deploy-step');
  const [run] = await reader.fetch('activeRun', workflow);
  const { by, skipPending, allow } = options;
  const wantsOver = (options.activate ?? true) && !isActive;
  const took = wantsOver
    ? await activate(app, workflow, script, { by, skipPending, base: base?.id, allow })
    : undefined;
  const { major, minor } = next.version;
  return {
    workflow,
    script,
    version: `${major}.${minor}`,
    isNew: next.kind === 'new',
    activated: took?.activated ?? isActive,
    asks: await asksOf(app, script),
    missing: took?.missing ?? (isActive ? [] : await missingFor(app, workflow, script)),
    request: took?.request ?? null,
    status: (await reader.fetch('workflow', workflow))[0]?.status ?? 'draft',
    before: isActive ? undefined : before,
    inFlight: run && { run: run.id, handler: run.handlerName, script: run.scriptId },
    compiled,
  };
}

/** A connection that is not in the config would fail every run: better said while its author looks. */
function mustHaveConnections({ connections }: App, compiled: CompiledScript): void {
  const known = connections.describe().connections;
  const all = Object.entries(known).map(([name, type]) => `${name} (${type})`);
  for (const [name, type] of Object.entries(compiled.uses)) {
    if (known[name] === type) continue;
    throw new RefusedError({
      code: 'unknown-connection',
      message: `workflow ${compiled.name} uses connection ${name} of type ${type}, which this engine does not have`,
      why: all.length === 0 ? 'its config has no connections' : `its connections are ${all.join(', ')}`,
      next: [
        { label: `add ${name} to the connections of the config file and start the engine again` },
        { label: 'or name a connection that is there in `uses`' },
      ],
    });
  }
}

async function activeOf({ engine }: App, workflow: WorkflowId): Promise<Script | undefined> {
  const active = (await engine.reader.fetch('workflow', workflow))[0]?.activeScriptId;
  return active ? (await engine.reader.fetch('script', active))[0] : undefined;
}

async function baseOf({ engine }: App, name: string, workflow: WorkflowId | undefined, base: string): Promise<Script> {
  const versions = workflow ? await engine.reader.fetch('scriptsOf', workflow) : [];
  const found = versions.find((script) => script.id === base || `${script.major}.${script.minor}` === base);
  if (found) return found;
  throw new RefusedError({
    code: 'not-found',
    message: `workflow ${name} has no version ${base} to start from`,
    why: versions.length === 0 ? 'it has no version yet' : 'none of its versions has this number or id',
    next: [{ label: 'see its versions', argv: ['pawl', 'versions', name] }],
  });
}

/** Said before a version is added; the activation itself asks again, in its own transaction. */
function notTheBase(name: string, base: Script, active: Script | undefined): RefusedError {
  const now = active ? `${active.major}.${active.minor} by ${active.createdBy}` : 'none';
  return new RefusedError({
    code: 'wrong-state',
    message: `${name} has changed since version ${base.major}.${base.minor}, which this one starts from`,
    why: `the active version is ${now}`,
    next: [
      { label: 'see the versions', argv: ['pawl', 'versions', name] },
      { label: 'take over what changed, and deploy from the active version' },
    ],
    ids: { base: base.id, ...(active && { active: active.id }) },
  });
}

/** Two first deployments of one name at once: one of them creates it. */
async function createOrFind({ engine }: App, name: string, by: string): Promise<WorkflowId> {
  try {
    return (await engine.manager.createWorkflow(name, by)).workflow;
  } catch (error) {
    const [other] = await engine.reader.fetch('workflowNamed', name);
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
