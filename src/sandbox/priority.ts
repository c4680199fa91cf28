import { setPriority } from 'node:os';

/** The lowest priority there is. */
export const NICE_MAX = 19;

/** Scripts give way to the engine. Where the system refuses, they do not; says whether they do. */
function renice(pid: number, nice: number): boolean {
  try {
    setPriority(pid, nice);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

/** The priority of one child: its own, or the lowest while it computes for long. */
export class Priority {
  readonly #pid: number;
  #nice: number;
  #hasGivenWay = false;

  constructor(pid: number, nice: number) {
    this.#pid = pid;
    this.#nice = nice;
    if (pid > 0) renice(pid, nice);
  }

  set(nice: number): void {
    this.#nice = nice;
    if (!this.#hasGivenWay) renice(this.#pid, nice);
  }

  giveWay(): void {
    this.#hasGivenWay = renice(this.#pid, NICE_MAX);
  }

  /** Only some users may raise a priority again; says whether it is as it should be. */
  comeBack(): boolean {
    if (!this.#hasGivenWay) return true;
    this.#hasGivenWay = false;
    return renice(this.#pid, this.#nice);
  }
}
