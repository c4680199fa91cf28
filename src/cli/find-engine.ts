import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { EngineUnreachableError } from './engine-errors.ts';
import { reachEngine } from './reach-engine.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

export const DATA_FOLDER = 'pawl-data';
export const PORT = 7295;

/** Where a command may have been told to look. */
export interface EngineOptions {
  readonly url?: string;
  readonly data?: string;
}

export interface EngineAddress {
  readonly url: string;
  readonly by: string;
  /** Once the engine has shown that it answers. */
  token(): Promise<string | undefined>;
}

const DEFAULT_URL = `http://127.0.0.1:${PORT}`;

/**
 * The first that is known: a URL, a data folder (which says its engine's URL), the data folder here, the usual port of this
 * machine. The token lies in the data folder, where only its owner can read it.
 */
export async function findEngine(options: EngineOptions, { env }: Terminal): Promise<EngineAddress> {
  const data = options.data ?? (options.url === undefined ? env.PAWL_DATA : undefined);
  const named = options.url ?? (options.data === undefined ? env.PAWL_URL : undefined);
  const url = named === undefined ? await urlOf(data, env.DATABASE_URL !== undefined) : checked(named);
  return {
    url,
    by: personOf(env),
    async token() {
      const itsFolder = await reachEngine(url);
      return env.PAWL_TOKEN ?? (await tokenFor(url, data ?? env.PAWL_DATA, itsFolder));
    },
  };
}

async function urlOf(data: string | undefined, isOfFleet: boolean): Promise<string> {
  const folder = data ?? DATA_FOLDER;
  const url = await textOf(join(folder, 'url'));
  if (url !== undefined) return checked(url);
  if (data === undefined) return DEFAULT_URL;
  throw new EngineUnreachableError({
    where: resolve(folder),
    why: 'no engine runs on this data folder',
    next: [
      isOfFleet
        ? { label: 'start one of its fleet that answers', argv: ['pawl', 'executor', '--data', folder] }
        : { label: 'start one', argv: ['pawl', 'start', '--data', folder] },
    ],
  });
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/\/+$/, '');
  throw new UsageError(`"${url}" is no address of an engine`, `it is read as a URL such as ${DEFAULT_URL}`, [
    { label: 'write it in full', argv: ['pawl', 'status', '--url', meant(url)] },
    { label: 'or leave --url and PAWL_URL out: then the engine of this folder is asked', argv: ['pawl', 'status'] },
  ]);
}

/** Most leave out how it is spoken to. */
function meant(url: string): string {
  return /^[\w.-]+:\d+$/.test(url) && URL.canParse(`http://${url}`) ? `http://${url}` : DEFAULT_URL;
}

/** A folder that does not name this very URL as its engine's does not give its token away. */
async function tokenFor(
  url: string,
  data: string | undefined,
  itsFolder: string | undefined,
): Promise<string | undefined> {
  if (data !== undefined) return textOf(join(data, 'token'));
  if (itsFolder === undefined || (await textOf(join(itsFolder, 'url'))) !== url) return undefined;
  return textOf(join(itsFolder, 'token'));
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    return undefined;
  }
}

/** In whose name commands act. */
export function personOf(env: Terminal['env']): string {
  try {
    return env.PAWL_BY ?? env.USER ?? env.USERNAME ?? userInfo().username;
  } catch {
    return 'operator';
  }
}
