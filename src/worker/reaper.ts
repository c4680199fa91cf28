import { type Clock, type ExecutionId, RefusedError, type WorkerId, type WorkflowId } from '#base';
import type { Engine } from '#execution';

const PAGE = 256;
/** A lease is looked at this often: whoever dies is missed after a lease and a third. */
const LOOKS = 3;
/** An incarnation that has shown no sign of life for so many leases is struck off the list. */
const STRUCK_OFF = 20;

export interface ReaperOptions {
  readonly engine: Pick<Engine, 'manager' | 'reader' | 'self'>;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** How long a session of this workflow may take; undefined for as long as it likes. */
  readonly timeoutMsOf: (workflow: WorkflowId) => Promise<number | undefined>;
  readonly hasTimeouts: boolean;
  readonly onError: (error: unknown) => void;
}

/** Ends the executions of the dead, those that take too long, and those cancelled before anybody came. Any number may run. */
export class Reaper {
  readonly #options: ReaperOptions;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isLooking = false;

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), this.#options.leaseMs / LOOKS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  #tick(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#looking = this.#look()
      .catch(this.#options.onError)
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #look(): Promise<void> {
    const { reader, self, manager } = this.#options.engine;
    // Before it is asked: what was true then is old when this process stands still meanwhile, and nobody is to seem silent because of that.
    const now = this.#options.clock.now();
    const workers = await reader.unendedWorkers();
    const living = new Set(workers.filter(({ leaseUntil }) => leaseUntil > now).map(({ id }) => id));
    // One whose workflow is in other hands keeps nobody else's from being ended.
    const troubles: unknown[] = [];
    for (let after = ''; ; ) {
      const page = await reader.unfinishedExecutions({ after, limit: PAGE });
      troubles.push(...(await troublesOf(page.map((each) => this.#judge(each, living)))));
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      after = last.id;
    }
    const silentMs = STRUCK_OFF * this.#options.leaseMs;
    // Who asks is there, whatever its lease says.
    const gone = workers.filter(({ id, leaseUntil }) => id !== self && leaseUntil + silentMs < now);
    troubles.push(...(await troublesOf(gone.map(({ id }) => orFaster(manager.endWorker(id, { silentMs }))))));
    if (troubles.length > 0) throw troubles[0];
  }

  async #judge(
    { id, epoch, status, owner }: Awaited<ReturnType<Engine['reader']['unfinishedExecutions']>>[number],
    living: ReadonlySet<WorkerId>,
  ): Promise<void> {
    if (owner !== null && !living.has(owner)) return this.#reap(id, epoch, {});
    if (status === 'scheduled') return this.#endCancelled(id);
    if (this.#options.hasTimeouts) await this.#endLate(id);
  }

  /** Nobody came for it, and nobody needs to any more. */
  async #endCancelled(id: ExecutionId): Promise<void> {
    const { clock, engine, leaseMs } = this.#options;
    const [row] = await engine.reader.fetch('execution', id);
    if (row?.status !== 'scheduled' || row.cancelRequestedAt === null) return;
    if (row.cancelRequestedAt + leaseMs < clock.now()) await this.#reap(id, row.epoch, {});
  }

  async #endLate(id: ExecutionId): Promise<void> {
    const { clock, engine, timeoutMsOf } = this.#options;
    const [row] = await engine.reader.fetch('execution', id);
    if (row?.status !== 'running' || row.startedAt === null) return;
    const timeoutMs = await timeoutMsOf(row.workflowId);
    if (timeoutMs === undefined || row.startedAt + timeoutMs >= clock.now() || (await this.#isCalling(row.workflowId)))
      return;
    await this.#reap(id, row.epoch, { timeoutMs });
  }

  /** Its owner lives and its answer may come any moment: taken away now, nobody would know what became of the call. */
  async #isCalling(workflow: WorkflowId): Promise<boolean> {
    const { clock, engine } = this.#options;
    const open = await engine.reader.fetch('openLedger', workflow);
    return open.some(({ status, callDeadline }) => status === 'in_flight' && (callDeadline ?? 0) > clock.now());
  }

  async #reap(id: ExecutionId, epoch: number, how: { readonly timeoutMs?: number }): Promise<void> {
    await orFaster(this.#options.engine.manager.reapExecution(id, epoch, { provenDead: false, ...how }));
  }
}

async function troublesOf(acts: readonly Promise<void>[]): Promise<readonly unknown[]> {
  const ends = await Promise.allSettled(acts);
  return ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
}

/** Another reaper, or the owner itself after all, was faster. */
async function orFaster(act: Promise<unknown>): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
}
