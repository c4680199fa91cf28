import { RefusedError, type WorkerId } from '#base';
import type { ExecutionModelManager } from './manager.ts';
import { type Pulse, type PulseListener, RENEWALS } from './pulse.ts';

/** From the loop that does the work, as a command like any other: for tables that no thread can reach. */
export class LoopPulse implements Pulse {
  readonly #manager: Pick<ExecutionModelManager, 'renewWorker'>;
  readonly #worker: WorkerId;
  readonly #leaseMs: number;
  #renewed = { steady: performance.now(), wall: Date.now() };
  #listener: PulseListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;

  constructor(manager: Pick<ExecutionModelManager, 'renewWorker'>, worker: WorkerId, leaseMs: number) {
    this.#manager = manager;
    this.#worker = worker;
    this.#leaseMs = leaseMs;
  }

  begin(): void {
    this.#renewed = { steady: performance.now(), wall: Date.now() };
  }

  start(listener: PulseListener): void {
    this.#listener = listener;
    this.#timer = setInterval(() => this.beatNow(), this.#leaseMs / RENEWALS);
  }

  beatNow(): void {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
  }

  /** One clock stands still while the machine sleeps, the other may be set. */
  sinceMs(): number {
    const { steady, wall } = this.#renewed;
    return Math.max(performance.now() - steady, Date.now() - wall);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
  }

  async #renew(): Promise<void> {
    // From when it was asked for: the answer may have been long on its way.
    const asked = { steady: performance.now(), wall: Date.now() };
    try {
      const { status } = await this.#manager.renewWorker(this.#worker, this.#leaseMs);
      this.#renewed = asked;
      this.#listener?.onStatus(status);
    } catch (error) {
      if (error instanceof RefusedError) this.#listener?.onLost(error);
      else this.#listener?.onError(error);
    }
  }
}
