import { z } from 'zod';
import { activate, deployCode, validateCode } from '#app';
import { type NextStep, RefusedError } from '#base';
import type { Script, Workflow } from '#model';
import { versionBefore, versionName } from '#story';
import type { Asker } from '../access/asker.ts';
import { allows } from '../access/scope.ts';
import { type Api, tellerOf } from '../context.ts';
import { workflowAt } from '../find.ts';
import { askRow } from '../permissions.ts';
import { RequestError } from '../problem.ts';
import { type Route, route } from '../route.ts';
import { id, json, many, nextStep, text } from '../shapes/parts.ts';
import { ask } from '../shapes/permissions.ts';
import { workflowStatus } from '../shapes/things.ts';
import { standingOf } from './workflows.ts';

const NAME = z.string().min(1).max(200);
const CODE = {
  name: z.string().min(1).max(200),
  code: z.string().min(1),
  sourceMap: z.string(),
  /** By what the version is known; whoever bundled it may leave out what does not count. */
  contentHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** Connection → method → targets: what it asks for, as was read in its author's files; anything where nothing is given. */
  calls: z.record(NAME, z.record(NAME, z.array(z.string().min(1).max(1_000)).min(1).max(100))).optional(),
};

const DEPLOY = z.strictObject({
  ...CODE,
  activate: z.boolean().optional(),
  skipPending: z.boolean().optional(),
  /** The version its author started from: refused when another is active. */
  base: z.string().max(200).optional(),
  major: z.boolean().optional(),
  /** Whether what the version asks for is allowed with it; only whoever may operate can, and does where nothing is said. */
  allow: z.boolean().optional(),
});

const deployed = z
  .strictObject({
    workflow: id,
    name: text,
    script: id,
    version: text,
    /** False when this content was a version already. */
    isNew: z.boolean(),
    activated: z.boolean(),
    status: workflowStatus,
    findings: many(json),
    inFlight: many(text),
    undo: many(text).nullable(),
    /** What the version asks of its connections, and what of it nobody had allowed before. */
    asks: many(ask),
    missing: many(ask),
    /** Set when it waits for a person to allow that; then it is not active. */
    request: id.nullable(),
  })
  .meta({ id: 'Deployed' });

/** What becomes of scripts. */
export const VERSION_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/validate',
    scope: 'edit',
    says: 'say what is wrong with a script, without keeping it',
    body: z.strictObject(CODE),
    answer: z.strictObject({ valid: z.boolean(), findings: many(json) }),
    run: ({ api, body }) => validateCode(api.app, body),
  }),
  route({
    method: 'POST',
    path: '/api/deploy',
    scope: 'edit',
    says: 'make a script a version of its workflow, and let it take over',
    body: DEPLOY,
    answer: deployed,
    async run({ api, body, by, asker }) {
      const { name, code, sourceMap, contentHash, calls, ...options } = body;
      const allow = mayAllow(asker, body);
      const given = { name, code, sourceMap, contentHash, calls };
      const told = await deployCode(api.app, given, { by, ...options, allow });
      const { compiled, before, inFlight: run, asks, missing, ...answer } = told;
      const [script] = run ? await tellerOf(api).history.fetch('script', run.script) : [];
      return {
        ...answer,
        name,
        asks: asks.map((each) => askRow(api, each)),
        missing: missing.map((each) => askRow(api, each)),
        findings: compiled.findings,
        inFlight:
          run && script ? [`${run.handler} (${run.run}) goes on to its end under version ${versionName(script)}`] : [],
        undo: undoOf(name, answer.activated, before),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/workflows/{workflow}/rollback',
    scope: 'edit',
    says: 'let the version before, or the one named, take over again',
    body: z.strictObject({ version: z.string().max(200).optional() }),
    answer: z.strictObject({
      workflow: id,
      name: text,
      script: id,
      version: text,
      status: workflowStatus.optional(),
      sentence: text.optional(),
      undo: many(text).nullable(),
      next: many(nextStep),
      activated: z.boolean(),
      request: id.nullable(),
    }),
    async run({ api, params, body: { version }, by, asker }) {
      const workflow = await workflowAt(api, params.workflow);
      const to =
        version === undefined ? await versionBefore(tellerOf(api), workflow) : await versionAt(api, workflow, version);
      if (!to) throw noVersion(workflow, version);
      const [from] =
        workflow.activeScriptId === null ? [] : await api.app.engine.reader.fetch('script', workflow.activeScriptId);
      const allow = allows(asker.scopes, 'operate');
      const { activated, request } = await activate(api.app, workflow.id, to.id, { by, allow });
      return {
        workflow: workflow.id,
        name: workflow.name,
        script: to.id,
        version: versionName(to),
        ...(await standingOf(api, workflow)),
        undo: from && activated ? ['pawl', 'rollback', workflow.name, versionName(from)] : null,
        next: from && activated ? mendAfter(workflow.name, versionName(from)) : [],
        activated,
        request,
      };
    },
  }),
];

/** What the version did cannot be undone here; it can be found, and done again. */
function mendAfter(name: string, version: string): readonly NextStep[] {
  return [
    { label: `see what version ${version} did`, argv: ['pawl', 'outputs', name, '--of-version', version] },
    { label: 'do one of these again under this version: pawl redo OUTPUT' },
  ];
}

/** Who writes scripts gives no permissions, and skips nobody's events. */
function mayAllow(
  { by, scopes }: Asker,
  body: { allow?: boolean | undefined; skipPending?: boolean | undefined },
): boolean {
  const may = allows(scopes, 'operate');
  if (may || (body.allow !== true && body.skipPending !== true)) return may && body.allow !== false;
  throw new RequestError(
    403,
    'scope',
    `${by} may not ${body.allow === true ? 'allow what a version asks for' : 'skip events'}`,
    `it needs the scope operate, and this token has ${scopes.join(', ')}`,
    'leave it out: then the version waits for somebody who may',
  );
}

function undoOf(name: string, activated: boolean, before: Script | undefined): readonly string[] | null {
  if (!activated) return null;
  return before ? ['pawl', 'rollback', name, versionName(before)] : ['pawl', 'pause', name];
}

async function versionAt({ app }: Api, { id: of }: Workflow, version: string): Promise<Script | undefined> {
  const versions = await app.engine.reader.fetch('scriptsOf', of);
  return versions.find((script) => script.id === version || versionName(script) === version);
}

function noVersion({ id: of, name }: Workflow, version: string | undefined): RefusedError {
  return new RefusedError({
    code: 'not-found',
    message:
      version === undefined
        ? `workflow ${name} has no version to go back to`
        : `workflow ${name} has no version ${version}`,
    why:
      version === undefined ? 'no older version of it was ever active' : 'none of its versions has this number or id',
    next: [{ label: 'see its versions', argv: ['pawl', 'versions', name] }],
    ids: { workflow: of },
  });
}
