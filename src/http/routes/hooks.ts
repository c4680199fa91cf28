import { z } from 'zod';
import type { Workflow } from '#model';
import { parseManifest } from '#script';
import { type Verified, type Verify, verifyDelivery } from '#trigger';
import { type Api, SCHEMA } from '../context.ts';
import { workflowAt } from '../find.ts';
import { jsonOf } from '../input.ts';
import { RequestError } from '../problem.ts';
import { type Ask, type Route, rawRoute } from '../route.ts';

/** What is of no use to a script, or none of its business. */
const NOT_KEPT = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'connection',
  'content-length',
  'transfer-encoding',
];

/** The secret that a webhook's sender signs with, as the secret source knows it. */
function hookSecretName(workflow: string, hook: string): string {
  return `hook.${workflow}.${hook}`;
}

/** Deliveries of webhooks. The sender has no token but a signature; 2xx means that the delivery is durable. */
export const HOOK_ROUTES: readonly Route[] = [
  rawRoute({
    method: 'POST',
    path: '/hooks/{workflow}/{hook}',
    scope: 'open',
    says: 'a webhook’s delivery, signed by its sender: 202 when it is on the disk, 200 when it was already',
    body: z.unknown(),
    raw: { type: 'application/json', says: '`{ schema, delivery, duplicate }`' },
    async run({ api, params, ask }) {
      const workflow = await workflowAt(api, params.workflow);
      const { hook } = params;
      const body = Buffer.from(await ask.req.arrayBuffer()).toString('utf8');
      const verified = await verify(ask, api, workflow, hook, body);
      if ('challenge' in verified) return ask.json(verified);
      if (body.trim() !== '') jsonOf(body);
      const { delivery, duplicate } = await api.app.engine.manager.acceptDelivery(workflow.id, {
        hook,
        deliveryId: verified.deliveryId,
        headers: JSON.stringify(headersOf(ask)),
        body: body.trim() === '' ? 'null' : body,
      });
      return ask.json({ schema: SCHEMA, delivery, duplicate }, duplicate ? 200 : 202);
    },
  }),
];

async function verify(
  ask: Ask,
  { app }: Api,
  workflow: Workflow,
  hook: string,
  body: string,
): Promise<Exclude<Verified, { refused: string }>> {
  const code =
    workflow.activeScriptId === null ? undefined : await app.engine.reader.scriptCode(workflow.activeScriptId);
  const how = code && parseManifest(code.manifest).webhooks[hook]?.verify;
  if (how === undefined) throw noHook(workflow.name, hook);
  const secret = await app.secret(hookSecretName(workflow.name, hook));
  if (secret === undefined || secret === '') throw noSecret(workflow.name, hook);
  const result = verifyDelivery(how as Verify, { headers: ask.req.header(), body }, secret, app.clock.now());
  if (!('refused' in result)) return result;
  throw new RequestError(
    401,
    'bad-signature',
    `this delivery to ${workflow.name}/${hook} was not accepted`,
    result.refused,
    `check that the sender signs the ${how} way with the secret ${hookSecretName(workflow.name, hook)}`,
  );
}

function headersOf(ask: Ask): Record<string, string> {
  return Object.fromEntries(Object.entries(ask.req.header()).filter(([name]) => !NOT_KEPT.includes(name)));
}

function noHook(workflow: string, hook: string): RequestError {
  return new RequestError(
    404,
    'not-found',
    `workflow ${workflow} has no webhook ${JSON.stringify(hook.slice(0, 100))}`,
    'webhooks are declared in the script',
    'check the address, or deploy a version that has it',
  );
}

/** The sender tries again later, and nothing is lost. */
function noSecret(workflow: string, hook: string): RequestError {
  const name = hookSecretName(workflow, hook);
  return new RequestError(
    503,
    'no-hook-secret',
    `deliveries to ${workflow}/${hook} cannot be checked`,
    `the secret ${name} is not set`,
    `set the secret ${name} to what the sender signs with`,
  );
}
