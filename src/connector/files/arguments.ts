import { z } from 'zod';
import { OWN_PREFIX } from './place.ts';

const PATH_LENGTH_MAX = 4096;

const relativePath = z
  .string()
  .max(PATH_LENGTH_MAX)
  .superRefine((path, context) => {
    const problem = problemOfPath(path);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

function problemOfPath(path: string): string | undefined {
  const shown = JSON.stringify(path);
  if (path.includes('\0')) return `${shown} holds a NUL character`;
  if (path.includes('\\')) return `${shown} holds a backslash; folders are separated by "/"`;
  if (path.startsWith('/') || /^[a-z]:/i.test(path))
    return `${shown} is absolute; give a path inside the connection's folder`;
  const segments = path.split('/');
  if (segments.includes('..')) return `${shown} must not hold "..": it would leave the connection's folder`;
  if (segments.some((segment) => segment.startsWith(OWN_PREFIX))) return `${shown} is kept for the engine's own use`;
  return undefined;
}

const filePath = relativePath.refine(
  (path) => !['', '.'].includes(path.split('/').at(-1) ?? ''),
  "must name a file inside the connection's folder",
);

export const listArguments = z.strictObject({
  dir: relativePath.default('.'),
  /** Also name the folders in it. */
  folders: z.boolean().default(false),
});
export const readArguments = z.strictObject({ path: filePath, encoding: z.enum(['utf8', 'base64']).default('utf8') });
export const changeArguments = z.strictObject({ path: filePath, text: z.string() });
export const appendArguments = z.strictObject({ path: filePath, text: z.string().min(1, 'must not be empty') });

export type ListArguments = z.infer<typeof listArguments>;
export type ReadArguments = z.infer<typeof readArguments>;
export type ChangeArguments = z.infer<typeof changeArguments>;
