import { type Clock, type MutationId, PawlError, RefusedError, type WorkflowId } from '#base';
import type { Engine, Member } from '#execution';
import { Lease } from './lease.ts';
import { Reaper } from './reaper.ts';
import { WorkflowNames } from './workflow-names.ts';

type WorkerStatus = Awaited<ReturnType<Engine['manager']['renewWorker']>>['status'];
type HandOff = Awaited<ReturnType<Engine['reader']['handOffs']>>[number];

/** However many are looked at, so that what another pool leaves lying hides nothing of ours for long. */
const PAGE = 500;
/** Calls may be missed: the rows are looked at this often whatever was heard. */
const LOOK_MS = 1_000;
/** And less and less often while nothing is found and nobody calls: in the end so often in a lease. */
const LOOKS_IN_LEASE = 9;
const TROUBLE_MS = 1_000;

export interface WorkerOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly pulse: Member['pulse'];
  /** Sessions and look-ups at once; none for a process that only hands off. */
  readonly concurrency: number;
  readonly reaps: boolean;
  /** Whether a workflow of this name is for workers like this one. */
  readonly isOurs: (name: string) => boolean;
  /** Whether this process has what the workflow uses; what it lacks it leaves to others. */
  readonly canTake: (handOff: HandOff) => Promise<boolean>;
  /** Whether it can ask through this connection what became of a call. */
  readonly canAsk: (connection: string) => boolean;
  readonly timeoutMsOf: (workflow: WorkflowId) => Promise<number | undefined>;
  readonly hasTimeouts: boolean;
  /** Takes and runs what was handed off. */
  readonly take: (handOff: HandOff) => Promise<unknown>;
  readonly reconcile: (mutation: MutationId) => Promise<unknown>;
  readonly setClock: () => Promise<void>;
  /** Somebody asked this process to finish what it has, and to end. */
  readonly onDrain: () => void;
  readonly onError: (error: unknown) => void;
  readonly onLost: (error: unknown) => void;
}

