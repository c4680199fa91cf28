import { StoreFailedError, StoreUnavailableError } from '#base';

/** The primary result codes of SQLite that mean something to us. */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const CONSTRAINT = 19;
const NOTADB = 26;

/** Extended: the shared-memory file could not grow, which is a full disk too. */
const IOERR_SHMSIZE = IOERR | (19 << 8);

interface SqliteError extends Error {
  readonly errcode: number;
}

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

export function isConstraint(error: unknown): boolean {
  return isSqliteError(error) && primary(error) === CONSTRAINT;
}

export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && primary(error) === BUSY;
}

function primary(error: SqliteError): number {
  return error.errcode & 0xff;
}

/** What the store says when the database cannot do its work. Anything that is not the database's own error stays what it is. */
export function storeError(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error;
  if (error.errcode === IOERR_SHMSIZE) return full(error, path);
  switch (primary(error)) {
    case FULL:
      return full(error, path);
    case BUSY:
      return new StoreUnavailableError({
        code: 'store-busy',
        message: `${path} is being written by another program, so nothing was written`,
        why: 'it held the database for longer than the time we wait',
        next: [{ label: 'close the program that has the database open; a running Pawl then goes on by itself' }],
        retryable: true,
        cause: error,
      });
    case READONLY:
      return new StoreUnavailableError({
        code: 'store-read-only',
        message: `${path} cannot be written, so nothing was written`,
        why: 'the file or its folder is read-only',
        next: [{ label: 'make the data folder writable; a running Pawl then goes on by itself' }],
        retryable: true,
        cause: error,
      });
    case NOTADB:
      return failed(
        'store-not-a-database',
        `${path} is not a database`,
        'its first bytes are not those of SQLite',
        error,
      );
    case CORRUPT:
      return failed('store-corrupt', `${path} is damaged`, 'pages of it contradict each other or are missing', error);
    case CANTOPEN:
      return new StoreFailedError({
        code: 'store-cannot-open',
        message: `${path} cannot be opened`,
        why: 'the folder or the file is missing, or may not be read or written',
        next: [{ label: 'check that the data folder exists and belongs to the user Pawl runs as' }],
        cause: error,
      });
    default:
      return failed(
        'store-failed',
        `${path} failed: ${error.message}`,
        'the operating system or SQLite reported an error',
        error,
      );
  }
}

function full(cause: Error, path: string): StoreUnavailableError {
  return new StoreUnavailableError({
    code: 'store-full',
    message: `there is no space left for ${path}, so nothing was written`,
    why: 'the disk is full',
    next: [{ label: 'free some space; a running Pawl then goes on by itself' }],
    retryable: true,
    cause,
  });
}

function failed(code: string, message: string, why: string, cause: Error): StoreFailedError {
  return new StoreFailedError({
    code,
    message,
    why,
    next: [{ label: 'keep the data folder as it is for a look, and start from a copy or from the last backup' }],
    cause,
  });
}

/** The same for what the file system says before there is a database. */
export function folderError(error: unknown, path: string): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOSPC' || code === 'EDQUOT') return full(error as Error, path);
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new StoreFailedError({
      code: 'store-not-a-folder',
      message: `${path} is not a folder, so no data can be kept there`,
      why: 'there is a file where the data folder should be',
      next: [{ label: 'name another data folder, or move that file away' }],
      cause: error,
    });
  }
  return new StoreFailedError({
    code: 'store-cannot-open',
    message: `${path} cannot be made`,
    why: error instanceof Error ? error.message : String(error),
    next: [{ label: 'make the folder above it writable, or name another data folder' }],
    cause: error,
  });
}
