import type { ConnectionOptions, Secret } from './connection-options.ts';
import type { Connectors } from './connectors.ts';

export function secret(name: string): Secret {
  return { secret: name };
}

interface ForEveryConnection<C extends keyof Connectors> {
  timeoutMs?: number;
  /** After how long a write surely shows in reads; 30 s where nothing is said. */
  visibilityMs?: number;
  /** Which mutations wait for a person: never, the first time, or always. */
  approval?: { [M in keyof Connectors[C]['mutations']]?: 'never' | 'first' | 'always' };
  /** Calls under way at once on this connection. */
  concurrency?: number;
  ratePerSecond?: number;
  burst?: number;
  costPerCall?: number;
}

type ConnectionType = keyof ConnectionOptions & keyof Connectors;

export type Connection = {
  [C in ConnectionType]: { type: C } & ConnectionOptions[C] & ForEveryConnection<C>;
}[ConnectionType];

/** How the engine is reached by others than this machine. */
interface HttpOptions {
  /** The address of the proxy with TLS in front of it, such as https://pawl.example.com: for links, and for who may ask. */
  publicUrl?: string;
}

/** Several processes at one PostgreSQL database. */
interface FleetOptions {
  /** How long a worker is taken for alive without a sign of life; 45 s where nothing is said. The same for all processes. */
  leaseMs?: number;
  /** Workflows that only workers started with `--pool NAME` take; all others are in the pool "default". */
  pools?: Record<string, string[]>;
  /** By workflow: how long one session may take. */
  timeoutMs?: Record<string, number>;
  /** How many sessions may be under way at once, over all processes: of a pool, and of those whose version uses a connection. */
  limits?: { pools?: Record<string, number>; connections?: Record<string, number> };
  /** A second way for messages, over NATS JetStream: for large fleets, and for other systems that listen. */
  nats?: {
    /** Such as nats://127.0.0.1:4222; tls://… for TLS. */
    servers: string | readonly string[];
    /** What subjects and streams begin with; "pawl" where nothing is said. */
    prefix?: string;
    replicas?: 1 | 3 | 5;
    token?: Secret;
  };
}

/** How long history is kept. */
interface RetentionOptions {
  /** What was over so many days ago goes, as far as nothing needs it; everything is kept where nothing is said. */
  keepDays: number;
}

/** Where the master key is that seals what `pawl secret set` keeps; a file in the data folder where nothing is said. */
interface SecretsOptions {
  /** A file that only its owner may read; relative to the config file. */
  keyFile?: string;
  /** A program that prints the key, and its arguments: that of the system's keychain, for one. */
  keyCommand?: readonly string[];
}

/** What needs a person; `retrying`: a service that has not answered for an hour. */
type NeedKind = 'unknown' | 'approval' | 'connection' | 'repair' | 'error' | 'evidence' | 'permission' | 'retrying';

/** How somebody is told when something needs a person: once for each case. */
type Channel = { kinds?: readonly NeedKind[] } & (
  | {
      /** A POST, signed as Standard Webhooks say. */
      type: 'webhook';
      url: string;
      secret: Secret;
    }
  | {
      type: 'email';
      to: string | readonly string[];
      from: string;
      /** STARTTLS on port 587 where nothing is said; `secure`: TLS from the first byte; `plain`: neither. */
      smtp: {
        host: string;
        port?: number;
        secure?: boolean;
        plain?: boolean;
        user?: string;
        password?: Secret;
        ca?: string;
      };
    }
  | {
      /** A program and its arguments, without a shell; `{sentence}`, `{link}`, `{workflow}`, `{kind}` and `{count}` are filled in. */
      type: 'command';
      command: readonly string[];
    }
);

interface Other {
  http?: HttpOptions;
  fleet?: FleetOptions;
  retention?: RetentionOptions;
  notify?: Record<string, Channel>;
  secrets?: SecretsOptions;
}

export interface Config extends Other {
  connections: Record<string, Connection>;
}

export function defineConfig<const C extends Record<string, Connection>>(
  config: { connections: C } & Other,
): { connections: C } & Other {
  return config;
}