/** Looks for what was handed off and for questions that are due, as long as its lease holds. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #lease: Lease;
  readonly #reaper: Reaper;
  readonly #busy = new Map<string, Promise<void>>();
  readonly #names: WorkflowNames;
  #timer: NodeJS.Timeout | undefined;
  #lookMs = LOOK_MS;
  #isLooking = false;
  #lookAgain = false;
  #looked: Promise<void> = Promise.resolve();
  #isStopped = false;
  #isStrangeTold = false;
  #status: WorkerStatus = 'open';
  #unlisten: readonly (() => void)[] = [];

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#names = new WorkflowNames(options.engine);
    const { engine, clock, leaseMs, pulse, setClock, onError, onLost, timeoutMsOf, hasTimeouts } = options;
    const onStatus = (status: WorkerStatus): void => this.#hear(status);
    this.#lease = new Lease({ pulse, leaseMs, setClock, onStatus, onError, onLost });
    this.#reaper = new Reaper({ engine, clock, leaseMs, timeoutMsOf, hasTimeouts, onError });
  }

  /** Whether this process may begin anything. */
  get mayBegin(): boolean {
    return !this.#isStopped && this.#lease.holds;
  }

  /** Whether it may take more, besides: a cordoned worker goes on with what it has. */
  get takesWork(): boolean {
    return this.mayBegin && this.#status === 'open';
  }

  /** How many more could begin now. */
  get free(): number {
    return this.takesWork ? this.#options.concurrency - this.#busy.size : 0;
  }

  /** Somebody says that this was handed off; the claim will tell. False where there is no room for it. */
  offer(handOff: HandOff): boolean {
    if (this.free <= 0) return false;
    const { canTake, take } = this.#options;
    this.#do(handOff.execution, async () => ((await canTake(handOff)) ? take(handOff) : undefined));
    return true;
  }

  start(): void {
    this.#lease.start();
    if (this.#options.reaps) this.#reaper.start();
    const { engine } = this.#options;
    this.#unlisten = [
      // What this process wrote of a workflow's time is no handoff: a scheduler hands it off first.
      engine.listenDue((due) => {
        if (due === undefined) this.#called();
      }),
      engine.listen((changes) => {
        if (changes.some(({ kind, id }) => kind === 'worker' && id === engine.self)) this.#lease.renewNow();
      }),
    ];
    this.#wake();
  }

  /** Nothing more is taken; resolves when what is under way has reached a safe point. The lease is renewed until `stop`. */
  async drain(): Promise<void> {
    this.#isStopped = true;
    for (const forget of this.#unlisten) forget();
    clearTimeout(this.#timer);
    await this.#reaper.stop();
    await this.#looked;
    await Promise.all(this.#busy.values());
  }

  async stop(): Promise<void> {
    await this.#lease.stop();
  }

  #called(): void {
    this.#lookMs = LOOK_MS;
    this.#wake();
  }

  #wake(): void {
    if (this.#isStopped || this.#isLooking) {
      this.#lookAgain = true;
      return;
    }
    this.#isLooking = true;
    setImmediate(() => {
      this.#looked = this.#lookOnce();
    });
  }

  async #lookOnce(): Promise<void> {
    this.#lookAgain = false;
    clearTimeout(this.#timer);
    let waitMs = TROUBLE_MS;
    try {
      if (this.takesWork) await this.#look();
      waitMs = this.#lookMs;
      this.#lookMs = Math.min(this.#lookMs * 2, Math.max(LOOK_MS, this.#options.leaseMs / LOOKS_IN_LEASE));
    } catch (error) {
      this.#options.onError(error);
    }
    this.#isLooking = false;
    if (this.#isStopped) return;
    if (this.#lookAgain) this.#wake();
    else this.#timer = setTimeout(() => this.#wake(), waitMs);
  }

  async #look(): Promise<void> {
    const { engine, clock, concurrency, canAsk, take, reconcile } = this.#options;
    const free = concurrency - this.#busy.size;
    if (free <= 0) return;
    const [handOffs, unknown, strange] = await Promise.all([
      engine.reader.handOffs(PAGE),
      engine.reader.dueReconciles(clock.now(), free),
      engine.reader.strangeMessages(1),
    ]);
    if (strange.length > 0) this.#tellStrange(String(strange[0]));
    const ours = await this.#ours(handOffs.filter(({ execution }) => !this.#busy.has(execution)));
    for (const handOff of spread(ours, free)) this.#do(handOff.execution, () => take(handOff));
    for (const { id, connection } of unknown) if (canAsk(connection)) this.#do(id, () => reconcile(id));
  }

  async #ours(handOffs: readonly HandOff[]): Promise<HandOff[]> {
    const names = await Promise.all(handOffs.map(({ workflow }) => this.#names.of(workflow)));
    const ours = handOffs.filter((_, i) => this.#options.isOurs(names[i] ?? ''));
    const can = await Promise.all(ours.map((handOff) => this.#options.canTake(handOff)));
    return ours.filter((_, i) => can[i]);
  }

  #tellStrange(message: string): void {
    if (this.#isStrangeTold) return;
    this.#isStrangeTold = true;
    this.#options.onError(
      new PawlError({
        code: 'newer-message',
        message: `message ${message} is of a version that this process does not know`,
        why: 'it was written by a newer version, and stays for a process that knows it',
        next: [{ label: 'finish the upgrade: start this process with the newer version too' }],
      }),
    );
  }

  #do(key: string, act: () => Promise<unknown>): void {
    if (!this.takesWork || this.#busy.size >= this.#options.concurrency || this.#busy.has(key)) return;
    this.#lookMs = LOOK_MS;
    const done = this.#orWait(act).finally(() => {
      this.#busy.delete(key);
      this.#wake();
    });
    this.#busy.set(key, done);
  }

  #hear(status: WorkerStatus): void {
    if (this.#status === status || this.#status === 'draining') return;
    this.#status = status;
    if (status === 'open') this.#wake();
    if (status === 'draining') this.#options.onDrain();
  }

  async #orWait(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      // The row says so before this process has heard of it.
      if (error instanceof RefusedError && error.code === 'cordoned') return this.#hear('cordoned');
      this.#options.onError(error);
      await new Promise((resolve) => setTimeout(resolve, TROUBLE_MS));
    }
  }
}

/** Any of them where there is more than we can take, so that all workers do not reach for the same one. */
function spread(handOffs: readonly HandOff[], free: number): readonly HandOff[] {
  if (handOffs.length <= free) return handOffs;
  const from = Math.floor(Math.random() * (handOffs.length - free + 1));
  return handOffs.slice(from, from + free);
}
