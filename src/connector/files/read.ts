import { constants } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { NotDoneError, notDone, type ReadOutcome } from '../outcome.ts';
import type { ListArguments, ReadArguments } from './arguments.ts';
import type { FilesConnection } from './connection.ts';
import { OWN_PREFIX, openRegular, realPlace } from './place.ts';

const ENTRIES_MAX = 10_000;

interface Entry {
  readonly name: string;
  readonly size: number;
  readonly modifiedAt: number;
  readonly kind: 'file' | 'folder';
}

/** The plain files of a folder, by name; folders too when asked. Links out of the root, devices and pipes are left out. */
export async function listFolder({ root }: FilesConnection, { dir, folders }: ListArguments): Promise<ReadOutcome> {
  const place = await realPlace(root, dir);
  const names = (await readdir(place)).filter((name) => !name.startsWith(OWN_PREFIX)).sort();
  if (names.length > ENTRIES_MAX) {
    throw new NotDoneError(
      notDone('logic', `"${dir}" holds ${names.length} entries, more than the ${ENTRIES_MAX} a list may have`),
    );
  }
  const entries: Entry[] = [];
  for (const name of names) {
    const entry = await entryOf(root, dir, place, name);
    if (entry !== undefined && (folders || entry.kind === 'file')) entries.push(entry);
  }
  return { kind: 'answered', result: entries };
}

async function entryOf(root: string, dir: string, place: string, name: string): Promise<Entry | undefined> {
  try {
    const own = await lstat(join(place, name));
    const stats = own.isSymbolicLink() ? await stat(await realPlace(root, `${dir}/${name}`)) : own;
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    const kind = stats.isFile() ? 'file' : 'folder';
    return { name, size: stats.isFile() ? stats.size : 0, modifiedAt: Math.trunc(stats.mtimeMs), kind };
  } catch (error) {
    // It was removed meanwhile, or is a link that leads out or nowhere.
    if (error instanceof NotDoneError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function readText({ root, config }: FilesConnection, args: ReadArguments): Promise<ReadOutcome> {
  const { path, encoding } = args;
  const handle = await openRegular(await realPlace(root, path), constants.O_RDONLY, path);
  try {
    const { size } = await handle.stat();
    // One byte more than allowed shows a file that grew, or that has no size of its own (/proc).
    const data = Buffer.alloc(Math.min(config.readBytesMax, Math.max(size, 64 * 1024)) + 1);
    let length = 0;
    while (length < data.length) {
      const { bytesRead } = await handle.read(data, length, data.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > config.readBytesMax || size > config.readBytesMax) {
      throw new NotDoneError(
        notDone('logic', `"${path}" is larger than the ${config.readBytesMax} bytes that may be read`),
      );
    }
    return { kind: 'answered', result: textOf(data.subarray(0, length), encoding, path) };
  } finally {
    await handle.close();
  }
}

function textOf(data: Buffer, encoding: ReadArguments['encoding'], path: string): string {
  if (encoding === 'base64') return data.toString('base64');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch (cause) {
    throw new NotDoneError(notDone('logic', `"${path}" is not UTF-8 text; read it with encoding: 'base64'`), { cause });
  }
}
