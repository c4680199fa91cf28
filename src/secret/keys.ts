import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { KEY_BYTES, type MasterKey, masterKey } from './box.ts';
import { keyFileText, replaceKeyFile, writeKeyFile } from './key-file.ts';
import { KeyUnavailableError } from './key-unavailable.ts';

/** Where the master key is: `secrets` of the config. */
const SETTINGS = z
  .strictObject({
    /** A file with the key, which only its owner may read; relative to the config file. */
    keyFile: z.string().min(1).max(4_096).optional(),
    /** A program that prints the key, such as the one of the system's keychain, and its arguments. */
    keyCommand: z.array(z.string().min(1).max(4_096)).min(1).max(50).optional(),
  })
  .refine((given) => given.keyFile === undefined || given.keyCommand === undefined, 'name one of both');

export interface KeySettings {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `secrets` of the config. */
  readonly config?: unknown;
  /** Where relative paths of the config begin. */
  readonly baseFolder?: string;
}

/** The master keys that this engine can get at. Asked at each use, so that none of them stays longer than it is needed. */
export interface MasterKeys {
  /** The one that is in use; undefined where none was ever made. */
  current(): Promise<MasterKey | undefined>;
  /** One that was made, and is not in use unless something was sealed with it before whoever made it died. */
  coming(): Promise<MasterKey | undefined>;
  /** Those that were in use before. */
  earlier(): Promise<readonly MasterKey[]>;
  /** Makes the first one; only where nobody else keeps it. */
  make(): Promise<MasterKey>;
  /** A new one, kept beside the old one until `adopt`; undefined where somebody else keeps the key and has to change it. */
  prepare(): Promise<MasterKey | undefined>;
  /** The new one is in use from now on; the one before stays, for backups that were made with it. */
  adopt(): void;
  /** Where it is, for people. */
  readonly place: string;
}

const COMMAND_MS_MAX = 30_000;
const KEY_FILE = 'master.key';
const CURRENT = 'PAWL_MASTER_KEY';
const OLD = 'PAWL_MASTER_KEY_OLD';
const FILE = 'PAWL_MASTER_KEY_FILE';

/**
 * From the environment, a file, or a program that prints it; a file in the data folder where nothing is said. What the environment holds is
 * looked at now: files and programs are for later, and may be mended meanwhile.
 */
export function masterKeys({ dataDir, env, config, baseFolder = '.' }: KeySettings): MasterKeys {
  const parsed = SETTINGS.safeParse(config ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `secrets${path.map((p) => `.${String(p)}`).join('')}: ${message}`,
    );
    throw unusable(`the config cannot be used: ${problems.join('; ')}`, 'it says where the master key is', [
      'correct secrets in the config and start again',
    ]);
  }
  const { keyFile, keyCommand } = parsed.data;
  for (const name of [CURRENT, OLD]) if (env[name] !== undefined) keyFrom(env[name], `the variable ${name}`);
  const old = async (): Promise<readonly MasterKey[]> => {
    const text = env[OLD];
    return text === undefined ? [] : [keyFrom(text, `the variable ${OLD}`)];
  };
  if (env[CURRENT] !== undefined) return keptElsewhere(`the variable ${CURRENT}`, async () => env[CURRENT] ?? '', old);
  if (env[FILE] !== undefined) return keptInFile(resolve(env[FILE]), old);
  if (keyCommand !== undefined)
    return keptElsewhere(
      `the command ${keyCommand[0]}`,
      remembered(() => printedBy(keyCommand)),
      old,
    );
  return keptInFile(keyFile === undefined ? join(resolve(dataDir), KEY_FILE) : resolve(baseFolder, keyFile), old);
}

function keptInFile(file: string, old: () => Promise<readonly MasterKey[]>): MasterKeys {
  const next = `${file}.next`;
  const former = `${file}.old`;
  const read = (from: string): MasterKey | undefined => {
    const text = keyFileText(from);
    return text === undefined ? undefined : keyFrom(text, from);
  };
  const write = (to: string): MasterKey => {
    const bytes = randomBytes(KEY_BYTES);
    writeKeyFile(to, `${bytes.toString('base64')}\n`);
    return masterKey(bytes);
  };
  return {
    place: file,
    current: async () => read(file),
    coming: async () => read(next),
    async earlier() {
      const before = read(former);
      return [...(before ? [before] : []), ...(await old())];
    },
    make: async () => write(file),
    prepare: async () => write(next),
    adopt() {
      const before = keyFileText(file);
      if (before !== undefined) writeKeyFile(former, before);
      replaceKeyFile(file, next);
    },
  };
}

/** Whoever keeps it there also makes it and changes it. */
function keptElsewhere(
  place: string,
  text: () => Promise<string>,
  old: () => Promise<readonly MasterKey[]>,
): MasterKeys {
  const current = async (): Promise<MasterKey> => keyFrom(await text(), place);
  return {
    place,
    current,
    coming: async () => undefined,
    earlier: old,
    make: current,
    prepare: async () => undefined,
    adopt: () => undefined,
  };
}

/** A keychain may ask a person, so it is not asked at every call. */
const COMMAND_KEPT_MS = 60_000;

function remembered(ask: () => Promise<string>): () => Promise<string> {
  let kept: { readonly text: string; readonly at: number } | undefined;
  return async () => {
    if (kept !== undefined && performance.now() - kept.at < COMMAND_KEPT_MS) return kept.text;
    kept = { text: await ask(), at: performance.now() };
    return kept.text;
  };
}

async function printedBy([program = '', ...args]: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { timeout: COMMAND_MS_MAX, maxBuffer: 64 * 1_024 });
    return stdout;
  } catch (error) {
    // Its own words may hold what it was to print.
    const code = error instanceof Error && 'code' in error ? `${error.code}` : 'no code';
    throw unusable(
      `the master key cannot be had: ${program} failed (${code})`,
      'the config says that it prints the key',
      ['run the command of secrets.keyCommand yourself, and mend what is wrong'],
    );
  }
}

const IN_HEX = /^[0-9a-f]{64}$/i;
const IN_BASE64 = /^[\w+/-]{43}=?$/;

function keyFrom(text: string, place: string): MasterKey {
  const trimmed = text.trim();
  if (IN_HEX.test(trimmed)) return masterKey(Buffer.from(trimmed, 'hex'));
  if (IN_BASE64.test(trimmed)) return masterKey(Buffer.from(trimmed, 'base64'));
  throw unusable(
    `${place} holds no master key`,
    `a key is ${KEY_BYTES} bytes, written as 64 hex digits or 44 characters of base64`,
    ['put the right key back, or make one where there was none: openssl rand -hex 32'],
  );
}

function unusable(message: string, why: string, next: readonly string[]): KeyUnavailableError {
  return new KeyUnavailableError({ code: 'key-unavailable', message, why, next: next.map((label) => ({ label })) });
}
