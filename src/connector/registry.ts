import { lookup as systemLookup } from 'node:dns';
import { z } from 'zod';
import { type Clock, reach, systemClock } from '#base';
import type { Connector, Host, RecordedCall } from './connector.ts';
import { CallInvalidError } from './errors.ts';
import { files } from './files/index.ts';
import { argumentsOf, mutationOf, readOf, suggestion } from './find-method.ts';
import { http } from './http/index.ts';
import { createLimiter, type Limiter, type Slot } from './limiter.ts';
import { NEVER_ABORTED } from './never-aborted.ts';
import { NotDoneError, notDone, notDoneHere, type Outcome, type ReadOutcome, type Reconciled } from './outcome.ts';
import { problemsOf } from './problems.ts';
import { readConnections } from './read-config.ts';
import { type SecretSource, secretsIn } from './secrets.ts';
import type { ApprovalRule, Settings } from './settings.ts';
import { shapeWords } from './shape-words.ts';

/** The connectors that come with Pawl. */
const CONNECTORS: readonly Connector[] = [http, files];

export interface OpenOptions {
  /** Gives the value of a secret by its name, or undefined. Asked at each call; nothing is kept. */
  readonly resolveSecret?: SecretSource;
  readonly clock?: Clock;
  /** Where relative paths of the config begin: the folder of the config file. */
  readonly baseFolder?: string;
  /** How names are resolved; the system's own where nothing is given. */
  readonly lookup?: Host['lookup'];
  /** Connectors besides those that come with Pawl. */
  readonly connectors?: readonly Connector[];
}

/** What may be called: for the validator of scripts. */
export interface Catalogue {
  readonly connectors: Readonly<
    Record<string, { readonly reads: readonly string[]; readonly mutations: readonly string[] }>
  >;
  /** Connection name → connector type. */
  readonly connections: Readonly<Record<string, string>>;
}

/** A mutation as the host saw it, checked, before anything is recorded or sent. */
export interface DescribedCall {
  /** The arguments as they will be sent; what to record. */
  readonly args: unknown;
  readonly preview: string;
  readonly target: string;
  readonly timeoutMs: number;
  readonly cost: number;
  readonly canReconcile: boolean;
  /** Undefined: the connection does not say. */
  readonly visibilityMs: number | undefined;
  readonly approval: ApprovalRule;
}

export interface ReadOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export interface MutateOptions {
  readonly idempotencyKey: string;
  /** Checked again in the tick that sends the first byte. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
  /** Called in that tick, just before the byte. If it throws, nothing is sent. */
  readonly onFirstByte?: () => void;
  /** From `admit`; released here. Without it the call waits for its turn within its deadline. */
  readonly slot?: Slot;
}

interface Open {
  readonly name: string;
  readonly connector: Connector;
  readonly connection: unknown;
  readonly settings: Settings;
  readonly limiter: Limiter;
}

/** Reads the connections of a config, and throws ConfigInvalidError with every problem. Nothing is contacted. */
export function openConnections(config: { readonly connections?: unknown }, options: OpenOptions = {}): Connections {
  const host: Host = {
    clock: options.clock ?? systemClock,
    resolveSecret: options.resolveSecret ?? (() => undefined),
    baseFolder: options.baseFolder ?? process.cwd(),
    lookup: options.lookup ?? systemLookup,
  };
  const connectors = [...CONNECTORS, ...(options.connectors ?? [])];
  const open = readConnections(config.connections ?? {}, connectors).map(
    ({ name, connector, config: parsed }): Open => {
      const limiter = createLimiter({
        concurrency: parsed.concurrency ?? connector.defaults.concurrency,
        ratePerSecond: parsed.ratePerSecond,
        burst: parsed.burst ?? Math.max(1, Math.ceil(parsed.ratePerSecond ?? 1)),
        clock: host.clock,
      });
      return { name, connector, connection: connector.open(name, parsed, host), settings: parsed, limiter };
    },
  );
  return new Connections(open, connectors, host.clock);
}

export class Connections {
  readonly #open: ReadonlyMap<string, Open>;
  readonly #connectors: readonly Connector[];
  readonly #clock: Clock;

  constructor(open: readonly Open[], connectors: readonly Connector[], clock: Clock) {
    this.#open = new Map(open.map((each) => [each.name, each]));
    this.#connectors = connectors;
    this.#clock = clock;
  }

