import { z } from 'zod';
import { activate, deployCode, validateCode } from '#app';
import { type NextStep, RefusedError } from '#base';
import type { Script, Workflow } from '#model';
import { versionBefore, versionName } from '#story';
import { type Api, tellerOf } from '../context.ts';
import { workflowAt } from '../find.ts';
import { type Route, route } from '../route.ts';
import { id, json, many, nextStep, text } from '../shapes/parts.ts';
import { workflowStatus } from '../shapes/things.ts';
import { standingOf } from './workflows.ts';

const CODE = {
  name: z.string().min(1).max(200),
  code: z.string().min(1),
  sourceMap: z.string(),
  /** By what the version is known; whoever bundled it may leave out what does not count. */
  contentHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
};

const DEPLOY = z.strictObject({
  ...CODE,
  activate: z.boolean().optional(),
  skipPending: z.boolean().optional(),
  /** The version its author started from: refused when another is active. */
  base: z.string().max(200).optional(),
  major: z.boolean().optional(),
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
    async run({ api, body, by }) {
      const { name, code, sourceMap, contentHash, ...options } = body;
      const told = await deployCode(api.app, { name, code, sourceMap, contentHash }, { by, ...options });
      const { compiled, before, inFlight: run, ...answer } = told;
      const [script] = run ? await tellerOf(api).history.fetch('script', run.script) : [];
      return {
        ...answer,
        name,
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
    }),
    async run({ api, params, body: { version }, by }) {
      const workflow = await workflowAt(api, params.workflow);
      const to =
        version === undefined ? await versionBefore(tellerOf(api), workflow) : await versionAt(api, workflow, version);
      if (!to) throw noVersion(workflow, version);
      const [from] =
        workflow.activeScriptId === null ? [] : await api.app.engine.reader.fetch('script', workflow.activeScriptId);
      await activate(api.app, workflow.id, to.id, { by });
      return {
        workflow: workflow.id,
        name: workflow.name,
        script: to.id,
        version: versionName(to),
        ...(await standingOf(api, workflow)),
        undo: from ? ['pawl', 'rollback', workflow.name, versionName(from)] : null,
        next: from ? mendAfter(workflow.name, versionName(from)) : [],
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
