import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { NotDoneError, notDone } from '../outcome.ts';

/** Names that begin so are the engine's own: hidden from lists, refused in calls. */
export const OWN_PREFIX = '.pawl';

/** The folder of a connection as the disk knows it, with no link in it. */
export async function realRoot(root: string): Promise<string> {
  try {
    return await realpath(root);
  } catch (cause) {
    throw new NotDoneError(notDone('transient', `the folder ${root} of the connection cannot be reached`), { cause });
  }
}

/** Where a path inside the root really leads; refused when links lead it out of the root. */
export async function realPlace(root: string, path: string): Promise<string> {
  const rooted = await realRoot(root);
  const real = await realpath(join(rooted, path));
  assertInside(rooted, real, path);
  return real;
}

/** Where a file is or will be, its folders made if need be. */
export async function placeForChange(root: string, path: string): Promise<string> {
  await mkdir(root, { recursive: true });
  const rooted = await realRoot(root);
  const folder = await makeFolder(rooted, dirname(path), path);
  const place = join(folder, basename(path));
  const there = await lstat(place).catch(nothingThere);
  if (there === undefined) return place;
  if (there.isSymbolicLink()) {
    const real = await realpath(place).catch(nothingThere);
    if (real === undefined) throw new NotDoneError(notDone('logic', `"${path}" is a link that leads nowhere`));
    assertInside(rooted, real, path);
    await assertRegular(real, path);
    return real;
  }
  await assertRegular(place, path);
  return place;
}

/** Opens a regular file, and nothing else: no link at the end, and never waiting for a pipe or a device. */
export async function openRegular(place: string, flags: number, path: string): Promise<FileHandle> {
  await assertRegular(place, path, (flags & constants.O_CREAT) !== 0);
  const handle = await open(place, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o666);
  const stats = await handle.stat();
  if (stats.isFile()) return handle;
  await handle.close();
  throw new NotDoneError(notDone('logic', `"${path}" is not a plain file`));
}

/** Makes the folders one by one, so that a link among them is seen before anything is made behind it. */
async function makeFolder(rooted: string, folder: string, path: string): Promise<string> {
  let real = rooted;
  for (const segment of folder.split('/').filter((part) => part !== '' && part !== '.')) {
    const next = join(real, segment);
    await mkdir(next).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    real = await realpath(next);
    assertInside(rooted, real, path);
  }
  return real;
}

async function assertRegular(place: string, path: string, mayBeMissing = false): Promise<void> {
  const stats = mayBeMissing ? await lstat(place).catch(nothingThere) : await lstat(place);
  if (stats === undefined || stats.isFile()) return;
  const what = stats.isDirectory() ? 'a folder' : 'a device, a pipe or another thing';
  throw new NotDoneError(notDone('logic', `"${path}" is ${what}, not a plain file`));
}

function assertInside(rooted: string, real: string, path: string): void {
  const prefix = rooted.endsWith(sep) ? rooted : rooted + sep;
  if (real === rooted || real.startsWith(prefix)) return;
  throw new NotDoneError(notDone('logic', `"${path}" leads by a link out of the connection's folder`));
}

function nothingThere(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
