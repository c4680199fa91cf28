import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { MutationLimits, RecordedCall } from '../connector.ts';
import type { Outcome, Reconciled } from '../outcome.ts';
import type { ChangeArguments } from './arguments.ts';
import type { FilesConnection } from './connection.ts';
import { diskNotDone, diskWords } from './disk-error.ts';
import { syncFolder, writeAll } from './durable.ts';
import type { Intent } from './journal.ts';
import { openRegular, placeForChange, realPlace } from './place.ts';
import { timedChange } from './timed-change.ts';

const SEARCHED_BYTES_MAX = 64 * 1024 * 1024;

export const appendResult = z.strictObject({ offset: z.int().min(0), bytes: z.int().min(0).optional() });

export function appendFile(
  connection: FilesConnection,
  args: ChangeArguments,
  limits: MutationLimits,
): Promise<Outcome> {
  const what = `append to "${args.path}"`;
  return timedChange(what, connection.host.clock, limits, (begin) =>
    connection.inTurn(async () => {
      const place = await placeForChange(connection.root, args.path);
      const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
      const handle = await openRegular(place, flags, args.path);
      try {
        const { size, ino } = await handle.stat();
        // The name is durable before the intent is: a file that is missing later was removed, not never made.
        if (size === 0) await syncFolder(dirname(place));
        const data = Buffer.from(args.text);
        const intent = { key: limits.idempotencyKey, path: args.path, inode: ino, offset: size, bytes: data.length };
        await connection.journal.record({ ...intent, undone: false });
        begin();
        return await appendTo(handle, data, what, { ...intent, undone: true }, connection);
      } finally {
        await handle.close();
      }
    }),
  );
}

async function appendTo(
  handle: FileHandle,
  data: Buffer,
  what: string,
  undone: Intent,
  { journal }: FilesConnection,
): Promise<Outcome> {
  const { written, error } = await writeAll(handle, data);
  if (error === undefined) {
    await handle.sync();
    return { kind: 'applied', result: { offset: undone.offset, bytes: data.length } };
  }
  if (!(await takeBack(handle, undone.offset, written))) {
    const message = `${what} stopped after ${written} of ${data.length} bytes: ${diskWords(error)}`;
    return { kind: 'uncertain', message, callEnded: true };
  }
  // A full disk has no room for this line either; the content says the same.
  await journal.record(undone).catch(() => undefined);
  return diskNotDone(error, what);
}

/** Removes the part of a text that went in before the disk was full. Not if another program has written behind it. */
async function takeBack(handle: FileHandle, offset: number, written: number): Promise<boolean> {
  if (written === 0) return true;
  try {
    const { size } = await handle.stat();
    if (size !== offset + written) return false;
    await handle.truncate(offset);
    await handle.sync();
    return true;
  } catch {
    return false;
  }
}

/** Whether the text stands where the journal says it was about to be put. */
export async function reconcileAppend(
  connection: FilesConnection,
  { args, idempotencyKey, startedAt }: RecordedCall<ChangeArguments>,
): Promise<Reconciled> {
  const found = await connection.journal.find(idempotencyKey, startedAt);
  if (found.kind === 'never') return { kind: 'failed' };
  if (found.kind === 'unknown') return unclear('the journal of the folder does not reach back to the call');
  const { intent, later } = found;
  if (intent.undone) return { kind: 'failed' };
  // A later change of the same file that found it no longer than before proves that nothing was put there.
  const same = later.filter((other) => other.path === intent.path && other.inode === intent.inode);
  if (same.some((other) => other.offset <= intent.offset)) return { kind: 'failed' };
  let handle: FileHandle;
  try {
    handle = await openRegular(await realPlace(connection.root, args.path), constants.O_RDONLY, args.path);
  } catch (error) {
    const { message } = diskNotDone(error, `looking into "${args.path}"`).error;
    return unclear(message);
  }
  try {
    return await judge(handle, Buffer.from(args.text), intent);
  } finally {
    await handle.close();
  }
}

async function judge(handle: FileHandle, text: Buffer, { offset, inode }: Intent): Promise<Reconciled> {
  const { size, ino } = await handle.stat();
  if (ino !== inode) return unclear('the file was replaced by another since');
  if (size < offset) return unclear('the file was cut shorter since');
  if (size === offset) return { kind: 'failed' };
  if (size - offset > SEARCHED_BYTES_MAX) return unclear('the file has grown too much since to be searched');
  const tail = Buffer.alloc(size - offset);
  await handle.read(tail, 0, tail.length, offset);
  if (tail.subarray(0, text.length).equals(text)) {
    await handle.sync();
    return { kind: 'applied', result: { offset, bytes: text.length } };
  }
  if (tail.includes(text)) return unclear('the text stands in the file, but not where it was to be put');
  if (text.subarray(0, tail.length).equals(tail))
    return unclear(`only the first ${tail.length} bytes of the text are there`);
  return { kind: 'failed' };
}

function unclear(message: string): Reconciled {
  return { kind: 'retry', message };
}
