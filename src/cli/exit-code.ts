import { PawlError, RefusedError } from '#base';
import { EngineAnswerError, EngineUnreachableError } from './engine-errors.ts';
import { UsageError } from './usage-error.ts';

/** What a command ends with; scripts rely on these numbers. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  invalidScript: 3,
  notFound: 4,
  conflict: 5,
  needsPerson: 6,
  unreachable: 7,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const OF_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  404: EXIT.notFound,
  409: EXIT.conflict,
  422: EXIT.invalidScript,
};

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof EngineAnswerError) return OF_STATUS[error.status] ?? EXIT.failed;
  if (error instanceof EngineUnreachableError) return EXIT.unreachable;
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof RefusedError) return error.code === 'not-found' ? EXIT.notFound : EXIT.conflict;
  if (!(error instanceof PawlError)) return EXIT.failed;
  if (error.code === 'script-invalid') return EXIT.invalidScript;
  if (MISSING.has(error.code)) return EXIT.notFound;
  if (CONFLICTS.has(error.code)) return EXIT.conflict;
  return EXIT.failed;
}

/** Something stands where the command wanted to go: another process, another file, other rows. */
const CONFLICTS = new Set([
  'store-locked',
  'store-moved',
  'port-taken',
  'backup-exists',
  'folder-not-empty',
  'target-not-empty',
]);

/** A file or folder that was named is not there. */
const MISSING = new Set(['file-missing', 'config-missing', 'backup-missing', 'source-missing']);
