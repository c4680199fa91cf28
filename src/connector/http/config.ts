import { z } from 'zod';
import { secretReference } from '../secrets.ts';
import { SETTINGS } from '../settings.ts';
import { framesMessage, headerName, headerValue } from './header.ts';
import { reconcileRule } from './reconcile-rule.ts';

const BYTES_MAX = 32 * 1024 * 1024;

const origin = z.string().transform((text, context) => {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '' && url.hash === '') {
    return url.origin;
  }
  context.addIssue({ code: 'custom', message: `"${text}" is not an origin such as https://files.example.com` });
  return z.NEVER;
});

const baseUrl = z
  .string('baseUrl is missing: it must be a URL such as https://api.example.com')
  .transform((text, context) => {
    const url = URL.parse(text);
    const problem = url === null ? 'is not a URL such as https://api.example.com' : problemOfBase(url);
    if (url !== null && problem === undefined) return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
    context.addIssue({ code: 'custom', message: `"${url === null ? text : hidePassword(url)}" ${problem}` });
    return z.NEVER;
  });

function problemOfBase(url: URL): string | undefined {
  if (!/^https?:$/.test(url.protocol)) return `begins with ${url.protocol}, but only http: and https: can be used`;
  if (url.username !== '' || url.password !== '') return 'holds a password: put it in auth or headers, as a secret';
  if (url.search !== '' || url.hash !== '') return 'must end with its path: no "?" and no "#"';
  return undefined;
}

function hidePassword(url: URL): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  return shown.href;
}

const FIELDS = {
  type: z.literal('http'),
  baseUrl,
  /** Origins, besides that of baseUrl, that a read may be redirected to though they are not public. */
  origins: z.array(origin).max(100).default([]),
  headers: z
    .record(
      headerName.refine((name) => !framesMessage(name), 'is set by the engine and cannot be given'),
      z.union([headerValue, secretReference], 'must be a text or a secret'),
    )
    .default({}),
  auth: z
    .union(
      [z.strictObject({ bearer: secretReference }), z.strictObject({ user: z.string(), password: secretReference })],
      'must be { bearer: secret(name) } or { user, password: secret(name) }',
    )
    .optional(),
  /** The header that carries the idempotency key; false: none is sent. */
  idempotencyHeader: z.union([headerName, z.literal(false)]).default('Idempotency-Key'),
  /** Statuses by which this provider says, beyond the usual ones, that it did nothing. */
  notDone: z.array(z.int().min(300).max(599)).default([]),
  responseBytesMax: z
    .int()
    .min(1)
    .max(BYTES_MAX)
    .default(4 * 1024 * 1024),
  reconcile: z.union([reconcileRule.transform((rule) => [rule]), z.array(reconcileRule).max(100)]).default([]),
  /** Read by a test of the connection. */
  testPath: z.string().startsWith('/', 'must begin with "/"').default('/'),
  /** Certificates, as PEM, that sign the provider's own. */
  ca: z.string().optional(),
  ...SETTINGS,
};

export const httpConfigSchema = z.strictObject(FIELDS);
export const httpConfigFields = Object.keys(FIELDS);
export type HttpConfig = z.infer<typeof httpConfigSchema>;
