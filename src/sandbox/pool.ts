import { availableParallelism } from 'node:os';
import { sha256 } from '#base';
import { Child } from './child-process.ts';
import { type Current, WITHDRAWN } from './current.ts';
import { SandboxClosedError } from './errors.ts';
import { FairQueue } from './fair-queue.ts';
import { LIMITS, type Limits } from './limits.ts';
import { Lines } from './lines.ts';
import { Precedence } from './precedence.ts';
import { NICE_MAX } from './priority.ts';
import type { ResetRule } from './protocol.ts';
import type { SandboxOutcome, SandboxRequest } from './request.ts';
import type { ChildOptions } from './start-process.ts';

export interface SandboxOptions {
  /** Children that may compute at the same time. */
  readonly children?: number;
  /** With those whose script takes long or computes much: they do not hold up the rest. */
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
/** Of one child: two to three hundred scripts of ordinary size. A child's memory is to stay below 80 MB, and Node takes most of that. */
export const IMAGE_BYTES_MAX_CHILD = 6 * 1_024 * 1_024;
const NICE = 10;
/** Longer than nearly every phase, shorter than anyone's patience. */
const LONG_MS = 100;
/** With one child, one script that loops would hold up all others. */
const CHILDREN_MIN = 2;
/** From so many times as long on, a script is known as heavy: a hiccup of the machine does not make it one. */
const HEAVY_TIMES = 10;
/** Or after so much of the processor's time, which a busy machine hardly makes more: several times what an ordinary phase takes. */
const HEAVY_CPU_MS = 15;
/** A script that had to be loaded first may take more. */
const HEAVY_CPU_MS_LOADING = 60;
/** So many light requests in a row, and it is among the others again. */
const LIGHT_TURNS = 5;
/** Scripts remembered as heavy; one that is forgotten has to show it again. */
const HEAVY_MAX = 10_000;

export function createSandboxPool(options: SandboxOptions = {}): SandboxPool {
  return new Pool(options);
}

interface Job {
  readonly request: SandboxRequest;
  /** It has stood in the line of a child before: this time it goes to one that is free. */
  readonly isBack: boolean;
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
  /** Those of them that only heavy scripts use: what such a script takes along when it must be ended, nobody else misses. */
  readonly #apart = new Set<Child>();
  readonly #apartMax: number;
  /** Scripts of which a request took very long or computed much, and how many light ones they still have to show. */
  readonly #heavy = new Map<string, number>();
  readonly #heavyMs: number;
  readonly #precedence = new Precedence();
  readonly #lines = new Lines<Child>(
    this.#children,
    this.#apart,
    ({ busyMs }) => busyMs >= this.#longMs && this.#children.size < this.#childrenMax,
  );
  #lookAgain: NodeJS.Timeout | undefined;
  #sweep: NodeJS.Timeout | undefined;
  readonly #counts = { started: 0, lost: 0 };
  #isClosed = false;

  constructor(options: SandboxOptions) {
    this.#childrenCount = options.children ?? Math.max(CHILDREN_MIN, availableParallelism());
    this.#childrenMax = Math.max(this.#childrenCount, options.childrenMax ?? this.#childrenCount * 2 + 2);
    this.#idleMs = options.idleMs ?? MINUTE;
    this.#longMs = options.longMs ?? LONG_MS;
    this.#apartMax = this.#childrenMax - this.#childrenCount;
    this.#heavyMs = this.#longMs * HEAVY_TIMES;
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
    const child = this.#queue.length === 0 && this.#mayGo(request.scriptId) ? this.#childFor(request) : undefined;
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
    this.#lines.close();
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

  #enqueue(request: SandboxRequest, isBack = false): Promise<SandboxOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<SandboxOutcome>();
    const { scriptId, signal } = request;
    const drop = () => {
      if (this.#queue.remove(scriptId, job)) resolve(cancelled(request));
    };
    const job: Job = { request, isBack, resolve, reject, leave: () => signal?.removeEventListener('abort', drop) };
    if (isBack) this.#queue.putBack(scriptId, job);
    else this.#queue.push(scriptId, job);
    signal?.addEventListener('abort', drop, { once: true });
    return promise;
  }

  /** Gives work to whoever can take it; called when work comes, when a child is free or gone, and while some take long. */
  #pump(): void {
    if (this.#isClosed) return;
    for (;;) {
      const scriptId = this.#queue.turn((each) => this.#mayGo(each));
      if (scriptId === undefined) return;
      const first = this.#queue.first(scriptId);
      const child = first && this.#childFor(first.request, first.isBack);
      if (child === undefined) return this.#look();
      const job = this.#queue.take(scriptId);
      job?.leave();
      job?.resolve(this.#runOn(child, job.request));
    }
  }

  async #runOn(child: Child, request: SandboxRequest): Promise<SandboxOutcome> {
    const cpuMsMax = child.knows(request.scriptId) ? HEAVY_CPU_MS : HEAVY_CPU_MS_LOADING;
    const current = this.#inTurn(child, request);
    let outcome: SandboxOutcome | typeof WITHDRAWN | undefined;
    try {
      outcome = await current.outcome;
    } finally {
      if (outcome !== WITHDRAWN) this.#took(child, current, outcome?.cpuMs ?? 0, cpuMsMax);
    }
    return outcome === WITHDRAWN ? this.#again(request) : outcome;
  }

  #inTurn(child: Child, request: SandboxRequest): Current {
    const isApart = this.#apart.has(child);
    const beside = isApart ? [] : this.#precedence.shortBegins(this.#apart);
    if (isApart) this.#precedence.heavyBegins(child);
    const end = () => (isApart ? this.#precedence.heavyEnds(child) : this.#precedence.shortEnds());
    if (!child.isFree) this.#lines.watch();
    const current = child.run(request, beside);
    current.outcome.then((outcome) => {
      const following = outcome !== WITHDRAWN && outcome.kind === 'returned' ? outcome.following : undefined;
      if (following === undefined) end();
      else following.then(end, end);
    }, end);
    return current;
  }

  #took(child: Child, { run, startedAtMs }: Current, cpuMs: number, cpuMsMax: number): void {
    // It stood in a line until it was given up.
    if (startedAtMs === undefined) return;
    // How long a child takes to start is not its first script's doing.
    const tookMs = performance.now() - Math.max(startedAtMs, child.readyAtMs);
    const isHeavy = cpuMs >= cpuMsMax || tookMs >= this.#heavyMs;
    this.#weigh(run.request.scriptId, isHeavy);
    if (isHeavy && child.scriptsKnown <= 1 && this.#children.has(child) && this.#apart.size < this.#apartMax) {
      this.#setApart(child);
    }
  }

