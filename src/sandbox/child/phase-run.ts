import type { Limits } from '../limits.ts';
import { FRAME, OP, type Phase, type ResetRule } from '../protocol.ts';
import type { Driver, Handles, Instance } from './instance.ts';
import { type ChildIo, Pipe } from './pipe.ts';

export interface PhaseFailure {
  readonly kind: 'failed';
  readonly errorKind: 'script' | 'limit' | 'forbidden' | 'crashed' | 'abandoned';
  readonly limit?: string;
  readonly message: string;
  readonly stack: string;
}

export type PhaseOutcome =
  | { readonly kind: 'returned'; readonly result: Uint8Array | undefined }
  | { readonly kind: 'mutation'; readonly connection: string; readonly method: string; readonly params: Uint8Array }
  | PhaseFailure;

/** The answer to the first call, if it is the one that was foreseen. */
export interface Foreseen {
  readonly args: string;
  readonly answer: Uint8Array;
  isTaken: boolean;
}

export interface PhaseSetting {
  readonly phase: Phase | 'load';
  readonly generation: number;
  readonly startedAt: number;
  /** When the message came, on the child's clock. */
  readonly messageAtMs: number;
  /** The thread's processor time when the phase began. */
  readonly cpuStartMs: number;
  readonly foreseen: Foreseen | undefined;
  readonly limits: Limits;
  readonly without: readonly ResetRule[];
}

/** One phase, from the first instruction to its outcome: what the script asks for, and the limits it runs under. */
export class PhaseRun implements Driver {
  /** Of a text that is told to people or names something; the rest of a longer one is left where it is. */
  static readonly TEXT_BYTES_MAX = 16 * 1_024;
  /** What a message before this one gave waits for so long that both can be told at once. */
  static readonly HELD_MS_MAX = 2;
  /** Thrown through the script when its phase is over. */
  static readonly OVER = new Error('the phase is over');

  outcome: PhaseOutcome | undefined;
  readonly unanswered = new Set<string>();
  #activeAtMs: number;
  #counts = { publishes: 0, inputs: 0, logs: 0, hostCalls: 0 };
  #sentBytes = 0;
  /** What the host has not heard of: calls, events, inputs, log lines. */
  #held: (readonly Uint8Array[])[] = [];
  #foreseen: Foreseen | undefined;
  #atHand: { readonly id: Uint8Array; readonly answer: Uint8Array } | undefined;
  #unhandled: Map<number, number> | undefined;
  #isLooking = false;
  #setting: PhaseSetting;
  #instance: Instance;
  #handles: Handles;
  #io: ChildIo;
  #pipe: Pipe;

  constructor(setting: PhaseSetting, instance: Instance, handles: Handles, io: ChildIo, pipe: Pipe) {
    this.#setting = setting;
    this.#foreseen = setting.foreseen;
    this.#instance = instance;
    this.#handles = handles;
    this.#io = io;
    this.#pipe = pipe;
    this.#activeAtMs = io.nowMs();
  }

  /** A rejection nobody handled, the address of its reason: an error that would be lost. */
  get unhandledReason(): number | undefined {
    return this.#unhandled?.values().next().value;
  }

  answered(id: string): boolean {
    this.#activeAtMs = this.#io.nowMs();
    return this.unanswered.delete(id);
  }

  onHost(op: number, texts: readonly (Uint8Array | undefined)[]): void {
    if (this.outcome !== undefined) throw PhaseRun.OVER;
    this.#activeAtMs = this.#io.nowMs();
    const [first, second, third] = texts;
    switch (op) {
      case OP.call:
      case OP.tell:
        return this.#send(op, first, second, third);
      case OP.mutate:
        if (this.#setting.phase !== 'mutate') return this.#end('forbidden', 'a mutation is made in mutate only');
        return this.#over({
          kind: 'mutation',
          connection: this.#decode(first),
          method: this.#decode(second),
          params: third ?? new Uint8Array(),
        });
      case OP.done:
        // The last thing the prelude says: nothing of the script runs after it, so there is nothing to leave. To be thrown through is slow.
        this.outcome = { kind: 'returned', result: first };
        return;
      case OP.failed:
        return this.#failed(this.#decode(first), this.#decode(second), this.#decode(third));
      case OP.forbidden:
        return this.#end('forbidden', this.#decode(first), this.#decode(second));
      case OP.limit:
        return this.exceeded(this.#decode(first), this.#decode(second));
      case OP.topLevel:
        return this.#topLevel(this.#decode(first), this.#decode(second));
      default:
        return this.#end('forbidden', 'the script spoke to the host in a way nobody does');
    }
  }

