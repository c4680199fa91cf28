import type { Member } from '#execution';

type Pulse = Member['pulse'];

/** Of a lease of 45 s: after 25 s without an answer nothing is begun any more. The clock is asked for every 5 s. */
const TRUSTED = 25 / 45;
const LOOKS = 9;

export interface LeaseOptions {
  readonly pulse: Pulse;
  readonly leaseMs: number;
  /** Asks the database what time it is. */
  readonly setClock: () => Promise<void>;
  readonly onStatus: Parameters<Pulse['start']>[0]['onStatus'];
  readonly onError: (error: unknown) => void;
  readonly onLost: (error: unknown) => void;
}

/** How long this incarnation may act as if it were alive. Its signs of life go on while the process drains. */
export class Lease {
  readonly #options: LeaseOptions;
  #timer: NodeJS.Timeout | undefined;
  #setting: Promise<void> | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  start(): void {
    const { pulse, leaseMs, onStatus, onError, onLost } = this.#options;
    pulse.start({ onStatus, onError, onLost });
    this.#timer = setInterval(() => this.#setClock(), leaseMs / LOOKS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#setting;
    await this.#options.pulse.stop();
  }

  get holds(): boolean {
    return this.#options.pulse.sinceMs() < this.#options.leaseMs * TRUSTED;
  }

  /** Somebody has asked something of this process: what, is in the answer to the next sign. */
  renewNow(): void {
    this.#options.pulse.beatNow();
  }

  #setClock(): void {
    this.#setting ??= this.#options
      .setClock()
      .catch(this.#options.onError)
      .finally(() => {
        this.#setting = undefined;
      });
  }
}
