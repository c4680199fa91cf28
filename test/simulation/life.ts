import { type App, type AppParts, runApp } from '#app';
import { type Clock, ID_PREFIX, type IdKind, type IdOf, type IdSource, StoreUnavailableError } from '#base';
import { type Engine, startEngine } from '#execution';
import { Meters } from '#metrics';
import type { Write } from '#model';
import { masterKeys, Vault } from '#secret';
import { readLater } from '#store';
import type { Opened } from './disk.ts';
import { FaultyStore } from './faulty-store.ts';
import { HastyHabits } from './hasty-habits.ts';
import type { PersonAct, Role } from './history.ts';
import { openMember } from './member.ts';
import { NO_PAST } from './no-past.ts';
import { act } from './person.ts';
import { Sandbox } from './sandbox.ts';
import { connectionsOf } from './service.ts';
import type { Stage } from './stage.ts';
import { StubbornHabits } from './stubborn-habits.ts';

/** What people do while a session waits, the first time, the second … of its process: so often, or nothing would ever end. */
const COMERS: readonly (readonly PersonAct[])[] = [
  ['publish'],
  ['publish', 'publish'],
  ['pause', 'publish', 'resume'],
  ['publish', 'cancel'],
  ['publish', 'publish again, changed'],
  ['deploy', 'publish'],
];

interface Place {
  /** Where it sits among those of its kind: 0 where there is one. */
  readonly seat: number;
  readonly role: Role | 'alone';
  /** The how manieth process at its seat. */
  readonly number: number;
}

/** One process, from its recovery of what it finds to its death or its end. */
export class Life {
  readonly seat: number;
  readonly role: Role | 'alone';
  readonly number: number;
  readonly #stage: Stage;
  app: App | undefined;
  opened: Opened | undefined;
  /** What time it takes it to be. */
  clock: Clock;
  /** Told of what it committed, whatever becomes of it then. */
  onCommitted: ((writes: readonly Write[]) => void) | undefined;
  isDead = false;
  /** A commit of it was lost: it may say that it cannot go on. */
  isDiskBroken = false;
  isStopping = false;
  hasEnded = false;
  isFollowed = false;
  awaited = 0;
  /** What people asked of it and have no answer to. */
  readonly unanswered = new Set<{ readonly what: PersonAct }>();
  #cutOffUntilMs = 0;
  /** Until then something kept it from showing that it lives. */
  #disturbedUntilMs = 0;

  constructor(stage: Stage, { seat, role, number }: Place) {
    this.#stage = stage;
    this.clock = stage.loop;
    this.seat = seat;
    this.role = role;
    this.number = number;
  }

  /** Whether anybody can ask it for anything. */
  get isUp(): boolean {
    return this.app !== undefined && !this.isStopping;
  }

  get isCutOff(): boolean {
    return this.#stage.loop.elapsedMs < this.#cutOffUntilMs;
  }

  disturb(ms: number): void {
    this.#disturbedUntilMs = Math.max(this.#disturbedUntilMs, this.#stage.loop.elapsedMs + ms);
  }

  /** For how long nothing has kept it from showing that it lives. */
  get undisturbedMs(): number {
    return this.isUp ? this.#stage.loop.elapsedMs - this.#disturbedUntilMs : 0;
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

  /** Where there are several processes nobody does anything in the turn of another. */
  inItsTurn(act: () => void): void {
    if (this.role === 'alone') act();
    else this.#stage.loop.soon(act, this.seat);
  }

  begin(): void {
    this.#open().catch((error: unknown) => {
      this.broke(error);
      this.hasEnded = true;
    });
  }

  async #open(): Promise<void> {
    const opened = this.#stage.disk.open();
    this.opened = opened;
    const store = new FaultyStore(opened, this, this.#stage);
    const { role } = this;
    this.app =
      role === 'alone'
        ? await this.#openAlone(opened, store)
        : await openMember(this.#stage, this, role, opened, store);
  }

  async #openAlone(opened: Opened, store: FaultyStore): Promise<App> {
    const engine = await startEngine(
      { store, reader: readLater(opened.reader), history: NO_PAST, backUp: () => undefined },
      { clock: this.clock, ids: idsOfLife(this.number), onFatal: (error) => this.endBroken(error) },
    );
    return runApp(this.partsOf(engine));
  }

  /** What goes with an engine to make an app of it. */
  partsOf(engine: Engine): AppParts {
    const { violations, orphanedEvents } = engine.recovered;
    if (violations.length > 0 || orphanedEvents.length > 0)
      this.#stage.fail(`recovery found broken rows: ${JSON.stringify(engine.recovered)}`);
    return {
      engine,
      connections: connectionsOf(this.#stage, this.#stage.history.world, this.clock),
      sandbox: new Sandbox(this.#stage),
      peeks: new HastyHabits(),
      stayHabits: new StubbornHabits((turn) => this.#comeBy(turn)),
      clock: this.clock,
      secret: () => undefined,
      meters: new Meters(),
      vault: new Vault({ engine, keys: masterKeys({ dataDir: '/nowhere', env: {} }) }),
      onError: (error) => this.broke(error),
    };
  }

  /** Somebody publishes to a session that waits, and some of them do something else right before or behind it. */
  #comeBy(turn: number): void {
    const comers = COMERS[turn + this.number];
    if (comers === undefined) return;
    this.#stage.loop.soon(() => {
      for (const what of comers) if (!this.isDead) act(this.#stage, what, turn);
    }, this.seat);
  }

  /** As SIGKILL does it: whatever was on its way stays there. */
  die(losesPower: boolean): void {
    if (losesPower) this.#stage.disk.losePower();
    this.isDead = true;
    this.#stage.outside.processDied(this.seat);
    this.#stage.bus.leave(this.seat);
    this.app = undefined;
    this.#stage.loop.clear(this.seat);
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
      .catch((error: unknown) => this.broke(error))
      .then(end, end);
  }

  /** For so long nothing comes through between it and the database. */
  cutOff(ms: number): void {
    const { loop, bus } = this.#stage;
    this.#cutOffUntilMs = loop.elapsedMs + ms;
    this.disturb(ms);
    loop.later(() => bus.missed(this.seat), ms, this.seat);
  }

  /** The engine said that it cannot go on. By itself it may say so only when its disk is broken. */
  endBroken(error?: unknown): void {
    if (this.isDead) return;
    if (this.role === 'alone' && !this.isDiskBroken) this.#stage.fail(`the engine gave up for nothing: ${error}`);
    this.#stage.judge.ended();
    this.die(false);
  }

  /** A store that cannot be written is no bug; whatever else goes wrong inside is. */
  broke(error: unknown): void {
    if (this.isDead || error instanceof StoreUnavailableError) return;
    this.#stage.fail(`the engine broke: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

/**
 * Ids of a later life sort after those of an earlier one, and the same history always makes the same ids. All of them sort before
 * those of any time, so that whoever looks for old rows by their ids finds them.
 */
export function idsOfLife(life: number): IdSource {
  const counts = new Map<IdKind, number>();
  return {
    next<K extends IdKind>(kind: K): IdOf<K> {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return `${ID_PREFIX[kind]}_00${String(life).padStart(2, '0')}${String(count).padStart(4, '0')}` as IdOf<K>;
    },
  };
}
