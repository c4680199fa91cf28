import { type ErrorClass, type NotDone, NotDoneError, notDone } from '../outcome.ts';

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  EACCES: 'permission',
  EPERM: 'permission',
  EROFS: 'permission',
  ENOENT: 'logic',
  ENOTDIR: 'logic',
  EISDIR: 'logic',
  ELOOP: 'logic',
  ENAMETOOLONG: 'logic',
  EFBIG: 'logic',
  EINVAL: 'logic',
};

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'the engine may not do that there',
  EPERM: 'the engine may not do that there',
  EROFS: 'the disk is read-only',
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
};

/** What a disk's error means when nothing was changed: a full or failing disk may be mended, so it is transient. */
export function diskNotDone(error: unknown, what: string): NotDone {
  if (error instanceof NotDoneError) return error.outcome;
  const code = codeOf(error);
  if (code === undefined) throw error;
  return notDone(CLASSES[code] ?? 'transient', `${what} was not done: ${diskWords(error)}`);
}

export function diskWords(error: unknown): string {
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error ? error.message : `${error}`;
  return `${WORDS[code] ?? 'the disk reported an error'} (${code})`;
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code !== undefined && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
