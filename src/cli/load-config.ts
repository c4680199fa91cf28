import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nearest, PawlError } from '#base';
import type { Config } from '#sdk';

export const CONFIG_FILE = 'pawl.config.ts';

export interface LoadedConfig {
  readonly config: { readonly [K in keyof Config]?: unknown };
  /** Where its relative paths begin. */
  readonly folder: string;
  /** Undefined: there is none, and none was named. */
  readonly file: string | undefined;
}

/** What the config file exports; checked further where the connections are opened. */
export async function loadConfig(named: string | undefined): Promise<LoadedConfig> {
  const file = resolve(named ?? CONFIG_FILE);
  if (!existsSync(file)) {
    if (named === undefined) return { config: {}, folder: dirname(file), file: undefined };
    throw new PawlError({
      code: 'config-missing',
      message: `there is no config file ${file}`,
      why: 'connections and credentials are read from it',
      next: [{ label: `name another with --config, or write one: export default defineConfig({ connections: {} })` }],
    });
  }
  const exported = defaultOf(await imported(file));
  if (typeof exported !== 'object' || exported === null) {
    throw new PawlError({
      code: 'config-invalid',
      message: `${file} exports no config`,
      why: `its default export is ${exported === undefined ? 'missing' : 'not an object'}`,
      next: [{ label: 'write export default defineConfig({ connections: { … } })' }],
    });
  }
  mustKnowAll(file, Object.keys(exported));
  return { config: exported, folder: dirname(file), file };
}

const PARTS: Readonly<Record<keyof Config, true>> = {
  connections: true,
  http: true,
  fleet: true,
  retention: true,
  notify: true,
  secrets: true,
};

/** What is misspelt would count for nothing, without a word. */
function mustKnowAll(file: string, names: readonly string[]): void {
  const parts = Object.keys(PARTS);
  const unknown = names.find((name) => !parts.includes(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, parts);
  throw new PawlError({
    code: 'config-invalid',
    message: `${file} has ${JSON.stringify(unknown.slice(0, 100))}, which is no part of a config`,
    why: near === undefined ? `its parts are ${parts.join(', ')}` : `did you mean "${near}"?`,
    next: [{ label: 'correct its name, or take it out: it would count for nothing' }],
  });
}

/** `import … from 'pawl'` means this Pawl, wherever the config lies. */
function knowPawl(): { deregister(): void } {
  const sdk = import.meta.resolve('#sdk');
  return registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'pawl' ? { url: sdk, shortCircuit: true } : next(specifier, context),
  });
}

async function imported(file: string): Promise<unknown> {
  const hooks = knowPawl();
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    hooks.deregister();
  }
}

function unreadable(file: string, error: unknown): PawlError {
  return new PawlError({
    code: 'config-invalid',
    message: `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    why: placeIn(file, error) ?? 'the file is run as it is, and this is what it threw',
    next: [{ label: 'mend the file, and start again' }],
    cause: error,
  });
}

/** The first place of the stack that lies in the file itself. */
function placeIn(file: string, error: unknown): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const at = stack.indexOf(file);
  const [line] = at < 0 ? [] : (/^(?::\d+)+/.exec(stack.slice(at + file.length)) ?? []);
  return line === undefined ? undefined : `it was thrown at ${file}${line}`;
}

function defaultOf(module: unknown): unknown {
  return typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
}
