import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { RefusedError } from '#base';
import { isWorkflowName } from '#script';
import { exportWorkflow, importWorkflow } from '#transfer';
import { workflowAt } from '../find.ts';
import { type Route, route } from '../route.ts';
import { count, id, text } from '../shapes/parts.ts';

const file = z.string().min(1).max(4_096);

/** One workflow with its history, into a file where the engine runs, and out of one. */
export const TRANSFER_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/workflows/{workflow}/export',
    scope: 'admin',
    says: 'write a workflow and its history into a file where the engine runs; never a secret',
    body: z.strictObject({ file }),
    answer: z.strictObject({
      file: text,
      /** Those that an import puts in. */
      rows: count,
      bytes: count,
      sha256: text,
      /** What it has pending may still be done here: it is neither paused nor over. */
      goesOn: z.boolean(),
    }),
    async run({ api, params, body, by }) {
      mustBeAbsolute(body.file);
      const workflow = await workflowAt(api, params.workflow);
      return { file: body.file, ...(await exportWorkflow(api.app, workflow, { file: body.file, by })) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/import',
    scope: 'admin',
    says: 'put a workflow from such a file in, paused; all of it or nothing',
    body: z.strictObject({ file, name: z.string().min(1).max(200).optional() }),
    answer: z.strictObject({ workflow: id, name: text, status: text, rows: count, unknown: count }),
    run({ api, body, by }) {
      mustBeAbsolute(body.file);
      if (body.name !== undefined) mustBeName(body.name);
      return importWorkflow(api.app, { ...body, by });
    },
  }),
];

/** The same names as in a script: under another nobody could deploy a version of it. */
function mustBeName(name: string): void {
  if (isWorkflowName(name)) return;
  throw new RefusedError({
    code: 'invalid',
    message: `${JSON.stringify(name)} is no name for a workflow`,
    why: 'a name has letters, digits, ".", "_" and "-", and begins with a letter or digit',
    next: [{ label: 'take another name' }],
  });
}

function mustBeAbsolute(path: string): void {
  if (isAbsolute(path)) return;
  throw new RefusedError({
    code: 'invalid',
    message: `${path} is not the whole path of a file`,
    why: 'the engine may run in another folder than you',
    next: [{ label: 'give an absolute path' }],
  });
}
