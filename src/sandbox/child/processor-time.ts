import type { ChildIo } from './pipe.ts';

/** This thread's processor time, asked for as seldom as can be: to ask takes as long as many a line of a script. */
export class ProcessorTime {
  /** A phase that took no longer is not asked for its processor time: the limit is two thousand times that. */
  static readonly UNASKED_MS = 1;

  /** As it was at the last look. */
  ms = 0;
  /** When that was, on the child's clock. */
  #atMs = 0;
  #io: ChildIo;

  constructor(io: ChildIo) {
    this.#io = io;
  }

  look(): number {
    this.ms = this.#io.cpuMs();
    this.#atMs = this.#io.nowMs();
    return this.ms;
  }

  /**
   * Where a phase ends and the next begins at once. Of a short one it is not asked: it took no more than the time that passed, and the next
   * look, before the child waits for the host again, sets it right.
   */
  betweenPhases(messageAtMs: number): number {
    const tookMs = this.#io.nowMs() - Math.max(messageAtMs, this.#atMs);
    if (tookMs > ProcessorTime.UNASKED_MS) return this.look();
    this.ms += tookMs;
    this.#atMs = this.#io.nowMs();
    return this.ms;
  }
}
