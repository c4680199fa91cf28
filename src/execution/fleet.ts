import { type Clock, type IdSource, monotonicIds, RefusedError, type WorkerId } from '#base';
import type { Write } from '#model';
import {
  type LaterHistory,
  type LaterReader,
  openPostgresHistory,
  openPostgresReader,
  openPostgresStore,
  type Store,
  Switchboard,
  type SwitchboardOptions,
} from '#store';
import { type Change, ChangeFeed, ChangeSet } from './changes.ts';
import { CommitQueue } from './commit-queue.ts';
import { DatabaseClock } from './database-clock.ts';
import { type Engine, LEASE_MS, type Observer } from './engine.ts';
import { LoopPulse } from './loop-pulse.ts';
import { ExecutionModelManager } from './manager.ts';
import { type Pulse, ThreadPulse } from './pulse.ts';
import { holdRestored, holdViolators } from './recovery.ts';

export interface FleetOptions {
  readonly url: string;
  readonly role: 'executor' | 'worker' | 'both';
  /** What people call this process; a new start under the same name is another incarnation. */
  readonly name: string;
  readonly pool: string;
  readonly leaseMs?: number | undefined;
  readonly ids?: IdSource;
  readonly version?: string | undefined;
  /** Sessions it takes at once. */
  readonly concurrency?: number | undefined;
  readonly onFatal?: ((error: unknown) => void) | undefined;
  /** Told what goes on, and is hardly what was meant. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly observer?: Observer | undefined;
  /** Old history is removed here. */
  readonly prunes?: boolean | undefined;
  /** True while somebody else tells workers of what is handed off. */
  readonly isToldOtherwise?: (() => boolean) | undefined;
}

/** The line on which processes call each other, and ask what time it is. */
export type Line = Pick<Switchboard, 'call' | 'now' | 'close' | 'isOpen'>;

/** Where the tables are, and who else is there. */
export interface FleetDatabase {
  openLine(hearing: Omit<SwitchboardOptions, 'url'>): Promise<Line>;
  /** What each commit calls to the others is said by `callFor`. */
  openStore(callFor: (writes: readonly Write[]) => string | undefined): Promise<Store>;
  openReader(): Promise<LaterReader>;
  openHistory(): Promise<LaterHistory>;
  /** From a thread of its own, where one can reach the tables. */
  openPulse?(worker: WorkerId, leaseMs: number): Promise<Pulse>;
}

function onPostgres({ url, role, prunes, onWarning }: FleetOptions): FleetDatabase {
  const onOwnAccount = (user: string): void => onWarning?.(unheld(user));
  return {
    openLine: (hearing) => Switchboard.open({ url, ...hearing }),
    openStore: (callFor) =>
      openPostgresStore({ url, callFor, role: role === 'both' ? undefined : role, prunes, onOwnAccount }),
    openReader: () => openPostgresReader(url),
    openHistory: () => openPostgresHistory(url),
    openPulse: (worker, leaseMs) => ThreadPulse.open({ url, worker, leaseMs }),
  };
}

function unheld(user: string): string {
  const mistakes = 'the database keeps it from mistakes only, and not from what is a worker’s whatever happens to it';
  return `this executor acts as ${user}, the user of DATABASE_URL, and not as pawl_executor: ${mistakes} (docs/operations.md)`;
}

/** One process among many at the same database. */
export interface Member {
  readonly engine: Engine;
  /** The database's own, as near as this machine can tell. */
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Its sign of life; whoever works here starts it. */
  readonly pulse: Pulse;
  /** Asks the database what time it is. */
  setClock(): Promise<void>;
}

/** How long changes are gathered before the others are told: they are for people who look on. */
const GATHER_MS = 100;
/** Work that is due is called soon, but not for every commit by itself. */
const DUE_MS = 5;
const CHANGES_MAX = 60;
/** Of a lease, without an answer to any of its signs of life: the database is not there. Three of nine are due in it. */
const SILENT_SHARE = 3;

