import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFailedError } from '#base';
import { folderError } from './failures.ts';

/** Beside the database, from just before its copy is kept elsewhere: what both have pending would be sent by both. */
const MARK = 'pawl.moved';

/** Before the copy is committed: whoever dies in between leaves a folder that asks, and not two that work. */
export function markMoved(dataDir: string, to: string): void {
  try {
    writeFileSync(join(dataDir, MARK), `${to}\n`, { flush: true });
  } catch (error) {
    throw folderError(error, dataDir);
  }
}

export function unmarkMoved(dataDir: string): void {
  rmSync(join(dataDir, MARK), { force: true });
}

/** Where its data is now; undefined where it is still here. */
export function movedTo(dataDir: string): string | undefined {
  const mark = join(dataDir, MARK);
  return existsSync(mark) ? readFileSync(mark, 'utf8').trim() : undefined;
}

export function refuseMoved(dataDir: string): void {
  const to = movedTo(dataDir);
  if (to === undefined) return;
  throw new StoreFailedError({
    code: 'store-moved',
    message: `the data of ${dataDir} was moved to ${to.slice(0, 200)}`,
    why: 'what both have pending would be sent by both',
    next: [
      { label: 'start with that database: DATABASE_URL=… pawl start --data ANOTHER-FOLDER' },
      {
        label: 'or, if no engine was ever started on it, go back to the folder',
        argv: ['pawl', 'migrate-store', '--back', '--data', dataDir, '--to', `postgres://USER:PASSWORD@${to}`],
      },
    ],
  });
}
