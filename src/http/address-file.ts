import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A process on this machine answers at once, or not at all. */
const ANSWER_MS_MAX = 1_000;

export interface AddressFile {
  /** Who has the folder already, and is who commands find. */
  readonly others: string | undefined;
  remove(): void;
}

/**
 * Where commands find the engine of a data folder. Of executors that share one the first stays in it, and nobody takes another's
 * address away; when it ends, commands find none of them.
 */
export async function keepAddress(dataDir: string, url: string): Promise<AddressFile> {
  const file = join(dataDir, 'url');
  const before = textOf(file);
  // At our own address it can only be ourselves who answers.
  const isOthers = before !== undefined && before !== url && (await isServed(before, dataDir));
  if (!isOthers) writeFileSync(file, `${url}\n`);
  return {
    others: isOthers ? before : undefined,
    remove() {
      if (textOf(file) === url) rmSync(file, { force: true });
    },
  };
}

async function isServed(url: string, dataDir: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return ((await answer.json()) as { dataDir?: unknown }).dataDir === dataDir;
  } catch {
    // Left behind by one that was killed.
    return false;
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
