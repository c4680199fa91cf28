import type { Host } from '../connector.ts';
import type { HttpConfig } from './config.ts';
import { createLinePool, type LinePool } from './line.ts';

export interface HttpConnection {
  readonly config: HttpConfig;
  readonly host: Host;
  readonly pool: LinePool;
  /** The operator wrote this origin in this connection; what stands in another one opens nothing here. */
  isTrusted(origin: string): boolean;
}

export function openHttpConnection(config: HttpConfig, host: Host): HttpConnection {
  const trusted = new Set([config.baseUrl.origin, ...config.origins]);
  const isTrusted = (origin: string): boolean => trusted.has(origin);
  return {
    config,
    host,
    isTrusted,
    pool: createLinePool({ clock: host.clock, isTrusted, lookup: host.lookup, ca: config.ca }),
  };
}
