import type { ChildIo } from './pipe.ts';

/** This thread's processor time, asked for as seldom as can be: to ask takes as long as many a line of a script. */
export class ProcessorTime {
  /** Phases that took no longer, all together, are not asked for their processor time: the limit is two thousand times that. */
  static readonly UNASKED_MS = 1;

  /** As it was at the last look, and what short phases took since. */
  ms = 0;
  /** When that was, on the child's clock. */
  #atMs = 0;
  /** What has been added since. */
  #unaskedMs = 0;
  #io: ChildIo;

  constructor(io: ChildIo) {
    this.#io = io;
  }

  look(): number {
    this.ms = this.#io.cpuMs();
    this.#atMs = this.#io.nowMs();
    this.#unaskedMs = 0;
    return this.ms;
  }

  /**
   * Where a phase ends and the next begins at once. Of a short one it is not asked: it took no more than the time that passed, and the next
   * look sets it right. A child whose line never ends looks up now and then all the same: else one phase would pay for what it cost to
   * read and answer thousands, or have the time that they did not use.
   */
  betweenPhases(messageAtMs: number): number {
    const tookMs = this.#io.nowMs() - Math.max(messageAtMs, this.#atMs);
    this.#unaskedMs += tookMs;
    if (this.#unaskedMs > ProcessorTime.UNASKED_MS) return this.look();
    this.ms += tookMs;
    this.#atMs = this.#io.nowMs();
    return this.ms;
  }
}
