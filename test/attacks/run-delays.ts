import { readFileSync } from 'node:fs';

const LOOK_MS = 50;
const NS_PER_MS = 1_000_000;

/**
 * How long these processes were ready to go on and the machine gave its processors to others. A limit on processor time is kept
 * on the child's own clock; with this a test can say so on a machine that does other things too. Where the system does not tell, none.
 */
export class RunDelays {
  readonly #pids: () => readonly number[];
  readonly #waitedNs = new Map<number, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(pids: () => readonly number[]) {
    this.#pids = pids;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** Of all of them together, since the beginning. */
  waitedMs(): number {
    this.#look();
    return [...this.#waitedNs.values()].reduce((sum, ns) => sum + ns, 0) / NS_PER_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const pid of this.#pids()) {
      try {
        const [, waited] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ');
        this.#waitedNs.set(pid, Number(waited));
      } catch {
        // It has ended; what it waited until the last look stays counted.
      }
    }
  }
}
