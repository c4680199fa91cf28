import { Worker } from 'node:worker_threads';
import { RefusedError, StoreUnavailableError, type WorkerId } from '#base';
import type { Worker as WorkerRow } from '#model';
import {
  type Beat,
  errorOf,
  type PulseData,
  RENEWED_AT,
  RENEWED_WALL,
  SHARED_BYTES,
  TICKED_AT,
  type Wish,
} from './pulse-data.ts';

type Status = WorkerRow['status'];

export interface PulseListener {
  /** What people want of this process, as its row says at each sign of life. */
  onStatus(status: Status): void;
  onError(error: unknown): void;
  /** This incarnation was declared over: nothing it does can land, and it must end. */
  onLost(error: unknown): void;
}

/** The sign of life of this process, however it is given. */
export interface Pulse {
  /** This incarnation is registered: that was the first sign. */
  begin(): void;
  start(listener: PulseListener): void;
  /** Also out of turn, when somebody has asked something of this process. */
  beatNow(): void;
  /** How long ago the last sign was asked for that was answered, by whichever clock says that more time has passed. */
  sinceMs(): number;
  stop(): Promise<void>;
}

/** Of a lease of 45 s: renewed every 5 s, and the loop shows every second that it is not stuck. */
export const RENEWALS = 9;
const TICKS = 45;

/**
 * From a thread of its own, which a busy loop and a long queue do not keep waiting. It goes on only while the loop that does the work ticks:
 * one that is stuck is taken over.
 */
export class ThreadPulse implements Pulse {
  readonly #worker: WorkerId;
  readonly #leaseMs: number;
  readonly #times: BigInt64Array;
  readonly #thread: Worker;
  readonly #ended: Promise<unknown>;
  #listener: PulseListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  private constructor({ url, worker, leaseMs }: ThreadPulseOptions) {
    this.#worker = worker;
    this.#leaseMs = leaseMs;
    const shared = new SharedArrayBuffer(SHARED_BYTES);
    this.#times = new BigInt64Array(shared);
    const workerData: PulseData = { url, worker, leaseMs, everyMs: leaseMs / RENEWALS, shared };
    this.#thread = new Worker(new URL('./pulse-thread.ts', import.meta.url), { workerData });
    this.#ended = new Promise((resolve) => this.#thread.once('exit', resolve));
  }

  /** Ready to begin: a thread takes its time to start, and a lease does not wait for it. */
  static async open(options: ThreadPulseOptions): Promise<ThreadPulse> {
    const pulse = new ThreadPulse(options);
    const first = await new Promise<Beat>((resolve, reject) => {
      pulse.#thread.once('message', resolve);
      pulse.#thread.once('error', reject);
    });
    if (first.kind === 'unopened') {
      await pulse.#ended;
      throw errorOf(first.failure);
    }
    pulse.#thread.on('message', (beat: Beat) => pulse.#hear(beat));
    // Without it this process would be taken for dead, so it is better dead at once.
    pulse.#thread.on('error', (error) => pulse.#listener?.onLost(error));
    return pulse;
  }

  begin(): void {
    this.#tick();
    Atomics.store(this.#times, RENEWED_AT, process.hrtime.bigint());
    Atomics.store(this.#times, RENEWED_WALL, BigInt(Date.now()));
    this.#timer = setInterval(() => this.#tick(), this.#leaseMs / TICKS);
    this.#thread.postMessage('begin' satisfies Wish);
  }

  start(listener: PulseListener): void {
    this.#listener = listener;
  }

  beatNow(): void {
    if (!this.#isStopped) this.#thread.postMessage('beat' satisfies Wish);
  }

  sinceMs(): number {
    const steady = Number(process.hrtime.bigint() - Atomics.load(this.#times, RENEWED_AT)) / 1e6;
    return Math.max(steady, Date.now() - Number(Atomics.load(this.#times, RENEWED_WALL)));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#isStopped) this.#thread.postMessage('end' satisfies Wish);
    this.#isStopped = true;
    await this.#ended;
  }

  #hear(beat: Beat): void {
    if (this.#isStopped || beat.kind === 'ready' || beat.kind === 'unopened') return;
    if (beat.kind === 'renewed') return this.#listener?.onStatus(beat.status as Status);
    if (beat.kind === 'failed') {
      return this.#listener?.onError(noSign(beat.error));
    }
    this.#listener?.onLost(declaredOver(this.#worker));
  }

  #tick(): void {
    Atomics.store(this.#times, TICKED_AT, process.hrtime.bigint());
  }
}

function declaredOver(worker: WorkerId): RefusedError {
  return new RefusedError({
    code: 'fenced',
    message: `worker ${worker} was declared over`,
    why: 'it showed no sign of life for so long that others took it for dead: nothing it does can be written any more',
    next: [{ label: 'start it again: each start is a new incarnation' }],
    ids: { worker },
  });
}

function noSign(why: string): StoreUnavailableError {
  return new StoreUnavailableError({
    code: 'store-unreachable',
    message: 'no sign of life could be given',
    why,
    next: [{ label: 'see that PostgreSQL runs; a running Pawl then goes on by itself' }],
    retryable: true,
  });
}

interface ThreadPulseOptions {
  readonly url: string;
  readonly worker: WorkerId;
  readonly leaseMs: number;
}
