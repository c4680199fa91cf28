import type { Limits } from './limits.ts';
import { threadCpuMs } from './thread-cpu.ts';

const CHECK_MS_MIN = 20;
/** Longer than nearly every phase computes. */
const GREEDY_CPU_MS = 50;
const GREEDY_CHECK_MS = 60;

export type Overdue = 'cpu' | 'wall' | 'total' | 'unheeded';

/**
 * The host's own deadlines for one child. The child keeps the limits by itself; this is for the child that cannot, because the
 * engine inside is in a loop that never looks up. Each fires `killAfterMs` later than the child's own, but the one over all,
 * which only the host can see while it makes the child wait.
 */
export class Guard {
  readonly #limits: Limits;
  readonly #pid: number;
  readonly #onOverdue: (limit: Overdue) => void;
  readonly #onGreedy: () => void;
  #timer: NodeJS.Timeout | undefined;
  #look: NodeJS.Immediate | undefined;
  #startedAtMs = 0;
  #heardAtMs = 0;
  #abandonedAtMs: number | undefined;
  /** The child's processor time when the phase began, by its own count. */
  #cpuBaseMs = 0;
  isWaiting = false;
  #isGreedy = false;

  /** `onGreedy` is called once for a request that computes for long: from then on it should give way to the others. */
  constructor(limits: Limits, pid: number, onOverdue: (limit: Overdue) => void, onGreedy: () => void) {
    this.#limits = limits;
    this.#pid = pid;
    this.#onOverdue = onOverdue;
    this.#onGreedy = onGreedy;
  }

  start(): void {
    this.#startedAtMs = this.#heardAtMs = performance.now();
    this.#abandonedAtMs = undefined;
    this.isWaiting = false;
    this.#isGreedy = false;
    this.#arm();
  }

  /** The child called, or was answered. */
  heard(): void {
    this.#heardAtMs = performance.now();
    if (!this.#isGreedy && this.#timer !== undefined) this.#arm();
  }

  nextPhase(cpuMs: number): void {
    this.#cpuBaseMs = cpuMs;
    this.heard();
  }

  abandoned(): void {
    this.#abandonedAtMs ??= performance.now();
    this.#arm();
  }

  stop(cpuMs?: number): void {
    if (cpuMs !== undefined) this.#cpuBaseMs = cpuMs;
    this.#disarm();
    this.#timer = undefined;
  }

  #arm(): void {
    this.#disarm();
    this.#timer = setTimeout(
      () => {
        // A host that had no time may yet have to hear that the child is done, perhaps with several requests. It does before this.
        this.#look = setImmediate(() => this.#check());
      },
      Math.max(CHECK_MS_MIN, this.#nextCheckMs()),
    );
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#look);
  }

  /** Processor time passes no faster than time, so nothing can become overdue sooner than this. */
  #nextCheckMs(): number {
    const { cpuMs, wallMs, totalMs, killAfterMs } = this.#limits;
    const now = performance.now();
    if (this.#abandonedAtMs !== undefined) return this.#abandonedAtMs + killAfterMs - now;
    const total = this.#startedAtMs + totalMs - now;
    if (!this.#isGreedy && !this.isWaiting) return Math.min(total, GREEDY_CHECK_MS);
    const wall = this.isWaiting ? wallMs : this.#heardAtMs + wallMs + killAfterMs - now;
    // Also while it waits: it may be answered the moment after, and compute from then on.
    return Math.min(total, wall, cpuMs + killAfterMs - (this.#timer === undefined ? 0 : this.#cpuUsedMs()));
  }

  #check(): void {
    const { cpuMs, wallMs, totalMs, killAfterMs } = this.#limits;
    const now = performance.now();
    if (this.#abandonedAtMs !== undefined) {
      if (now - this.#abandonedAtMs >= killAfterMs) return this.#onOverdue('unheeded');
    } else if (now - this.#startedAtMs >= totalMs) {
      return this.#onOverdue('total');
    } else if (!this.isWaiting) {
      if (!this.#isGreedy && this.#cpuUsedMs() >= GREEDY_CPU_MS) {
        this.#isGreedy = true;
        this.#onGreedy();
      }
      if (this.#cpuUsedMs() >= cpuMs + killAfterMs) return this.#onOverdue('cpu');
      if (now - this.#heardAtMs >= wallMs + killAfterMs) return this.#onOverdue('wall');
    }
    this.#arm();
  }

  #cpuUsedMs(): number {
    const total = threadCpuMs(this.#pid);
    return total === undefined ? 0 : total - this.#cpuBaseMs;
  }
}