/**
 * Joins whoever works on this database already. Nobody is taken for dead here: that is the reaper's, by the leases. What this
 * process commits is called to the others, and what they call is told to whoever listens here.
 */
export async function joinFleet(options: FleetOptions, database = onPostgres(options)): Promise<Member> {
  const { observer } = options;
  const changes = new ChangeFeed();
  changes.onWrites = observer && ((writes) => observer.wrote(writes));
  const origin = process.pid.toString(36) + Math.random().toString(36).slice(2, 8);
  const line = await database.openLine({
    hear: (text) => hear(changes, origin, text),
    missed: () => changes.tellMissed(),
  });
  // An open line would keep a process alive that could not start.
  return joinOn(line, database, changes, origin, options).catch(async (error: unknown) => {
    await line.close();
    throw error;
  });
}

async function joinOn(
  line: Line,
  database: FleetDatabase,
  changes: ChangeFeed,
  origin: string,
  options: FleetOptions,
): Promise<Member> {
  const { role, leaseMs = LEASE_MS, observer } = options;
  const clock = new DatabaseClock(line);
  await clock.set();
  const ids = options.ids ?? monotonicIds(clock);
  const callFor = (writes: readonly Write[]): string | undefined =>
    urgentCall(origin, writes, options.isToldOtherwise?.() === true);
  const store = await database.openStore(callFor);
  const self = ids.next('worker');
  const { reader, history, thread } = await openRest(database, store, self, leaseMs);
  const onCommit = observer && ((commands: number, ms: number) => observer.committed(commands, ms));
  const queue = new CommitQueue({ store, clock, ids, changes, onCommit, onFatal: options.onFatal ?? throwLater });
  const manager = new ExecutionModelManager(queue, reader);
  const pulse: Pulse = thread ?? new LoopPulse(manager, self, leaseMs);
  const gossip = new Gossip(changes, line, origin);
  const letGo = async (): Promise<void> => {
    gossip.close();
    queue.close();
    await Promise.all([pulse.stop(), history.close(), reader.close(), line.close(), store.close()]);
  };
  try {
    // Also an executor is seen among the workers; it takes nothing, so nothing of its is ever reaped.
    const hands = role === 'executor' ? { pool: EXECUTORS, concurrency: 0 } : { pool: options.pool };
    const { name, version, concurrency } = options;
    await manager.registerWorker(self, { name, version, concurrency, leaseMs, ...hands });
    pulse.begin();
    const tasks = await manager.recoverMaintenanceMode();
    const orphaned = await manager.assertNoOrphanedReservedEvents();
    const violations = await holdViolators(manager, reader);
    const restored = store.isRestored() ? await holdRestored(manager, reader) : [];
    if (store.isRestored()) await store.forgetRestored();
    const engine: Engine = {
      manager,
      reader,
      history,
      self,
      ids,
      recovered: { runs: 0, sessions: 0, tasks, orphanedEvents: orphaned.events, violations },
      restored,
      waiting: (workflow, topic, limit) => store.waiting?.(workflow, topic, limit),
      backUp: () => refuseBackUp(),
      listen: (listener) => changes.listen(listener),
      listenDue: (listener) => changes.listenDue(listener),
      // Who has nothing to write is told of the database's end by its line, or by signs of life that nobody answers.
      takesWrites: () => queue.isOpen && line.isOpen && pulse.sinceMs() < leaseMs / SILENT_SHARE,
      close: async () => {
        try {
          await manager.endWorker(self);
          await queue.drained();
        } finally {
          await letGo();
        }
      },
    };
    return { engine, clock, leaseMs, pulse, setClock: () => clock.set() };
  } catch (error) {
    await letGo();
    throw error;
  }
}

/** All of it or nothing: what did open would keep a process alive that could not start. */
async function openRest(database: FleetDatabase, store: Store, self: WorkerId, leaseMs: number) {
  const opening = [database.openReader(), database.openHistory(), database.openPulse?.(self, leaseMs)] as const;
  try {
    const [reader, history, thread] = await Promise.all(opening);
    return { reader, history, thread };
  } catch (error) {
    const [reader, history, thread] = await Promise.allSettled(opening);
    await Promise.allSettled([
      store.close(),
      reader.status === 'fulfilled' && reader.value.close(),
      history.status === 'fulfilled' && history.value.close(),
      thread.status === 'fulfilled' && thread.value?.stop(),
    ]);
    throw error;
  }
}

