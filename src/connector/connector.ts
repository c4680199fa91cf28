import type { LookupFunction } from 'node:net';
import type { z } from 'zod';
import type { Clock } from '#base';
import type { Outcome, ReadOutcome, Reconciled } from './outcome.ts';
import type { SecretSource } from './secrets.ts';
import type { Settings } from './settings.ts';

/** What a connector is given by the process it runs in. */
export interface Host {
  readonly clock: Clock;
  readonly resolveSecret: SecretSource;
  /** Relative paths of the config begin here. */
  readonly baseFolder: string;
  readonly lookup: LookupFunction;
}

export interface ReadLimits {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970, after which the answer is no longer awaited. */
  readonly deadline: number;
}

export interface MutationLimits extends ReadLimits {
  readonly idempotencyKey: string;
  /** Called in the tick that sends the first byte, just before it. If it throws, nothing is sent. */
  onFirstByte(): void;
}

/** A mutation that may have gone out, as the ledger recorded it. */
export interface RecordedCall<Args = unknown> {
  readonly args: Args;
  readonly idempotencyKey: string;
  /** When the ledger row was written: before the first byte. */
  readonly startedAt: number;
}

// Methods are written with method syntax on purpose: a connector's own methods, which take its own connection and
// arguments, then fit where the registry keeps connectors of every kind; the registry only hands back what that
// connector's `open` and `schema` made.

export interface ReadMethod<Connection = unknown, Args = unknown> {
  readonly schema: z.ZodType<Args>;
  target(args: Args): string;
  run(connection: Connection, args: Args, limits: ReadLimits): Promise<ReadOutcome>;
}

export interface MutationMethod<Connection = unknown, Args = unknown> {
  readonly schema: z.ZodType<Args>;
  readonly resultSchema: z.ZodType;
  /** What will really be sent, for people: made by the host, never by the script, and without secrets. */
  preview(connection: Connection, args: Args): string;
  /** What a grant names: the thing the call changes. */
  target(args: Args): string;
  run(connection: Connection, args: Args, limits: MutationLimits): Promise<Outcome>;
  /** Awaited before the ledger row is written: whatever must exist so that `reconcile` can tell afterwards. */
  ready?(connection: Connection): Promise<void>;
  canReconcile(connection: Connection, args: Args): boolean;
  /** Whether a look-up can also find that it did not happen. Left out: it can. */
  findsUndone?(connection: Connection, args: Args): boolean;
  reconcile(connection: Connection, call: RecordedCall<Args>, limits: ReadLimits): Promise<Reconciled>;
  /** What a rehearsal answers where nothing better is known: a result of the right shape. */
  sampleResult?(args: Args): unknown;
  /** The result to record when a person says that it happened; undefined when the person must give it. */
  assumedResult(connection: Connection, call: RecordedCall<Args>): Promise<unknown>;
}

export interface Connector<Config extends Settings = Settings, Connection = unknown> {
  readonly name: string;
  readonly configSchema: z.ZodType<Config>;
  readonly configFields: readonly string[];
  readonly defaults: { readonly timeoutMs: number; readonly visibilityMs?: number; readonly concurrency: number };
  readonly reads: Readonly<Record<string, ReadMethod<Connection>>>;
  readonly mutations: Readonly<Record<string, MutationMethod<Connection>>>;
  open(name: string, config: Config, host: Host): Connection;
  /** Says whether the connection works, without changing anything outside. */
  test(connection: Connection, limits: ReadLimits): Promise<ReadOutcome>;
  close(connection: Connection): Promise<void>;
}
