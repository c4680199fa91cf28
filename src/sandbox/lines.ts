import type { SandboxRequest } from './request.ts';

/** A child, as far as others may stand behind what it works on. */
export interface Lined {
  readonly isGone: boolean;
  readonly isReady: boolean;
  /** What it works on waits for the host. */
  readonly isWaiting: boolean;
  /** How long it has worked on that. */
  readonly busyMs: number;
  readonly lineLength: number;
  /** Somebody waits for what has not begun. */
  readonly isAwaited: boolean;
  knows(scriptId: string): boolean;
  /** What has not begun goes elsewhere. */
  withdraw(): void;
}

/** Requests a child has at a time: when it is done with one, the next is there, and nobody waits until the host has time to send it. */
const LINE_MAX = 4;
/** Nothing is put behind a request that takes longer, and what was goes elsewhere, if there is somewhere else. */
const STALL_MS = 10;
/** What is larger waits in the host and not in a child, which has little memory. */
const AHEAD_CHARS_MAX = 64 * 1_024;

/** Which children are sent a request before they are done with another, and what becomes of it when that takes long. */
export class Lines<C extends Lined> {
  readonly #children: ReadonlySet<C>;
  /** Nobody is put behind a heavy script. */
  readonly #apart: ReadonlySet<C>;
  readonly #mayStartOne: (stalled: C) => boolean;
  #timer: NodeJS.Timeout | undefined;
  #look: NodeJS.Immediate | undefined;

  /** `mayStartOne`: whether there may be one child more, because of one that is stalled. */
  constructor(children: ReadonlySet<C>, apart: ReadonlySet<C>, mayStartOne: (stalled: C) => boolean) {
    this.#children = children;
    this.#apart = apart;
    this.#mayStartOne = mayStartOne;
  }

  /** A child that will most likely be done in a moment with what stands before the request. */
  shortestFor(request: SandboxRequest): C | undefined {
    if (givenChars(request) > AHEAD_CHARS_MAX) return undefined;
    let best: C | undefined;
    for (const child of this.#children) {
      const { lineLength } = child;
      if (child.isGone || !child.isReady || this.#apart.has(child)) continue;
      if (lineLength >= LINE_MAX || child.isWaiting || child.busyMs >= STALL_MS) continue;
      if (request.code.length > AHEAD_CHARS_MAX && !child.knows(request.scriptId)) continue;
      if (best === undefined || lineLength < best.lineLength) best = child;
    }
    return best;
  }

  /** To be called when something is put behind another: looks after it for as long as anything is. */
  watch(): void {
    this.#timer ??= setTimeout(() => {
      // First the host hears what they have done: it may be that only the host had no time.
      this.#look = setImmediate(() => {
        this.#timer = undefined;
        this.#withdraw();
      });
    }, STALL_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#look);
  }

  #withdraw(): void {
    const awaited = [...this.#children].filter(({ isAwaited }) => isAwaited);
    for (const child of awaited) if (child.busyMs >= STALL_MS && this.#hasRoomBeside(child)) child.withdraw();
    if (awaited.some(({ isAwaited }) => isAwaited)) this.watch();
  }

  /** Another child goes on, or one more may be started. */
  #hasRoomBeside(stalled: C): boolean {
    if (this.#mayStartOne(stalled)) return true;
    for (const child of this.#children) {
      if (child === stalled || child.isGone || !child.isReady || this.#apart.has(child)) continue;
      if (child.busyMs < STALL_MS) return true;
    }
    return false;
  }
}

function givenChars({ args, foreseen, following }: SandboxRequest): number {
  return args.length + (foreseen?.answer.length ?? 0) + (following === undefined ? 0 : givenChars(following));
}
