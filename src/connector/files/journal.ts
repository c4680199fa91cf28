import { constants } from 'node:fs';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '#base';
import { syncFolder } from './durable.ts';
import { OWN_PREFIX } from './place.ts';

// What is about to be done to which file, on disk before it is done. Afterwards the content alone could not tell a
// line that was appended from an equal one that stood there before.

const JOURNAL_BYTES_MAX = 4 * 1024 * 1024;

const entrySchema = z.object({
  key: z.string(),
  path: z.string(),
  inode: z.number(),
  offset: z.number(),
  bytes: z.number(),
  /** It was not done after all. */
  undone: z.boolean(),
});
const lineSchema = z.union([entrySchema, z.object({ since: z.number() })]);

export type Intent = z.infer<typeof entrySchema>;

type Found =
  | { readonly kind: 'intent'; readonly intent: Intent; readonly later: readonly Intent[] }
  /** The call was never begun. */
  | { readonly kind: 'never' }
  /** The journal does not reach back to the call, or is not there. */
  | { readonly kind: 'unknown' };

export interface Journal {
  /** Makes the journal, so that from now on a missing entry means that nothing was begun. */
  create(): Promise<void>;
  record(intent: Intent): Promise<void>;
  find(key: string, startedAt: number): Promise<Found>;
}

export function openJournal(root: string, clock: Clock): Journal {
  const folder = join(root, OWN_PREFIX);
  const current = join(folder, 'journal');
  const previous = join(folder, 'journal.old');
  let created = false;

  async function append(line: object): Promise<void> {
    const handle = await open(current, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
    try {
      // A line that a crash cut off ends here, and does not spoil the next.
      await handle.appendFile(`\n${JSON.stringify(line)}\n`);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }

  async function start(): Promise<void> {
    await append({ since: clock.now() });
    await syncFolder(folder);
  }

  async function create(): Promise<void> {
    if (created && (await exists(current))) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // It is there from its first line on: whoever died between making the file and writing that has made nothing.
    if (!(await readLines(current)).some((line) => 'since' in line)) {
      await start();
      await syncFolder(root);
      await syncFolder(dirname(root));
    }
    created = true;
  }

  async function rotateIfLarge(): Promise<void> {
    const { size } = await stat(current);
    if (size < JOURNAL_BYTES_MAX) return;
    await rename(current, previous);
    await start();
  }

  return {
    create,
    async record(intent) {
      await create();
      await rotateIfLarge();
      await append(intent);
    },
    async find(key, startedAt) {
      const lines = [...(await readLines(previous)), ...(await readLines(current))];
      const since = lines.find((line) => 'since' in line)?.since;
      const intents = lines.filter((line) => 'key' in line);
      const index = intents.findLastIndex((intent) => intent.key === key);
      const intent = intents[index];
      if (intent !== undefined) return { kind: 'intent', intent, later: intents.slice(index + 1) };
      return since !== undefined && since <= startedAt ? { kind: 'never' } : { kind: 'unknown' };
    },
  };
}

type Line = z.infer<typeof lineSchema>;

async function readLines(file: string): Promise<Line[]> {
  if (!(await exists(file))) return [];
  const text = await readFile(file, 'utf8');
  return text.split('\n').flatMap((line) => {
    const parsed = lineSchema.safeParse(parse(line));
    return parsed.success ? [parsed.data] : [];
  });
}

/** A line that a crash cut off was never relied on. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
