import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFailedError } from '#base';
import { folderError } from './failures.ts';

/** Beside the database, from its first whole open on: an empty one in its place is then a loss, and not a beginning. */
const MARK = 'pawl.made';

/**
 * A folder that had a database and has none any more. SQLite would put an empty one there, and producers that remember nothing would
 * find everything anew.
 */
export function refuseGone(dataDir: string, path: string, isEmpty = isMissing(path)): void {
  if (!isEmpty || !existsSync(join(dataDir, MARK))) return;
  throw new StoreFailedError({
    code: 'store-gone',
    message: `${path} is missing or empty, but this folder had a database`,
    why: 'an empty one would not know what has been done already, and would do it again',
    next: [
      { label: 'put it back where it was' },
      {
        label: 'or put the last backup into a new folder, and start there',
        argv: ['pawl', 'restore', 'FILE', '--data', 'FOLDER'],
      },
      { label: 'or, to begin with nothing, name a new data folder' },
    ],
  });
}

export function markMade(dataDir: string): void {
  const mark = join(dataDir, MARK);
  if (existsSync(mark)) return;
  try {
    writeFileSync(mark, 'This folder has a database, pawl.db. Without it an engine will not start here.\n', {
      flush: true,
    });
  } catch (error) {
    throw folderError(error, dataDir);
  }
}

function isMissing(path: string): boolean {
  return !existsSync(path) || statSync(path).size === 0;
}
