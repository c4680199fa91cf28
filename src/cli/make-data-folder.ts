import { mkdirSync } from 'node:fs';
import { StoreFailedError } from '#base';

/** For a process whose tables are elsewhere; where they are in the folder, the store makes it and says the same. */
export function makeDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

function unusable(folder: string, cause: unknown): StoreFailedError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new StoreFailedError({
      code: 'store-not-a-folder',
      message: `${folder} is not a folder, so no data can be kept there`,
      why: 'there is a file where the data folder should be',
      next: [{ label: 'name a folder with --data or PAWL_DATA, or move that file away' }],
      cause,
    });
  }
  return new StoreFailedError({
    code: 'store-cannot-open',
    message: `${folder} cannot be made`,
    why: cause instanceof Error ? cause.message : String(cause),
    next: [{ label: 'make the folder above it writable, or name another with --data or PAWL_DATA' }],
    cause,
  });
}
