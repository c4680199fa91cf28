import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  type EventId,
  type IdSource,
  type KillPoint,
  onKillPoint,
  type RefusalCode,
  RefusedError,
  type SessionId,
  type WorkerId,
} from '#base';
import { ChangeFeed, CommitQueue, ExecutionModelManager, type ModelSteps } from '#execution';
import {
  type CommandName,
  type CommandOf,
  type EventStatus,
  type Fence,
  INVARIANTS,
  type ReplyTo,
  Rows,
  type Table,
} from '#model';
import { openReader, openSqliteStore, type Reader, readLater, type Store } from '#store';
import { countedIds, FakeClock } from './fixture.ts';
import { assertLegalHistory } from './legal-history.ts';
import { MemoryReader } from './memory-reader.ts';
import { MemoryStore } from './memory-store.ts';
import { openPostgresWorld } from './postgres-world.ts';
import { type Dump, dumpOf, rowsOf } from './row-dump.ts';

/** The manager itself; only that after every command somebody looks at the rows. */
class WatchedManager extends ExecutionModelManager {
  readonly #watch: <T>(command: () => Promise<T>) => Promise<T>;

  constructor(queue: CommitQueue, reader: Reader, watch: <T>(command: () => Promise<T>) => Promise<T>) {
    super(queue, readLater(reader));
    this.#watch = watch;
  }

  /** Any command as it is, for tests that go through all of them. */
  ask<N extends CommandName>(command: CommandOf<N>): Promise<ReplyTo<N>> {
    return this.send(command);
  }

  protected override send<N extends CommandName>(command: CommandOf<N>): Promise<ReplyTo<N>> {
    return this.#watch(() => super.send(command));
  }

  override together<T>(steps: (model: ModelSteps) => T): Promise<T> {
    return this.#watch(() => super.together(steps));
  }
}

type TableOfRows = Exclude<keyof Rows, 'copy'>;
type RowIn<N extends TableOfRows> = Rows[N] extends Table<infer R> ? R : never;

interface Opened {
  /** Where others could work on the same rows. */
  readonly url?: string;
  readonly store: Store;
  readonly reader: Reader;
  readonly rows: () => Rows;
  /** Where rows have to be fetched before they can be looked at. */
  readonly refresh?: (isWatched: boolean) => Promise<void>;
  readonly tamper: (how: Tampering) => void | Promise<void>;
  readonly close: () => Promise<void>;
}

interface Tampering {
  readonly rows: (rows: Rows) => void;
  readonly sql: string;
}

/** An engine of its own for one test: its store, its clock, its ids. Every command is followed by all invariants. */
export class World {
  readonly kind: StoreKind;
  readonly clock: FakeClock;
  readonly ids: IdSource = countedIds();
  readonly manager: WatchedManager;
  readonly reader: Reader;
  readonly self: WorkerId;
  readonly #opened: Opened;
  readonly #queue: CommitQueue;
  #seen: Rows = new Rows();
  #watched = true;
  #tampered: Promise<void> | void = undefined;
  #fatal: unknown;
  #commits = 0;

