import { availableParallelism } from 'node:os';
import { sha256 } from '#base';
import { Child, type ChildOptions } from './child-process.ts';
import { SandboxClosedError } from './errors.ts';
import { FairQueue } from './fair-queue.ts';
import { LIMITS, type Limits } from './limits.ts';
import type { ResetRule } from './protocol.ts';
import type { SandboxOutcome, SandboxRequest } from './request.ts';

export interface SandboxOptions {
  /** Children that may compute at the same time. */
  readonly children?: number;
  /** With those whose script takes long: they do not hold up the rest. */
  readonly childrenMax?: number;
  /** A child without work for so long is ended. */
  readonly idleMs?: number;
  /** From when on a request counts as long. */
  readonly longMs?: number;
  /** The priority children run at; above 0 gives way. */
  readonly nice?: number;
  /** Memory images of loaded scripts, all children together. */
  readonly imageBytesMax?: number;
  readonly limits?: Partial<Limits>;
  /** For tests: rules of the reset to leave out. */
  readonly without?: readonly ResetRule[];
}

export interface SandboxPool {
  run(request: SandboxRequest): Promise<SandboxOutcome>;
  /** What a script declares: the definition as JSON, without its functions. */
  describe(code: string): Promise<SandboxOutcome>;
  /** Ends every child. What runs or waits is rejected with a SandboxClosedError. */
  close(): Promise<void>;
  readonly pids: readonly number[];
  /** Children since the pool was made: started, and gone without having been told to. */
  readonly counts: { readonly started: number; readonly lost: number };
}

const MINUTE = 60_000;
const CLOSE_MS_MAX = 1_000;
const IMAGE_BYTES_MAX = 128 * 1_024 * 1_024;
/** Of one child: some seventy scripts of ordinary size. A child's memory is to stay below 80 MB, and Node takes most of that. */
export const IMAGE_BYTES_MAX_CHILD = 6 * 1_024 * 1_024;
const NICE = 10;
/** Longer than nearly every phase, shorter than anyone's patience. */
const LONG_MS = 100;
/** With one child, one script that loops would hold up all others. */
const CHILDREN_MIN = 2;
/** From so many times as long on, a script is known as slow: a hiccup of the machine does not make it one. */
const SLOW_TIMES = 10;
/** Scripts remembered as slow; one that is forgotten has to show it again. */
const SLOW_MAX = 10_000;

export function createSandboxPool(options: SandboxOptions = {}): SandboxPool {
  return new Pool(options);
}

interface Job {
  readonly request: SandboxRequest;
  readonly resolve: (outcome: SandboxOutcome | Promise<SandboxOutcome>) => void;
  readonly reject: (error: unknown) => void;
  /** It no longer waits: what would take it out of the line is forgotten. */
  readonly leave: () => void;
}

class Pool implements SandboxPool {
  readonly #childOptions: ChildOptions;
  readonly #childrenCount: number;
  readonly #childrenMax: number;
  readonly #idleMs: number;
  readonly #longMs: number;
  readonly #queue = new FairQueue<Job>();
  readonly #children = new Set<Child>();
  /** Scripts whose last request took very long. */
  readonly #slow = new Set<string>();
  readonly #slowMs: number;
  #lookAgain: NodeJS.Timeout | undefined;
  #sweep: NodeJS.Timeout | undefined;
  readonly #counts = { started: 0, lost: 0 };
  #isClosed = false;

  constructor(options: SandboxOptions) {
    this.#childrenCount = options.children ?? Math.max(CHILDREN_MIN, availableParallelism());
    this.#childrenMax = Math.max(this.#childrenCount, options.childrenMax ?? this.#childrenCount * 2 + 2);
    this.#idleMs = options.idleMs ?? MINUTE;
    this.#longMs = options.longMs ?? LONG_MS;
    this.#slowMs = this.#longMs * SLOW_TIMES;
    this.#childOptions = {
      limits: { ...LIMITS, ...options.limits },
      imageBytesMax: Math.min(
        IMAGE_BYTES_MAX_CHILD,
        Math.floor((options.imageBytesMax ?? IMAGE_BYTES_MAX) / this.#childrenCount),
      ),
      nice: options.nice ?? NICE,
      without: options.without ?? [],
    };
  }

