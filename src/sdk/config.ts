import type { ConnectionOptions, Secret } from './connection-options.ts';
import type { Connectors } from './connectors.ts';

export function secret(name: string): Secret {
  return { secret: name };
}

interface ForEveryConnection<C extends keyof Connectors> {
  /** Which mutations wait for a person: never, the first time, or always. */
  approval?: { [M in keyof Connectors[C]['mutations']]?: 'never' | 'first' | 'always' };
  /** Calls under way at once on this connection. */
  concurrency?: number;
}

export type Connection = {
  [C in keyof ConnectionOptions & keyof Connectors]: { type: C } & ConnectionOptions[C] & ForEveryConnection<C>;
}[keyof ConnectionOptions & keyof Connectors];

export interface Config {
  connections: Record<string, Connection>;
}

export function defineConfig<const C extends Record<string, Connection>>(config: {
  connections: C;
}): {
  connections: C;
} {
  return config;
}
