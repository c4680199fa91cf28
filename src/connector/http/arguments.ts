import { z } from 'zod';
import { framesMessage, headerName, headerValue } from './header.ts';

const PATH_LENGTH_MAX = 8 * 1024;

const path = z
  .string()
  .max(PATH_LENGTH_MAX)
  .superRefine((text, context) => {
    const problem = problemOfPath(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

/** A path stays under the connection's baseUrl, however it is spelled. */
function problemOfPath(text: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) {
    return `"${text}" is a whole URL; give the path only, the connection's baseUrl holds the rest`;
  }
  if (!text.startsWith('/') || text.startsWith('//')) return `"${text}" must begin with one "/"`;
  if (text.includes('#')) return `"${text}" holds a "#", which is never sent; write %23 for the character`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\\\x00-\x20\x7f]/.test(text)) return `"${text}" holds a space, backslash or control character; encode it`;
  const segments = (text.split('?', 1)[0] ?? '').replaceAll(/%2e/gi, '.').split(/\/|%2f|%5c/i);
  return segments.includes('..') || segments.includes('.') ? `"${text}" must not hold "." or ".." segments` : undefined;
}

const scalar = z.union([z.string(), z.number(), z.boolean()], 'must be a text, a number or true/false');
const parameters = z.record(z.string(), z.union([scalar, z.array(scalar)], 'must be a text, a number or true/false'));

/** Deeper than that, or not from a JSON text, it is looked at more closely. */
const LOOKED_AT_DEPTH = 50;

/** JSON as it comes from a text. The schema would copy it, and takes ten times as long. */
function isPlainJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth > LOOKED_AT_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isPlainJson(item, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype || Object.hasOwn(value, '__proto__')) return false;
  return Object.values(value).every((item) => isPlainJson(item, depth + 1));
}

type Json = z.infer<ReturnType<typeof z.json>>;

const json = z.union([z.custom<Json>((value) => isPlainJson(value)), z.json()], 'must be JSON');

const headers = z.record(headerName, headerValue).superRefine((record, context) => {
  for (const name of Object.keys(record).filter(framesMessage)) {
    context.addIssue({ code: 'custom', message: `${name} is set by the engine and cannot be given` });
  }
});

const READ_FIELDS = { path, query: parameters.optional(), headers: headers.optional() };

export const readArguments = z.strictObject(READ_FIELDS);

export const mutationArguments = z
  .strictObject({
    ...READ_FIELDS,
    json: json.optional(),
    form: parameters.optional(),
    text: z.string().optional(),
  })
  .superRefine((args, context) => {
    const bodies = (['json', 'form', 'text'] as const).filter((kind) => args[kind] !== undefined);
    if (bodies.length > 1)
      context.addIssue({ code: 'custom', message: `give one of ${bodies.join(' and ')}, not both` });
  });

export type ReadArguments = z.infer<typeof readArguments>;
export type MutationArguments = z.infer<typeof mutationArguments>;
export type Parameters = z.infer<typeof parameters>;
