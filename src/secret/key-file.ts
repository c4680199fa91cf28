import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { KeyUnavailableError } from './key-unavailable.ts';

/** What the file holds; undefined when there is none. One that others may read is refused: its key is not theirs to know. */
export function keyFileText(file: string): string | undefined {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw unreadable(file, cause);
  }
  try {
    const isOpenToOthers = process.platform !== 'win32' && (fstatSync(handle).mode & 0o077) !== 0;
    if (isOpenToOthers) throw openToOthers(file);
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

/** Whole and on the disk before the name appears. */
export function writeKeyFile(file: string, text: string): void {
  const unfinished = `${file}.unfinished`;
  mkdirSync(dirname(file), { recursive: true });
  rmSync(unfinished, { force: true });
  const handle = openSync(unfinished, 'wx', 0o600);
  try {
    fchmodSync(handle, 0o600);
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  replaceKeyFile(file, unfinished);
}

/** The second one takes the place of the first, in one step. */
export function replaceKeyFile(file: string, by: string): void {
  renameSync(by, file);
  syncFolder(dirname(file));
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function openToOthers(file: string): KeyUnavailableError {
  return new KeyUnavailableError({
    code: 'key-unavailable',
    message: `the master key ${file} is not used`,
    why: 'others than its owner may read it',
    next: [{ label: 'take their rights away', argv: ['chmod', '600', file] }],
  });
}

function unreadable(file: string, cause: unknown): KeyUnavailableError {
  return new KeyUnavailableError({
    code: 'key-unavailable',
    message: `the master key ${file} cannot be read`,
    why: cause instanceof Error ? cause.message : String(cause),
    next: [{ label: 'let the user of the engine read it, and nobody else' }],
    cause,
  });
}
