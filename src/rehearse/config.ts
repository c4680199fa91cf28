import { join } from 'node:path';

interface Config {
  readonly connections?: unknown;
}

/** Connections that the script uses and the config does not have, as plain ones that lead nowhere; and what to say about them. */
export function withMissing(
  config: Config,
  uses: Readonly<Record<string, string>>,
  root: string,
): { config: Config; notes: string[] } {
  const given = typeof config.connections === 'object' && config.connections !== null ? config.connections : {};
  const missing = Object.entries(uses).filter(([name]) => !Object.hasOwn(given, name));
  const made = missing.map(([name, type]) => [name, madeUp(name, type, root)]);
  return {
    config: { ...config, connections: { ...given, ...Object.fromEntries(made) } },
    notes: missing.map(
      ([name, type]) =>
        `the config has no connection "${name}": it is rehearsed as plain ${type}, which cannot be asked what became of a call`,
    ),
  };
}

function madeUp(name: string, type: string, root: string): object {
  switch (type) {
    case 'http':
      // A name that by definition leads nowhere.
      return { type, baseUrl: `https://${name.toLowerCase().replaceAll('_', '-')}.invalid` };
    case 'files':
      return { type, root: join(root, name) };
    default:
      return { type };
  }
}