  /** The host hears what a script says when it has nothing else to do; of one that failed, only what it wrote about itself. */
  sendHeld(): void {
    const hasFailed = this.outcome?.kind === 'failed';
    for (const fields of this.#held) {
      if (!hasFailed || this.#decode(fields[1]) === 'log')
        this.#pipe.send(FRAME.call, this.#setting.generation, fields);
    }
    this.#held = [];
  }

  /** The answer to a call that needs nobody, once. */
  takeAtHand(): { readonly id: Uint8Array; readonly answer: Uint8Array } | undefined {
    const atHand = this.#atHand;
    this.#atHand = undefined;
    return atHand;
  }

  onInterrupt(): void {
    if (this.#isLooking) return;
    if (this.outcome !== undefined) throw PhaseRun.OVER;
    const { limits, messageAtMs, cpuStartMs } = this.#setting;
    const now = this.#io.nowMs();
    if (now - messageAtMs > PhaseRun.HELD_MS_MAX) this.#pipe.flush();
    // The engine counts what the script holds; this is what the holes between take as well.
    if (this.#instance.bytes.length > limits.memoryBytes * 2) this.exceeded('memory');
    if (this.#io.cpuMs() - cpuStartMs > limits.cpuMs) this.exceeded('cpu', this.#here());
    if (now - messageAtMs > limits.totalMs) this.exceeded('total', this.#here());
    if (now - this.#activeAtMs > limits.wallMs) this.exceeded('wall', this.#here());
  }

  onClock(): number {
    const { phase, startedAt, without } = this.#setting;
    if (phase === 'load' && !this.#isLooking && !without.includes('top-level')) this.#topLevel('Date', this.#here());
    return without.includes('date') ? Date.now() : startedAt;
  }

  onRejection(promise: number, reason: number, isHandled: boolean): void {
    const { exports } = this.#instance;
    const identity = exports.qjs_get_value_ptr(promise);
    this.#unhandled ??= new Map();
    if (isHandled) this.#unhandled.delete(identity);
    else this.#unhandled.set(identity, exports.qjs_dup_value(reason));
    exports.qjs_free_value(promise);
    exports.qjs_free_value(reason);
  }

  onNoMemory(): void {
    if (!this.#isLooking) this.exceeded('memory');
  }

  exceeded(limit: string, stack = ''): void {
    this.#over({ kind: 'failed', errorKind: 'limit', limit, message: '', stack });
  }

  /** Says how it ended without leaving the script: for ends that come from outside it. */
  settle(outcome: PhaseOutcome): void {
    this.outcome ??= outcome;
  }

  #send(
    op: number,
    first: Uint8Array | undefined,
    second: Uint8Array | undefined,
    third: Uint8Array | undefined,
  ): void {
    const none = new Uint8Array();
    const [id, name, args] = op === OP.call ? [first, second, third] : [none, first, second];
    if (this.#setting.phase === 'load') return this.#topLevel(`ctx.${this.#decode(name)}`, '');
    const said = this.#decode(name);
    this.#count(said);
    this.#sentBytes += args?.length ?? 0;
    if (this.#sentBytes > this.#setting.limits.sentBytes) this.exceeded('sent', this.#here());
    const fields = [id ?? none, name ?? none, args ?? none];
    if (op === OP.call) {
      this.unanswered.add(this.#decode(id));
      if (said === 'peek' && this.#isForeseen(fields)) return;
      this.#foreseen = undefined;
    }
    this.#held.push(fields);
  }

  /** Only what is asked first: whatever is asked later may have another answer by then. */
  #isForeseen([id = new Uint8Array(), , args]: readonly Uint8Array[]): boolean {
    const foreseen = this.#foreseen;
    this.#foreseen = undefined;
    if (foreseen === undefined || this.#decode(args) !== foreseen.args) return false;
    foreseen.isTaken = true;
    this.#atHand = { id, answer: foreseen.answer };
    return true;
  }

  #count(name: string): void {
    const limit =
      name === 'publish' ? 'publishes' : name === 'registerInput' ? 'inputs' : name === 'log' ? 'logs' : 'hostCalls';
    this.#counts[limit]++;
    if (this.#counts[limit] > this.#setting.limits[limit]) this.exceeded(limit, this.#here());
  }

  #failed(name: string, message: string, stack: string): void {
    const isFull = this.#instance.bytes.length > this.#setting.limits.memoryBytes * 0.9;
    const isMemory = message === 'out of memory' || message === 'string too long';
    if (name === 'InternalError' && isMemory) return this.exceeded('memory', stack);
    // Without memory for an error object the engine throws null.
    if (message === 'thrown: null' && isFull) return this.exceeded('memory', stack);
    if (name === 'RangeError' && message === 'Maximum call stack size exceeded') return this.exceeded('stack', stack);
    return this.#end('script', name === '' ? message : `${name}: ${message}`, stack);
  }

  #topLevel(what: string, stack: string): void {
    const why = 'the script is loaded once and used for many runs: use it inside a handler';
    this.#end('script', `${what} is not available at the top level of a script: ${why}`, stack);
  }

  #end(errorKind: 'script' | 'forbidden', message: string, stack = ''): void {
    this.#over({ kind: 'failed', errorKind, message, stack });
  }

  #over(outcome: PhaseOutcome): void {
    this.outcome = outcome;
    throw PhaseRun.OVER;
  }

  /** Where the script is now. What this runs inside cannot end the phase by itself. */
  #here(): string {
    this.#isLooking = true;
    try {
      const value = this.#instance.call(this.#handles, this.#handles.here, []);
      return this.#decode(this.#instance.text(value, this.#handles.scratch));
    } catch {
      return '';
    } finally {
      this.#isLooking = false;
    }
  }

  #decode(text: Uint8Array | undefined): string {
    return text === undefined ? '' : Pipe.DECODER.decode(text.subarray(0, PhaseRun.TEXT_BYTES_MAX));
  }
}
