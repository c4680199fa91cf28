import {
  CallInvalidError,
  type Connections,
  type Outcome,
  type ReadOutcome,
  type Reconciled,
  type RecordedCall,
  type Slot,
} from '#connector';
import type { LedgerConnections } from '#ledger';
import { canonical } from './same-json.ts';
import type { Samples } from './samples.ts';

/** A mutation that would have gone out. */
export interface CapturedCall {
  readonly idempotencyKey: string;
  readonly connection: string;
  readonly method: string;
  readonly result: unknown;
}

export interface CapturedOptions {
  /** Checks and describes calls as they really are; makes reads only where that is allowed. */
  readonly connections: Connections;
  readonly samples: Samples;
  readonly allowReads: boolean;
  /** Answers of reads that were really made: asked once, so that every life sees the same. */
  readonly madeReads: Map<string, ReadOutcome>;
  /** Methods that were answered with something made up. */
  readonly madeUp: Set<string>;
  /** What was captured before; a life after a death begins with what the dead had done. */
  readonly calls: CapturedCall[];
  /** Told before a call would go out, and when it has, before its answer is known. */
  readonly onCall?: () => void;
}

const FREE: Slot = { release: () => undefined, giveBack: () => undefined };

/** The outside world of a rehearsal: it does everything it is asked, keeps it, and nothing leaves the machine. */
export class CapturedConnections implements LedgerConnections {
  readonly #options: CapturedOptions;

  constructor(options: CapturedOptions) {
    this.#options = options;
  }

  describeCall(...call: Parameters<Connections['describeCall']>) {
    return this.#options.connections.describeCall(...call);
  }

  describeRead(...read: Parameters<Connections['describeRead']>) {
    return this.#options.connections.describeRead(...read);
  }

  costOf(name: string): number {
    return this.#options.connections.costOf(name);
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  admit(): Promise<Slot> {
    return Promise.resolve(FREE);
  }

  admitNow(): Slot {
    return FREE;
  }

  async read(connection: string, method: string, args: unknown): Promise<ReadOutcome> {
    const { connections, samples, allowReads, madeReads } = this.#options;
    try {
      connections.describeRead(connection, method, args);
    } catch (error) {
      if (error instanceof CallInvalidError) return refused(error.message);
      throw error;
    }
    const asked = canonical(args ?? null);
    const recorded = samples.reads.findLast(
      (read) => read.connection === connection && read.method === method && canonical(read.request) === asked,
    );
    if (recorded) return { kind: 'answered', result: recorded.answer };
    if (!allowReads) return refused(notRecorded(samples, connection, method, asked));
    const key = `${connection} ${method} ${asked}`;
    const made = madeReads.get(key) ?? (await connections.read(connection, method, args));
    madeReads.set(key, made);
    return made;
  }

  mutate(
    connection: string,
    method: string,
    args: unknown,
    { idempotencyKey }: { readonly idempotencyKey: string },
  ): Promise<Outcome> {
    const { calls, onCall } = this.#options;
    onCall?.();
    const result = this.#resultOf(connection, method, args);
    calls.push({ idempotencyKey, connection, method, result });
    onCall?.();
    return Promise.resolve({ kind: 'applied', result });
  }

  /** A service that can be asked is taken to know what it did; not every one can say what it did not. */
  reconcile(connection: string, method: string, { args, idempotencyKey }: RecordedCall): Promise<Reconciled> {
    const found = this.captured(idempotencyKey);
    if (found) return Promise.resolve({ kind: 'applied', result: found.result });
    const findsUndone = this.#options.connections.findsUndone(connection, method, args);
    return Promise.resolve(findsUndone ? { kind: 'failed' } : { kind: 'retry', message: 'it cannot tell' });
  }

  captured(idempotencyKey: string): CapturedCall | undefined {
    return this.#options.calls.find((call) => call.idempotencyKey === idempotencyKey);
  }

  #resultOf(connection: string, method: string, args: unknown): unknown {
    const { connections, samples, madeUp } = this.#options;
    const ofMethod = samples.mutations.filter((each) => each.connection === connection && each.method === method);
    const params = canonical(args);
    const exact = ofMethod.findLast((each) => each.params !== undefined && canonical(each.params) === params);
    const found = exact ?? ofMethod.findLast((each) => each.params === undefined) ?? ofMethod.at(-1);
    if (found) return connections.checkResult(connection, method, found.result);
    madeUp.add(`${connection}.${method}`);
    return connections.sampleResult(connection, method, args);
  }
}

function refused(message: string): ReadOutcome {
  return { kind: 'not_done', error: { class: 'logic', message, retryAfterMs: undefined } };
}

const KNOWN_MAX = 3;

function notRecorded(samples: Samples, connection: string, method: string, asked: string): string {
  const known = samples.reads
    .filter((read) => read.connection === connection && read.method === method)
    .map((read) => canonical(read.request));
  const others = known.length === 0 ? 'none of this method is' : `known are ${known.slice(0, KNOWN_MAX).join(', ')}`;
  return (
    `a rehearsal has no recorded answer for ${connection}.${method}(${asked}); ${others}. ` +
    'Give one under "reads" of the samples, take what an engine recorded with --from-engine, or make the read with --allow-reads'
  );
}