/** The pool of those who hand work off and take none. */
export const EXECUTORS = '(executor)';

interface Call {
  readonly from: string;
  /** Something may be due, or handed off, now. */
  readonly due?: true;
  readonly changes?: readonly Change[];
}

/** Said with the commit itself: what somebody else has to do now. */
function urgentCall(from: string, writes: readonly Write[], isToldOtherwise: boolean): string | undefined {
  const taken = new Set(writes.flatMap((write) => (write.set === 'execution.running' ? [write.execution] : [])));
  const handedOff = writes.some(
    (write) =>
      !isToldOtherwise &&
      write.set === 'message.sent' &&
      write.row.type === 'execution.scheduled' &&
      !taken.has(write.row.executionId),
  );
  const asked = writes.flatMap((write): Change[] => {
    if (write.set === 'execution.cancelRequested') return [{ kind: 'execution', id: write.execution }];
    return write.set === 'worker.status' ? [{ kind: 'worker', id: write.worker }] : [];
  });
  if (!handedOff && asked.length === 0) return undefined;
  const call: Call = { from, ...(handedOff && { due: true }), changes: asked.slice(0, CHANGES_MAX) };
  return JSON.stringify(call);
}

/** Anybody with the password can call anything on this channel: what is not understood is a reason to look, and no more. */
function hear(changes: ChangeFeed, origin: string, text: string): void {
  const call = callOf(text);
  if (call === undefined) return changes.tellMissed();
  if (call.from === origin) return;
  changes.tellOf(call.changes ?? [], call.due === true);
}

function callOf(text: string): Call | undefined {
  try {
    const call = JSON.parse(text) as Partial<Call> | null;
    const isOurs = typeof call?.from === 'string' && (call.changes === undefined || Array.isArray(call.changes));
    return isOurs ? (call as Call) : undefined;
  } catch {
    return undefined;
  }
}

/** What people look at elsewhere is told a little later, many changes in one call, whoever dies in between. */
class Gossip {
  readonly #line: Line;
  readonly #origin: string;
  readonly #forget: readonly (() => void)[];
  #changes = new ChangeSet();
  #isDue = false;
  #tellAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(changes: ChangeFeed, line: Line, origin: string) {
    this.#line = line;
    this.#origin = origin;
    this.#forget = [
      changes.listenOwn((own) => this.#gather(own)),
      changes.listenOwnDue(() => {
        this.#isDue = true;
        this.#tellIn(DUE_MS);
      }),
    ];
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const forget of this.#forget) forget();
  }

  #gather(own: readonly Change[]): void {
    // With more of them it is only told that there is something to look at.
    if (this.#changes.all.length <= CHANGES_MAX) for (const change of own) this.#changes.add(change);
    this.#tellIn(GATHER_MS);
  }

  #tellIn(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (this.#timer !== undefined && this.#tellAt <= at) return;
    clearTimeout(this.#timer);
    this.#tellAt = at;
    this.#timer = setTimeout(() => this.#tell(), delayMs).unref();
  }

  #tell(): void {
    this.#timer = undefined;
    const changes = this.#changes.all;
    const call: Call = { from: this.#origin, ...(this.#isDue && { due: true }), changes };
    this.#changes = new ChangeSet();
    this.#isDue = false;
    const text = changes.length > CHANGES_MAX ? '' : JSON.stringify(call);
    // Nobody depends on it: whoever has to know looks by themselves now and then.
    this.#line.call(text).catch(() => undefined);
  }
}

function refuseBackUp(): never {
  throw new RefusedError({
    code: 'wrong-state',
    message: 'this engine has no file of its own to copy',
    why: 'its data is in PostgreSQL',
    next: [{ label: 'use pg_dump, or the backups of your PostgreSQL server' }],
  });
}

function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