  private constructor(kind: StoreKind, clock: FakeClock, opened: Opened) {
    this.kind = kind;
    this.clock = clock;
    this.#opened = opened;
    const { store, reader } = opened;
    const { ids } = this;
    const onFatal = (error: unknown) => {
      this.#fatal = error;
    };
    this.#queue = new CommitQueue({ store: this.#counted(store), clock, ids, changes: new ChangeFeed(), onFatal });
    this.manager = new WatchedManager(this.#queue, reader, (command) => this.#watch(command));
    this.reader = reader;
    this.self = ids.next('worker');
  }

  static async open(kind: StoreKind): Promise<World> {
    const clock = new FakeClock();
    const world = new World(kind, clock, await STORES[kind](clock));
    await world.manager.registerWorker(world.self, { name: 'one', pool: 'default', leaseMs: 45_000 });
    return world;
  }

  /** The tables as the last commit left them. */
  get rows(): Rows {
    return this.#opened.rows();
  }

  get url(): string | undefined {
    return this.#opened.url;
  }

  dump(): Dump {
    return dumpOf(this.rows);
  }

  /** These fields of this row, exactly. */
  is<N extends TableOfRows>(table: N, key: string, expected: Partial<RowIn<N>>): void {
    const row = this.row(table, key) as Record<string, unknown>;
    const fields = Object.keys(expected).map((field) => [field, row[field]]);
    assert.deepEqual(Object.fromEntries(fields), expected, `${key}: ${JSON.stringify(row)}`);
  }

  row<N extends TableOfRows>(table: N, key: string): RowIn<N> {
    const row = (this.rows[table] as Table<RowIn<N>>).get(key);
    assert.ok(row !== undefined, `${key} is not in ${table}`);
    return row;
  }

  /** What became of each event, by its message id. */
  get events(): Readonly<Record<string, EventStatus>> {
    return Object.fromEntries(this.rows.events.values().map((event) => [event.messageId, event.status]));
  }

  event(messageId: string): EventId {
    const found = this.rows.events.values().find((event) => event.messageId === messageId);
    assert.ok(found, `event ${messageId} is missing`);
    return found.id;
  }

  sessionOf(fence: Fence): SessionId {
    const found = this.rows.sessions.values().find((session) => session.executionId === fence.execution);
    assert.ok(found, `execution ${fence.execution} has no session`);
    return found.id;
  }

  async close(): Promise<void> {
    await this.#queue.drained();
    this.#queue.close();
    await this.#opened.close();
    assert.equal(this.#fatal, undefined);
  }

  /** Transactions so far. */
  get commits(): number {
    return this.#commits;
  }

  /** For worlds so large that asking everything after every command would take longer than the test. */
  stopWatching(): void {
    this.#watched = false;
  }

  /** Breaks the rows behind the engine's back; from then on nobody asks the invariants. */
  tamper(how: Tampering): void {
    this.stopWatching();
    this.#tampered = this.#opened.tamper(how);
  }

  /** The process dies at this point of the commit: the caller never hears, and this world takes no more commands. */
  async diesAt(point: KillPoint, ask: () => Promise<unknown>): Promise<void> {
    const death = new Error(`killed at ${point}`);
    onKillPoint((reached) => {
      if (reached === point) throw death;
    });
    await assert.rejects(ask, death);
    onKillPoint(undefined);
    assert.equal(this.#fatal, death);
    this.#fatal = undefined;
  }

  /** Says no for this reason, in words, and writes nothing. */
  async refuses(code: RefusalCode, ask: () => Promise<unknown>, says?: RegExp): Promise<RefusedError> {
    const error = await this.refusesSomehow(ask);
    assert.equal(error.code, code, error.message);
    if (says) assert.match(`${error.message}: ${error.why}`, says);
    return error;
  }

  /** Says no in words, and writes nothing. */
  async refusesSomehow(ask: () => Promise<unknown>): Promise<RefusedError> {
    const before = this.dump();
    const error = await ask().then(
      (reply) => assert.fail(`not refused: ${JSON.stringify(reply)}`),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof RefusedError, `not a refusal: ${error instanceof Error ? error.stack : String(error)}`);
    assert.notEqual(error.message.trim(), '');
    assert.notEqual(error.why.trim(), '', `${error.message}: no why`);
    assert.ok(
      error.next.length > 0 && error.next.every((step) => step.label.trim() !== ''),
      `${error.message}: no next`,
    );
    assert.deepEqual(this.dump(), before, 'a refusal writes nothing');
    return error;
  }

  #counted(store: Store): Store {
    return {
      commit: (units) => {
        this.#commits += 1;
        return store.commit(units);
      },
      isRestored: () => store.isRestored(),
      forgetRestored: () => store.forgetRestored(),
      probe: () => store.probe(),
      close: () => store.close(),
    };
  }

  async #watch<T>(command: () => Promise<T>): Promise<T> {
    await this.#tampered;
    try {
      const reply = await command();
      await this.#opened.refresh?.(this.#watched);
      this.#look();
      return reply;
    } catch (error) {
      await this.#opened.refresh?.(false);
      throw error;
    }
  }

  #look(): void {
    if (!this.#watched) return;
    const { rows } = this;
    for (const invariant of INVARIANTS) {
      assert.deepEqual(invariant.offenders(rows), [], invariant.says);
      if (this.kind === 'sqlite')
        assert.deepEqual(this.reader.offenders(invariant.sql), [], `in SQL: ${invariant.says}`);
    }
    assertLegalHistory(this.#seen, rows);
    this.#seen = rows.copy();
  }
}

function openMemory(): Opened {
  const store = new MemoryStore();
  const rows = () => store.rows;
  return {
    store,
    reader: new MemoryReader(rows),
    rows,
    tamper: (how) => how.rows(store.rows),
    close: () => store.close(),
  };
}

function openSqlite(clock: FakeClock): Opened {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-model-'));
  const store = openSqliteStore({ dataDir, clock });
  const reader = openReader(dataDir);
  return {
    store,
    reader,
    rows: () => rowsOf(reader),
    tamper: ({ sql }) => {
      const db = new DatabaseSync(join(dataDir, 'pawl.db'));
      db.exec(sql);
      db.close();
    },
    close: async () => {
      reader.close();
      await store.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** Rows there have to be fetched, so what a test looks at are those of the last command. */
async function openPostgres(clock: FakeClock): Promise<Opened> {
  const world = await openPostgresWorld(clock);
  return {
    ...world,
    tamper: ({ rows, sql }) => {
      rows(world.rows());
      return world.tamper(sql);
    },
  };
}

const STORES = { memory: openMemory, sqlite: openSqlite, postgres: openPostgres } as const;
export type StoreKind = keyof typeof STORES;

const TOLD: Readonly<Record<StoreKind, string>> = {
  memory: 'in memory',
  sqlite: 'on SQLite',
  postgres: 'on PostgreSQL',
};

/** The stores every test is told on; `npm run test:conformance` names another. */
const KINDS = (process.env.PAWL_TEST_STORES ?? 'memory sqlite').split(' ') as StoreKind[];

/** One test, told once for each store: on plain rows and on real databases, each in a world of its own. */
export function forEachStore(name: string, tell: (world: World) => Promise<void>): void {
  test(name, async (t) => {
    for (const kind of KINDS) await t.test(TOLD[kind], () => inWorld(kind, tell));
  });
}

export async function inWorld(kind: StoreKind, tell: (world: World) => Promise<void>): Promise<void> {
  const world = await World.open(kind);
  try {
    await tell(world);
  } finally {
    await world.close();
  }
}
