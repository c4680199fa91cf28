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
    json: z.json('must be JSON').optional(),
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