  get pids(): readonly number[] {
    return [...this.#children].map((child) => child.pid);
  }

  get counts(): { readonly started: number; readonly lost: number } {
    return this.#counts;
  }

  run(request: SandboxRequest): Promise<SandboxOutcome> {
    if (this.#isClosed) return Promise.reject(new SandboxClosedError());
    if (request.signal?.aborted === true) return Promise.resolve(cancelled(request));
    const { scriptId } = request;
    const child = this.#queue.length === 0 && this.#mayGo(scriptId) ? this.#childFor(scriptId) : undefined;
    if (child !== undefined) return this.#runOn(child, request);
    const outcome = this.#enqueue(request);
    this.#pump();
    return outcome;
  }

  describe(code: string): Promise<SandboxOutcome> {
    return this.run({
      scriptId: `describe ${sha256(code)}`,
      code,
      handler: '',
      runId: 'describe',
      startedAt: 0,
      phase: 'describe',
      args: '[]',
      uses: [],
      onCall: () => Promise.resolve('null'),
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#lookAgain);
    clearTimeout(this.#sweep);
    for (const { reject } of this.#queue.clear()) reject(new SandboxClosedError());
    const children = [...this.#children];
    for (const child of children) {
      if (child.isFree) child.end();
      else child.kill();
    }
    const hard = setTimeout(() => {
      for (const child of children) child.kill();
    }, CLOSE_MS_MAX);
    await Promise.all(children.map((child) => child.exited));
    clearTimeout(hard);
  }

  #enqueue(request: SandboxRequest): Promise<SandboxOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<SandboxOutcome>();
    const { scriptId, signal } = request;
    const drop = () => {
      if (this.#queue.remove(scriptId, job)) resolve(cancelled(request));
    };
    const job: Job = { request, resolve, reject, leave: () => signal?.removeEventListener('abort', drop) };
    this.#queue.push(scriptId, job);
    signal?.addEventListener('abort', drop, { once: true });
    return promise;
  }

  /** Gives work to whoever can take it; called when work comes, when a child is free or gone, and while some take long. */
  #pump(): void {
    if (this.#isClosed) return;
    for (;;) {
      const scriptId = this.#queue.turn((each) => this.#mayGo(each));
      if (scriptId === undefined) return;
      const child = this.#childFor(scriptId);
      if (child === undefined) return this.#look();
      const job = this.#queue.take(scriptId);
      job?.leave();
      job?.resolve(this.#runOn(child, job.request));
    }
  }

  async #runOn(child: Child, request: SandboxRequest): Promise<SandboxOutcome> {
    const startedAt = performance.now();
    try {
      return await child.run(request);
    } finally {
      this.#slow.delete(request.scriptId);
      if (performance.now() - startedAt >= this.#slowMs) this.#slow.add(request.scriptId);
      const [oldest] = this.#slow;
      if (this.#slow.size > SLOW_MAX && oldest !== undefined) this.#slow.delete(oldest);
    }
  }

  /** Scripts known as slow leave some children to the others: however many of them wait for a provider, the rest goes on. */
  #mayGo(scriptId: string): boolean {
    if (!this.#slow.has(scriptId)) return true;
    let busy = 0;
    for (const { scriptId: other, busyMs } of this.#children) {
      if (other !== undefined && (busyMs >= this.#slowMs || this.#slow.has(other))) busy++;
    }
    const kept = this.#childrenMax > this.#childrenCount ? this.#childrenCount : 0;
    return busy < this.#childrenMax - kept;
  }

  #childFor(scriptId: string): Child | undefined {
    const free = this.#freeChild(scriptId);
    if (free !== undefined || this.#children.size >= this.#childrenAllowed()) return free;
    const others = [...this.#children];
    if (others.filter((child) => !child.isReady).length >= this.#childrenCount) return undefined;
    const started = this.#spawn();
    // Starting takes longer than most phases: whoever is free first, the new one or another, takes what waits.
    return others.some((child) => child.busyMs < this.#longMs) ? undefined : started;
  }

  /** One that knows the script, else the one that knows fewest: with a script that must be ended the least is lost. */
  #freeChild(scriptId: string): Child | undefined {
    let best: Child | undefined;
    for (const child of this.#children) {
      if (!child.isFree || !child.isReady) continue;
      if (child.knows(scriptId)) return child;
      if (best === undefined || child.scriptsKnown < best.scriptsKnown) best = child;
    }
    return best;
  }

  #childrenAllowed(): number {
    let long = 0;
    for (const child of this.#children) if (child.busyMs >= this.#longMs) long++;
    return Math.min(this.#childrenCount + long, this.#childrenMax);
  }

  #spawn(): Child {
    const child: Child = new Child(this.#childOptions, () => {
      if (child.isGone) this.#lost(child);
      this.#pump();
    });
    this.#counts.started++;
    this.#children.add(child);
    this.#sweepLater();
    return child;
  }

  /** The next one is started before anybody waits for it; not after one that could not even start. */
  #lost(child: Child): void {
    const wasOurs = this.#children.delete(child);
    if (wasOurs && !this.#isClosed) this.#counts.lost++;
    if (wasOurs && child.isReady && !this.#isClosed && this.#children.size < this.#childrenCount) this.#spawn();
  }

  /** Requests wait and all children are busy: see later whether one of them takes long. */
  #look(): void {
    if (this.#lookAgain !== undefined || this.#children.size >= this.#childrenMax) return;
    this.#lookAgain = setTimeout(() => {
      this.#lookAgain = undefined;
      this.#pump();
    }, this.#longMs);
  }

  #sweepLater(): void {
    this.#sweep ??= setTimeout(() => {
      this.#sweep = undefined;
      const now = performance.now();
      for (const child of this.#children) {
        if (!child.isFree || now - child.idleSinceMs < this.#idleMs) continue;
        this.#children.delete(child);
        child.end();
      }
      if (this.#children.size > 0 && !this.#isClosed) this.#sweepLater();
    }, this.#idleMs / 2).unref();
  }
}

function cancelled({ phase }: SandboxRequest): SandboxOutcome {
  return { kind: 'failed', errorKind: 'cancelled', phase, message: 'the run was cancelled', stack: [], cpuMs: 0 };
}
