import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { folderError } from './failures.ts';

/** What is kept there is its owner's: payloads, states, what was delivered. */
const OWNER_ONLY = 0o700;

/**
 * A folder, with those above it that are missing. One after the other: where nothing can be made at all (below /proc), Node's own way to
 * make all of them tries for ever.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.unshift(path);
  try {
    for (const path of missing) mkdirSync(path, { mode: OWNER_ONLY });
    // Also one that is there may be no folder.
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw folderError(error, folder);
  }
}
