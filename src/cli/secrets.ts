import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** `secret('shop-token')` is the variable PAWL_SECRET_SHOP_TOKEN, or the file DATA/secrets/shop-token; read at each use. */
export function secretSource(dataDir: string, env: Environment): (name: string) => Promise<string | undefined> {
  return async (name) => env[variableOf(name)] ?? (await fileOf(dataDir, name));
}

function variableOf(name: string): string {
  return `PAWL_SECRET_${name.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase()}`;
}

async function fileOf(dataDir: string, name: string): Promise<string | undefined> {
  if (!/^[\w-][\w.-]*$/.test(name)) return undefined;
  try {
    return (await readFile(join(dataDir, 'secrets', name), 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
