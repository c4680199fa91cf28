import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** A new or renamed name lasts only once its folder is on disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes everything; when that fails, says how much of it went in. */
export async function writeAll(handle: FileHandle, data: Buffer): Promise<{ written: number; error?: unknown }> {
  let written = 0;
  while (written < data.length) {
    try {
      const { bytesWritten } = await handle.write(data, written, data.length - written, null);
      written += bytesWritten;
    } catch (error) {
      return { written, error };
    }
  }
  return { written };
}