  /** It stood in the line of a child that has no time for it. */
  #again(request: SandboxRequest): Promise<SandboxOutcome> {
    if (this.#isClosed) return Promise.reject(new SandboxClosedError());
    if (request.signal?.aborted === true) return Promise.resolve(cancelled(request));
    const outcome = this.#enqueue(request, true);
    this.#pump();
    return outcome;
  }

  #weigh(scriptId: string, isHeavy: boolean): void {
    const left = isHeavy ? LIGHT_TURNS : (this.#heavy.get(scriptId) ?? 0) - 1;
    this.#heavy.delete(scriptId);
    if (left > 0) this.#heavy.set(scriptId, left);
    const [oldest] = this.#heavy.keys();
    if (this.#heavy.size > HEAVY_MAX && oldest !== undefined) this.#heavy.delete(oldest);
  }

  /** Heavy scripts have children of their own: however many of them compute or wait for a provider, the rest goes on. */
  #goesApart(scriptId: string): boolean {
    return this.#apartMax > 0 && this.#heavy.has(scriptId);
  }

  #mayGo(scriptId: string): boolean {
    if (!this.#goesApart(scriptId)) return true;
    if (this.#freeChild(scriptId, true) !== undefined) return true;
    if (this.#apart.size >= this.#apartMax) return false;
    return this.#children.size < this.#childrenMax || this.#freeChild(scriptId, false) !== undefined;
  }

  #childFor(request: SandboxRequest, isBack = false): Child | undefined {
    const { scriptId } = request;
    const isApart = this.#goesApart(scriptId);
    const free = this.#freeChild(scriptId, isApart);
    if (free !== undefined || isApart) return free ?? this.#oneApart(scriptId);
    return this.#oneMore() ?? (isBack ? undefined : this.#lines.shortestFor(request));
  }

  /** One that knows the script, else the one that knows fewest: with a script that must be ended the least is lost. */
  #freeChild(scriptId: string, isApart: boolean): Child | undefined {
    let best: Child | undefined;
    for (const child of isApart ? this.#apart : this.#children) {
      if (!child.isFree || !child.isReady || this.#apart.has(child) !== isApart) continue;
      if (child.knows(scriptId)) return child;
      if (best === undefined || child.scriptsKnown < best.scriptsKnown) best = child;
    }
    return best;
  }

  /** Where there may be no more children, the others have one more than they are promised: it is taken from them while it is idle. */
  #oneApart(scriptId: string): Child {
    const isFull = this.#children.size >= this.#childrenMax;
    return this.#setApart((isFull ? this.#freeChild(scriptId, false) : undefined) ?? this.#spawn());
  }

  /** Heavy scripts have what the others leave. */
  #setApart(child: Child): Child {
    this.#apart.add(child);
    child.nice = NICE_MAX;
    return child;
  }

  #oneMore(): Child | undefined {
    const others = [...this.#children].filter((child) => !this.#apart.has(child));
    const long = others.filter((child) => child.busyMs >= this.#longMs).length;
    const starting = others.filter((child) => !child.isReady).length;
    if (others.length >= this.#childrenCount + long || starting >= this.#childrenCount) return undefined;
    if (this.#children.size >= this.#childrenMax) return this.#takeBack();
    const started = this.#spawn();
    // Starting takes longer than most phases: whoever is free first, the new one or another, takes what waits.
    return long < others.length ? undefined : started;
  }

  /** One that stands apart and idle, when there may be no more of them. */
  #takeBack(): Child | undefined {
    for (const child of this.#apart) {
      if (!child.isFree || !child.isReady) continue;
      this.#apart.delete(child);
      child.nice = this.#childOptions.nice;
      return child;
    }
    return undefined;
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
    const wasApart = this.#apart.delete(child);
    if (!wasOurs || this.#isClosed) return;
    this.#counts.lost++;
    if (!wasApart && child.isReady && this.#children.size - this.#apart.size < this.#childrenCount) this.#spawn();
  }

  /** Requests wait and all children are busy: see later whether one of them takes long. */
  #look(): void {
    const isFull = this.#children.size >= this.#childrenMax && this.#apart.size === 0;
    if (this.#lookAgain !== undefined || isFull) return;
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
        this.#apart.delete(child);
        child.end();
      }
      if (this.#children.size > 0 && !this.#isClosed) this.#sweepLater();
    }, this.#idleMs / 2).unref();
  }
}

function cancelled({ phase }: SandboxRequest): SandboxOutcome {
  return { kind: 'failed', errorKind: 'cancelled', phase, message: 'the run was cancelled', stack: [], cpuMs: 0 };
}
