import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../kills/chance.ts';
import type { EngineProcess } from '../kills/engine-process.ts';
import { Fleet } from './fleet.ts';
import type { OldVersion } from './old-version.ts';

const WORKFLOWS = ['ant', 'bee', 'cat', 'dog'];
const EXECUTORS = 2;
const WORKERS = 3;
const ORDER_EVERY_MS = 100;

interface UpgradeOptions {
  readonly seed: number;
  /** Orders that must come through between two steps, with both versions at work. */
  readonly ordersAStep: number;
  readonly say?: (text: string) => void;
}

interface Place {
  readonly name: string;
  readonly start: (root?: string) => Promise<EngineProcess>;
  process: EngineProcess;
}

/**
 * A fleet of an old version becomes one of the new, process by process, while orders come in all the time. The first new process
 * changes the tables under the old ones; each old one is killed, or asked to end, and a new one starts under its name.
 */
export class Upgrade {
  readonly orders: string[] = [];
  readonly #fleet: Fleet;
  readonly #old: OldVersion;
  readonly #options: UpgradeOptions;
  readonly #chance: Chance;
  readonly #places: Place[] = [];
  #isOver = false;
  #load: Promise<void> = Promise.resolve();

  private constructor(fleet: Fleet, old: OldVersion, options: UpgradeOptions) {
    this.#fleet = fleet;
    this.#old = old;
    this.#options = options;
    this.#chance = new Chance(options.seed);
  }

  static async open(old: OldVersion, options: UpgradeOptions): Promise<Upgrade> {
    const upgrade = new Upgrade(await Fleet.open(), old, options);
    await upgrade.#open();
    return upgrade;
  }

  async #open(): Promise<void> {
    const fleet = this.#fleet;
    for (let i = 1; i <= EXECUTORS; i++) {
      const name = `desk-${i}`;
      await this.#settle(name, (root) => fleet.executor({ name, ...(root !== undefined && { root }) }, i));
    }
    for (let i = 1; i <= WORKERS; i++) {
      const name = `hand-${i}`;
      await this.#settle(name, (root) => fleet.worker({ name, ...(root !== undefined && { root }) }));
    }
    for (const name of WORKFLOWS) await fleet.deploy(name);
  }

  async #settle(name: string, start: Place['start']): Promise<void> {
    this.#places.push({ name, start, process: await start(this.#old.root) });
  }

  /** All of it, to the last order. */
  async run(): Promise<void> {
    const { ordersAStep, say = () => undefined } = this.#options;
    this.#load = this.#keepOrdering();
    await this.#through(ordersAStep);
    for (const place of this.#inTurn()) {
      const how = this.#chance.below(2) === 0 ? 'SIGKILL' : 'SIGTERM';
      const { code } = await place.process.end(how);
      if (how === 'SIGTERM') assert.equal(code, 0, place.process.said);
      place.process = await place.start();
      await this.#through(ordersAStep);
      say(`${place.name} is new (${how}); ${this.orders.length} orders so far`);
    }
    await this.#refusesOld();
    this.#isOver = true;
    await this.#load;
    await this.#fleet.settled(this.orders);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#load.catch(() => undefined);
    await this.#fleet.close();
  }

  /** Hands and desks mixed, so that each version hands off to the other. */
  #inTurn(): Place[] {
    const places = [...this.#places];
    for (let i = places.length - 1; i > 0; i--) {
      const j = this.#chance.below(i + 1);
      [places[i], places[j]] = [places[j] as Place, places[i] as Place];
    }
    return places;
  }

  async #keepOrdering(): Promise<void> {
    for (let i = 0; !this.#isOver; i++) {
      const id = `order-${i + 1}`;
      this.orders.push(id);
      await this.#fleet.order(WORKFLOWS[i % WORKFLOWS.length] ?? 'ant', id);
      await sleep(ORDER_EVERY_MS);
    }
  }

  /** So many more are booked than now. */
  async #through(count: number): Promise<void> {
    const from = this.#fleet.service.booked.length;
    await this.#fleet.until('orders come through', () => this.#fleet.service.booked.length >= from + count);
  }

  /** The tables are newer than it knows: it must not touch them. */
  async #refusesOld(): Promise<void> {
    const late = this.#fleet.tryWorker({ name: 'late', root: this.#old.root });
    await this.#fleet.until('it says why it does not start', () => /newer Pawl/.test(late.said));
    assert.equal(late.isReady, false);
    await late.end('SIGKILL');
  }
}
