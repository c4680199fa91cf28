import { lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '#base';
import type { MutationLimits, RecordedCall } from '../connector.ts';
import type { Outcome, Reconciled } from '../outcome.ts';
import type { ChangeArguments } from './arguments.ts';
import type { FilesConnection } from './connection.ts';
import { diskNotDone } from './disk-error.ts';
import { syncFolder, writeAll } from './durable.ts';
import { OWN_PREFIX, placeForChange, realPlace } from './place.ts';
import { timedChange } from './timed-change.ts';

export const writeResult = z.strictObject({ bytes: z.int().min(0) });

/** Puts the whole text in the place of the file, at once: a reader sees the old file or the new one. */
export function writeFile(
  connection: FilesConnection,
  args: ChangeArguments,
  limits: MutationLimits,
): Promise<Outcome> {
  const what = `write of "${args.path}"`;
  return timedChange(what, connection.host.clock, limits, (begin) =>
    connection.inTurn(async () => {
      const { root, journal } = connection;
      const place = await placeForChange(root, args.path);
      const draft = draftPlace(place, limits.idempotencyKey);
      const data = Buffer.from(args.text);
      const intent = { key: limits.idempotencyKey, path: args.path, inode: 0, offset: 0, bytes: data.length };
      try {
        await writeDraft(draft, data, place);
        await journal.record({ ...intent, undone: false });
        begin();
      } catch (error) {
        await unlink(draft).catch(() => undefined);
        throw error;
      }
      try {
        await rename(draft, place);
      } catch (error) {
        // In this order: a draft that is gone means that it has become the file.
        await journal.record({ ...intent, undone: true });
        await unlink(draft).catch(() => undefined);
        return diskNotDone(error, what);
      }
      await syncFolder(dirname(place));
      return { kind: 'applied', result: { bytes: data.length } };
    }),
  );
}

/** The draft, on disk with its name, before the journal speaks of it. */
async function writeDraft(draft: string, data: Buffer, place: string): Promise<void> {
  const before = await lstat(place).catch(() => undefined);
  await unlink(draft).catch(() => undefined);
  const handle = await open(draft, 'wx', 0o666);
  try {
    if (before !== undefined) await handle.chmod(before.mode & 0o777);
    const { error } = await writeAll(handle, data);
    if (error !== undefined) throw error;
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(draft));
}

/** The draft becomes the file by one rename: while it is there nothing happened, when it is gone everything did. */
export async function reconcileWrite(
  { root, journal }: FilesConnection,
  { args, idempotencyKey, startedAt }: RecordedCall<ChangeArguments>,
): Promise<Reconciled> {
  const found = await journal.find(idempotencyKey, startedAt);
  if (found.kind === 'never') return { kind: 'failed' };
  if (found.kind === 'unknown') {
    return { kind: 'retry', message: 'the journal of the folder does not reach back to the call' };
  }
  if (found.intent.undone) return { kind: 'failed' };
  try {
    const folder = await realPlace(root, dirname(args.path));
    const target = await realPlace(root, args.path).catch(() => join(folder, basename(args.path)));
    const draft = draftPlace(target, idempotencyKey);
    const isDraftThere = await lstat(draft).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
    if (isDraftThere) return { kind: 'failed' };
    await syncFolder(dirname(target));
    return { kind: 'applied', result: { bytes: found.intent.bytes } };
  } catch (error) {
    return { kind: 'retry', message: diskNotDone(error, `looking for "${args.path}"`).error.message };
  }
}

function draftPlace(place: string, key: string): string {
  return join(dirname(place), `${OWN_PREFIX}-${sha256(key).slice(0, 24)}.draft`);
}
