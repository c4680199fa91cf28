import { type Clock, type IdSource, monotonicIds, systemClock, type WorkerId, type WorkflowId } from '#base';
import type { Event, Write } from '#model';
import {
  backUpDatabase,
  type LaterHistory,
  type LaterReader,
  lookBackLater,
  openHistory,
  openReader,
  openSqliteStore,
  readLater,
  type Store,
} from '#store';
import { type Change, ChangeFeed, type NewlyDue } from './changes.ts';
import { CommitQueue } from './commit-queue.ts';
import { ExecutionModelManager } from './manager.ts';
import { holdRestored, holdViolators, type Violation } from './recovery.ts';

export interface EngineOptions {
  readonly dataDir: string;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  /** How long this incarnation lives without a sign of life. */
  readonly leaseMs?: number;
  readonly version?: string;
  /** Sessions at once. */
  readonly concurrency?: number;
  readonly onFatal?: (error: unknown) => void;
  readonly observer?: Observer | undefined;
  /** Old history is removed here. */
  readonly prunes?: boolean | undefined;
}

/** Whoever counts what is committed. */
export interface Observer {
  committed(commands: number, ms: number): void;
  wrote(writes: readonly Write[]): void;
}

/** An open data folder with its one door, recovered and ready. */
export interface Engine {
  readonly manager: ExecutionModelManager;
  readonly reader: LaterReader;
  /** What has happened, for people: on a connection of its own. */
  readonly history: LaterHistory;
  readonly self: WorkerId;
  /** Where the ids of its rows come from. */
  readonly ids: IdSource;
  readonly recovered: Recovered;
  /** The workflows put on hold because this data was put back from a backup. */
  readonly restored: readonly WorkflowId[];
  /**
   * The oldest events that wait in a topic, where this process remembers what its last commit left there. Others may have changed that since: only
   * right behind that commit it is as good as a look.
   */
  waiting(workflow: WorkflowId, topic: string, limit: number): readonly Event[] | undefined;
  /** A copy of the database as the last commit left it, in a file that does not exist yet. */
  backUp(file: string): void;
  listen(listener: (changes: readonly Change[]) => void): () => void;
  /** Told when work may have become due, or due at another time; of which workflows, where this process itself has written it. */
  listenDue(listener: (due: NewlyDue) => void): () => void;
  /** False while nothing can be written: a full disk, a database that is away, the end. */
  takesWrites(): boolean;
  close(): Promise<void>;
}

interface Recovered {
  readonly runs: number;
  readonly sessions: number;
  readonly tasks: number;
  readonly orphanedEvents: readonly string[];
  /** What was found broken; each workflow concerned is on hold. */
  readonly violations: readonly Violation[];
}

/** How long an incarnation is taken for alive without a sign of life. */
export const LEASE_MS = 45_000;

/** What an engine works on: the one handle that writes, and those that only look. */
export interface EngineData {
  readonly store: Store;
  readonly reader: LaterReader;
  readonly history: LaterHistory;
  backUp(file: string): void;
}

/** Open, then recover what earlier incarnations left: the lock on the folder proves that they are dead. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { dataDir, clock = systemClock } = options;
  const store = openSqliteStore({ dataDir, clock, prunes: options.prunes });
  const reader = readLater(openReader(dataDir));
  const history = lookBackLater(openHistory(dataDir));
  return startEngine({ store, reader, history, backUp: (file) => backUpDatabase(dataDir, file) }, options);
}

/** The same on data that is open already, wherever it is kept. */
export async function startEngine(data: EngineData, options: Omit<EngineOptions, 'dataDir'>): Promise<Engine> {
  const { store, reader, history } = data;
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? monotonicIds(clock);
  const changes = new ChangeFeed();
  const { observer, onFatal = throwLater } = options;
  changes.onWrites = observer && ((writes) => observer.wrote(writes));
  const onCommit = observer && ((commands: number, ms: number) => observer.committed(commands, ms));
  const queue = new CommitQueue({ store, clock, ids, changes, onCommit, onFatal });
  const manager = new ExecutionModelManager(queue, reader);
  const self = ids.next('worker');
  const recovered = await recover(manager, reader, self, options).catch(async (error: unknown) => {
    await letGo(queue, data);
    throw error;
  });
  const restored = store.isRestored() ? await holdRestored(manager, reader) : [];
  // Only now: a process that dies before has told nobody, and the next one does it all again.
  if (store.isRestored()) await store.forgetRestored();
  return {
    manager,
    reader,
    history,
    self,
    ids,
    recovered,
    restored,
    waiting: (workflow, topic, limit) => store.waiting?.(workflow, topic, limit),
    backUp: (file) => data.backUp(file),
    listen: (listener) => changes.listen(listener),
    listenDue: (listener) => changes.listenDue(listener),
    takesWrites: () => queue.isOpen,
    close: () => close(manager, queue, data, self),
  };
}

async function recover(
  manager: ExecutionModelManager,
  reader: LaterReader,
  self: WorkerId,
  { leaseMs = LEASE_MS, version, concurrency }: Omit<EngineOptions, 'dataDir'>,
): Promise<Recovered> {
  // Whoever is registered and is not this one is dead, as the lock proves, and holds nothing any more.
  const dead = await reader.unendedWorkers();
  await manager.together((model) => {
    model.registerWorker(self, { name: 'pawl', pool: 'default', leaseMs, version, concurrency });
    for (const worker of dead) model.endWorker(worker.id);
  });
  const runs = await manager.recoverCrashedRuns(self);
  const sessions = await manager.recoverUnfinishedSessions(self);
  const tasks = await manager.recoverMaintenanceMode();
  const orphaned = await manager.assertNoOrphanedReservedEvents();
  const violations = await holdViolators(manager, reader);
  return { runs: runs.recovered, sessions: sessions.recovered, tasks, orphanedEvents: orphaned.events, violations };
}

async function close(
  manager: ExecutionModelManager,
  queue: CommitQueue,
  data: EngineData,
  self: WorkerId,
): Promise<void> {
  try {
    await manager.endWorker(self);
    await queue.drained();
  } finally {
    await letGo(queue, data);
  }
}

/** The folder is free for the next incarnation, also in this process. */
async function letGo(queue: CommitQueue, { store, reader, history }: EngineData): Promise<void> {
  queue.close();
  await history.close();
  await reader.close();
  await store.close();
}

/** Nobody asked to be told: end the process with the error itself, outside any promise that could swallow it. */
function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
