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
import { openReader, openSqliteStore, type Reader, type Store } from '#store';
import { countedIds, FakeClock } from './fixture.ts';
import { assertLegalHistory } from './legal-history.ts';
import { MemoryReader } from './memory-reader.ts';
import { MemoryStore } from './memory-store.ts';
import { type Dump, dumpOf, rowsOf } from './row-dump.ts';

/** The manager itself; only that after every command somebody looks at the rows. */
class WatchedManager extends ExecutionModelManager {
  readonly #look: () => void;

  constructor(queue: CommitQueue, reader: Reader, look: () => void) {
    super(queue, reader);
    this.#look = look;
  }

  /** Any command as it is, for tests that go through all of them. */
  ask<N extends CommandName>(command: CommandOf<N>): Promise<ReplyTo<N>> {
    return this.send(command);
  }

  protected override async send<N extends CommandName>(command: CommandOf<N>): Promise<ReplyTo<N>> {
    const reply = await super.send(command);
    this.#look();
    return reply;
  }

  override async together<T>(steps: (model: ModelSteps) => T): Promise<T> {
    const reply = await super.together(steps);
    this.#look();
    return reply;
  }
}

type TableOfRows = Exclude<keyof Rows, 'copy'>;
type RowIn<N extends TableOfRows> = Rows[N] extends Table<infer R> ? R : never;

interface Opened {
  readonly store: Store;
  readonly reader: Reader;
  readonly rows: () => Rows;
  readonly dataDir?: string;
  readonly close: () => Promise<void>;
}

/** An engine of its own for one test: its store, its clock, its ids. Every command is followed by all invariants. */
export class World {
  readonly kind: StoreKind;
  readonly clock = new FakeClock();
  readonly ids: IdSource = countedIds();
  readonly manager: WatchedManager;
  readonly reader: Reader;
  readonly self: WorkerId;
  readonly #opened: Opened;
  readonly #queue: CommitQueue;
  #seen: Rows = new Rows();
  #watched = true;
  #fatal: unknown;
  #commits = 0;

  private constructor(kind: StoreKind) {
    this.kind = kind;
    this.#opened = STORES[kind](this.clock);
    const { store, reader } = this.#opened;
    const { clock, ids } = this;
    const onFatal = (error: unknown) => {
      this.#fatal = error;
    };
    this.#queue = new CommitQueue({ store: this.#counted(store), clock, ids, changes: new ChangeFeed(), onFatal });
    this.manager = new WatchedManager(this.#queue, reader, () => this.#look());
    this.reader = reader;
    this.self = ids.next('worker');
  }

  static async open(kind: StoreKind): Promise<World> {
    const world = new World(kind);
    await world.manager.registerWorker(world.self, { name: 'one', pool: 'default', leaseMs: 45_000 });
    return world;
  }

  /** The tables as the last commit left them. */
  get rows(): Rows {
    return this.#opened.rows();
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
  tamper(how: { readonly rows: (rows: Rows) => void; readonly sql: string }): void {
    this.stopWatching();
    if (this.#opened.dataDir === undefined) return how.rows(this.rows);
    const db = new DatabaseSync(join(this.#opened.dataDir, 'pawl.db'));
    db.exec(how.sql);
    db.close();
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
  return { store, reader: new MemoryReader(rows), rows, close: () => store.close() };
}

function openSqlite(clock: FakeClock): Opened {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-model-'));
  const store = openSqliteStore({ dataDir, clock });
  const reader = openReader(dataDir);
  return {
    store,
    reader,
    rows: () => rowsOf(reader),
    dataDir,
    close: async () => {
      reader.close();
      await store.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

const STORES = { memory: openMemory, sqlite: openSqlite } as const;
export type StoreKind = keyof typeof STORES;

/** One test, told twice: on plain rows and on the real database, each in a world of its own. */
export function forEachStore(name: string, tell: (world: World) => Promise<void>): void {
  test(name, async (t) => {
    await t.test('in memory', () => inWorld('memory', tell));
    await t.test('on SQLite', () => inWorld('sqlite', tell));
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
