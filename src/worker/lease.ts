import { RefusedError } from '#base';
import type { Engine } from '#execution';

/** Of a lease of 45 s: renewed every 5 s, and after 25 s without an answer nothing is begun any more. */
const RENEWALS = 9;
const TRUSTED = 25 / 45;

export interface LeaseOptions {
  readonly engine: Pick<Engine, 'manager' | 'self'>;
  readonly leaseMs: number;
  /** Asks the database what time it is, as often as the lease is renewed. */
  readonly setClock: () => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** This incarnation was declared over: nothing it does can land, and it must end. */
  readonly onLost: (error: unknown) => void;
}

/**
 * The sign of life of this incarnation. It comes from the loop that does the work: one that is stuck shows none, and is taken over.
 * It goes on while the process drains.
 */
export class Lease {
  readonly #options: LeaseOptions;
  #renewed = { steady: performance.now(), wall: Date.now() };
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), this.#options.leaseMs / RENEWALS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
  }

  /** By whichever clock says that more time has passed: one stands still while the machine sleeps, the other may be set. */
  get holds(): boolean {
    const { steady, wall } = this.#renewed;
    const passedMs = Math.max(performance.now() - steady, Date.now() - wall);
    return passedMs < this.#options.leaseMs * TRUSTED;
  }

  #isRenewing = false;

  #tick(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    this.#renewing = this.#renew().finally(() => {
      this.#isRenewing = false;
    });
  }

  async #renew(): Promise<void> {
    const { engine, leaseMs, setClock, onError, onLost } = this.#options;
    // From when it was asked for: the answer may have been long on its way.
    const asked = { steady: performance.now(), wall: Date.now() };
    try {
      await engine.manager.renewWorker(engine.self, leaseMs);
      this.#renewed = asked;
      await setClock();
    } catch (error) {
      if (error instanceof RefusedError) onLost(error);
      else onError(error);
    }
  }
}