  describe(): Catalogue {
    return {
      connectors: catalogueOf(this.#connectors),
      connections: Object.fromEntries([...this.#open.values()].map(({ name, connector }) => [name, connector.name])),
    };
  }

  /** What a read asks for, checked: its target for permissions and its cost. */
  describeRead(name: string, method: string, args: unknown): { args: unknown; target: string; cost: number } {
    const open = this.#find(name);
    const read = readOf(open, method);
    const parsed = argumentsOf(open, method, read, args);
    return { args: parsed, target: read.target(parsed), cost: this.costOf(name) };
  }

  describeCall(name: string, method: string, args: unknown): DescribedCall {
    const open = this.#find(name);
    const mutation = mutationOf(open, method);
    const parsed = argumentsOf(open, method, mutation, args);
    const { settings, connector, connection } = open;
    return {
      args: parsed,
      preview: mutation.preview(connection, parsed),
      target: mutation.target(parsed),
      timeoutMs: settings.timeoutMs ?? connector.defaults.timeoutMs,
      cost: this.costOf(name),
      canReconcile: mutation.canReconcile(connection, parsed),
      visibilityMs: settings.visibilityMs ?? connector.defaults.visibilityMs,
      approval: settings.approval?.[method] ?? 'never',
    };
  }

  /** What a call through this connection costs, in whatever unit its owner counts. */
  costOf(name: string): number {
    return this.#find(name).settings.costPerCall ?? 0;
  }

  /** To await before the ledger row of a mutation is written, so that its outcome can be looked up afterwards. */
  async ready(name: string, method: string): Promise<void> {
    const open = this.#find(name);
    try {
      await mutationOf(open, method).ready?.(open.connection);
    } catch {
      // The call itself will meet the same problem, and say what it means.
    }
  }

  /** Waits for the connection's turn; for a mutation before its deadline begins. */
  async admit(name: string, signal: AbortSignal = NEVER_ABORTED): Promise<Slot> {
    return await this.#find(name).limiter.acquire(signal);
  }

  /** The same where it need not wait; undefined where it would. */
  admitNow(name: string): Slot | undefined {
    return this.#find(name).limiter.acquireNow();
  }

  /** Arguments that do not fit are an outcome too (logic), like every other failure. */
  async read(name: string, method: string, args: unknown, options: ReadOptions = {}): Promise<ReadOutcome> {
    return await outcomeOfRead(async () => {
      const open = this.#find(name);
      const read = readOf(open, method);
      const parsed = argumentsOf(open, method, read, args);
      return await this.#limited(open, options, (limits) => read.run(open.connection, parsed, limits));
    });
  }

  async mutate(name: string, method: string, args: unknown, options: MutateOptions): Promise<Outcome> {
    let begun = false;
    try {
      const open = this.#find(name);
      const mutation = mutationOf(open, method);
      const parsed = argumentsOf(open, method, mutation, args);
      const waitMs = Math.max(0, options.deadline - this.#clock.now());
      const signal = options.signal ?? NEVER_ABORTED;
      const slot = options.slot ?? (await open.limiter.acquire(AbortSignal.any([signal, timeoutSignal(waitMs)])));
      try {
        return await mutation.run(open.connection, parsed, {
          idempotencyKey: options.idempotencyKey,
          deadline: options.deadline,
          signal,
          onFirstByte() {
            options.onFirstByte?.();
            reach('first-byte');
            begun = true;
          },
        });
      } finally {
        slot.release();
      }
    } catch (error) {
      if (!begun) return failureOf(error);
      return { kind: 'uncertain', message: `the connector broke down: ${messageOf(error)}`, callEnded: false };
    } finally {
      options.slot?.release();
    }
  }

  /** Looks up what became of a call that may have gone out. Never changes anything outside. */
  async reconcile(name: string, method: string, call: RecordedCall, options: ReadOptions = {}): Promise<Reconciled> {
    try {
      const open = this.#find(name);
      const mutation = mutationOf(open, method);
      const args = argumentsOf(open, method, mutation, call.args);
      return await this.#limited(open, options, (limits) =>
        mutation.reconcile(open.connection, { ...call, args }, limits),
      );
    } catch (error) {
      const { error: problem } = failureOf(error);
      return { kind: 'retry', message: problem.message, error: problem };
    }
  }

  /** The result to record when a person says that it happened; undefined when the person must give one. */
  async assumedResult(name: string, method: string, call: RecordedCall): Promise<unknown> {
    const open = this.#find(name);
    const mutation = mutationOf(open, method);
    return await mutation.assumedResult(open.connection, {
      ...call,
      args: argumentsOf(open, method, mutation, call.args),
    });
  }

  /** A result given by a person, checked: throws CallInvalidError when it is not one the method could have given. */
  checkResult(name: string, method: string, result: unknown): unknown {
    const checked = mutationOf(this.#find(name), method).resultSchema.safeParse(result);
    if (checked.success) return checked.data;
    throw new CallInvalidError({
      code: 'invalid-result',
      message: `this is not a result of ${name}.${method}: ${problemsOf(checked.error).join('; ')}`,
      why: 'next would get a value of another shape than the script was written for',
      next: [{ label: `give a result of this shape: ${shapeWords(this.resultSchema(name, method))}` }],
    });
  }

  has(name: string): boolean {
    return this.#open.has(name);
  }

  /** What a grant names, for a path as an author wrote it; `*` in it stays what it is. */
  targetPattern(name: string, method: string, pattern: string): string {
    const { connector } = this.#open.get(name) ?? {};
    const found = connector && (connector.mutations[method] ?? connector.reads[method]);
    return found && pattern !== '*' ? found.target({ path: pattern, dir: pattern }) : pattern;
  }

  /** The secrets that its config names. */
  secretsOf(name: string): readonly string[] {
    return secretsIn(this.#find(name).settings);
  }

  /** Which mutations of a connection wait for a person. */
  approvalOf(name: string): Readonly<Record<string, ApprovalRule>> {
    return this.#find(name).settings.approval ?? {};
  }

  /** What a method gives, as JSON Schema, for whoever must say what a call gave. */
  resultSchema(name: string, method: string): object {
    const { resultSchema } = mutationOf(this.#find(name), method);
    return z.toJSONSchema(resultSchema, { io: 'input', unrepresentable: 'any' });
  }

  /** Whether `next` can do without knowing what the provider answered. */
  allowsNoResult(name: string, method: string): boolean {
    return mutationOf(this.#find(name), method).resultSchema.safeParse(null).success;
  }

  /** Whether a look-up of such a call can find that it did not happen; else it can only find that it did. */
  findsUndone(name: string, method: string, args: unknown): boolean {
    const open = this.#find(name);
    const mutation = mutationOf(open, method);
    return mutation.findsUndone?.(open.connection, argumentsOf(open, method, mutation, args)) ?? true;
  }

  /** What a rehearsal answers to a call where nothing better is known; null where the method has nothing to offer. */
  sampleResult(name: string, method: string, args: unknown): unknown {
    const open = this.#find(name);
    const mutation = mutationOf(open, method);
    return mutation.sampleResult?.(argumentsOf(open, method, mutation, args)) ?? null;
  }

  /** Whether the connection works, without changing anything outside. */
  async test(name: string, options: ReadOptions = {}): Promise<ReadOutcome> {
    return await outcomeOfRead(async () => {
      const open = this.#find(name);
      return await this.#limited(open, options, (limits) => open.connector.test(open.connection, limits));
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ connector, connection }) => connector.close(connection)));
  }

  /** A read waits for its turn, and then has its time. */
  async #limited<T>(
    open: Open,
    { signal = NEVER_ABORTED, timeoutMs = open.settings.timeoutMs ?? open.connector.defaults.timeoutMs }: ReadOptions,
    run: (limits: { signal: AbortSignal; deadline: number }) => Promise<T>,
  ): Promise<T> {
    const slot = await open.limiter.acquire(signal);
    try {
      return await run({ signal, deadline: this.#clock.now() + timeoutMs });
    } finally {
      slot.release();
    }
  }

  #find(name: string): Open {
    const open = this.#open.get(name);
    if (open !== undefined) return open;
    const names = [...this.#open.keys()];
    throw new CallInvalidError({
      code: 'unknown-connection',
      message: `there is no connection "${name}" in the config of this process${suggestion(name, names, 'connections')}`,
      why: 'all processes of a fleet need the same config',
      next: [{ label: `add "${name}" to the connections of the config, or correct the name in the script` }],
    });
  }
}

export function catalogueOf(connectors: readonly Connector[] = CONNECTORS): Catalogue['connectors'] {
  return Object.fromEntries(
    connectors.map(({ name, reads, mutations }) => [
      name,
      { reads: Object.keys(reads), mutations: Object.keys(mutations) },
    ]),
  );
}

async function outcomeOfRead(read: () => Promise<ReadOutcome>): Promise<ReadOutcome> {
  try {
    return await read();
  } catch (error) {
    return failureOf(error);
  }
}

/** Only for errors before anything went out. */
function failureOf(error: unknown): Extract<Outcome, { kind: 'not_done' }> {
  if (error instanceof NotDoneError) return error.outcome;
  if (error instanceof CallInvalidError)
    return (error.code === 'unknown-connection' ? notDoneHere : notDone)('logic', error.message);
  return notDone('internal', `the connector broke down: ${messageOf(error)}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : `${error}`;
}

function timeoutSignal(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(2 ** 31 - 1, ms));
}
