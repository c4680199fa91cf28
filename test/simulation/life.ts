import { type App, runApp } from '#app';
import { ID_PREFIX, type IdKind, type IdOf, type IdSource, StoreUnavailableError } from '#base';
import { startEngine } from '#execution';
import { Meters } from '#metrics';
import { masterKeys, Vault } from '#secret';
import { type LaterHistory, readLater } from '#store';
import type { Opened } from './disk.ts';
import { FaultyStore } from './faulty-store.ts';
import { Sandbox } from './sandbox.ts';
import { connectionsOf } from './service.ts';
import type { Stage } from './stage.ts';

/** One process, from its recovery of what it finds to its death or its end. */
export class Life {
  readonly number: number;
  readonly #stage: Stage;
  /** There is nobody to show the past to. */
  readonly #past = { close: async () => undefined } as unknown as LaterHistory;
  app: App | undefined;
  opened: Opened | undefined;
  isDead = false;
  isStopping = false;
  hasEnded = false;
  awaited = 0;

  constructor(stage: Stage, number: number) {
    this.#stage = stage;
    this.number = number;
  }

  /** Whether anybody can ask it for anything. */
  get isUp(): boolean {
    return this.app !== undefined && !this.isStopping;
  }

  /** What has gone out and is awaited: while there is any, this life is not at rest. */
  async during<T>(awaited: Promise<T>): Promise<T> {
    this.awaited++;
    try {
      return await awaited;
    } finally {
      this.awaited--;
    }
  }

  begin(): void {
    this.#open().catch((error: unknown) => {
      this.#broke(error);
      this.hasEnded = true;
    });
  }

  async #open(): Promise<void> {
    const { loop, disk } = this.#stage;
    this.opened = disk.open();
    const store = new FaultyStore(this.opened.store, this, this.#stage);
    const engine = await startEngine(
      { store, reader: readLater(this.opened.reader), history: this.#past, backUp: () => undefined },
      { clock: loop, ids: idsOfLife(this.number), onFatal: () => this.#endBroken() },
    );
    if (engine.recovered.violations.length > 0 || engine.recovered.orphanedEvents.length > 0)
      this.#stage.fail(`recovery found broken rows: ${JSON.stringify(engine.recovered)}`);
    this.app = runApp({
      engine,
      connections: connectionsOf(this.#stage, this.#stage.history.world),
      sandbox: new Sandbox(this.#stage),
      clock: loop,
      secret: () => undefined,
      meters: new Meters(),
      vault: new Vault({ engine, keys: masterKeys({ dataDir: '/nowhere', env: {} }) }),
      onError: (error) => this.#broke(error),
    });
  }

  /** As SIGKILL does it: whatever was on its way stays there. */
  die(losesPower: boolean): void {
    if (losesPower) this.#stage.disk.losePower();
    this.isDead = true;
    this.#stage.outside.processDied();
    this.app = undefined;
    this.#stage.loop.clear();
  }

  /** As SIGTERM does it. */
  stop(): void {
    const { app } = this;
    if (!app || this.isStopping) return;
    this.isStopping = true;
    const end = () => {
      this.hasEnded = true;
    };
    // Whoever cannot say goodbye goes all the same.
    app
      .stop()
      .catch((error: unknown) => this.#broke(error))
      .then(end, end);
  }

  /** The engine said that it cannot go on. */
  #endBroken(): void {
    if (this.isDead) return;
    this.#stage.judge.ended();
    this.die(false);
  }

  /** A store that cannot be written is no bug; whatever else goes wrong inside is. */
  #broke(error: unknown): void {
    if (this.isDead || error instanceof StoreUnavailableError) return;
    this.#stage.fail(`the engine broke: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

/** Ids of a later life sort after those of an earlier one, and the same history always makes the same ids. */
export function idsOfLife(life: number): IdSource {
  const counts = new Map<IdKind, number>();
  return {
    next<K extends IdKind>(kind: K): IdOf<K> {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${ID_PREFIX[kind]}_${String(life).padStart(2, '0')}${String(count).padStart(4, '0')}` as IdOf<K>;
    },
  };
}
