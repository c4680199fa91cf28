import { StoreFailedError, StoreUnavailableError } from '#base';
import type { Store, Unit, UnitOutcome } from '#store';
import { namesIn } from './command-names.ts';
import type { Opened } from './disk.ts';
import type { CommitFault } from './faults.ts';
import type { Life } from './life.ts';
import { never } from './never.ts';
import type { Stage } from './stage.ts';
import { onTheWay } from './way.ts';

/** Longer than a worker trusts its lease, shorter than the lease. */
const ANSWERED_LATE_MS = 30_000;

/** The store of one life: it fails when that was decided, and a dead process gets no answer from it. */
export class FaultyStore implements Store {
  readonly #opened: Opened;
  readonly #store: Store;
  readonly #life: Life;
  readonly #stage: Stage;
  /** How often it will still say that it cannot be written. */
  #unavailable = 0;

  constructor(opened: Opened, life: Life, stage: Stage) {
    this.#opened = opened;
    this.#store = opened.store;
    this.#life = life;
    this.#stage = stage;
  }

  async commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    if (this.#life.isDead) return never();
    if (this.#stage.isFleet) {
      await this.#stage.pass('to the database');
      await onTheWay(this.#stage, this.#life);
    }
    const fault = this.#stage.faults.commits.shift();
    if (fault) {
      if (fault.fails !== 'read-only half-way') this.#stage.struck(`commit ${fault.fails}`);
      this.#life.disturb(ANSWERED_LATE_MS);
    }
    switch (fault?.fails) {
      case 'busy':
      case 'disk full':
        this.#unavailable = fault.times;
        return this.#fail(unavailable(fault.fails));
      case 'read-only half-way':
        return this.#commitHalfOf(units, fault);
      case 'lost, not written':
        this.#life.isDiskBroken = true;
        return this.#fail(lost());
      case 'lost, written':
        this.#life.isDiskBroken = true;
        await this.#commit(units);
        return this.#fail(lost());
      case 'answered late': {
        const outcomes = await this.#commit(units);
        await this.#stage.loop.wait(ANSWERED_LATE_MS);
        return outcomes;
      }
      case 'deferred': {
        const [first] = await this.#commit(units.slice(0, 1));
        return units.map((_, position) => (position === 0 && first ? first : { kind: 'deferred', because: 'held' }));
      }
      case undefined:
        return this.#commit(units);
    }
  }

  /** All but the last of them are written when the last finds that it cannot be: the store itself must undo the others. */
  async #commitHalfOf(units: readonly Unit[], fault: CommitFault): Promise<readonly UnitOutcome[]> {
    const last = units.length - 1;
    const failing = units.map((unit, position) => (position === last ? this.#unwritable(unit) : unit));
    try {
      const outcomes = await this.#commit(failing);
      // There was nothing to write: it waits for the next commit.
      this.#stage.faults.commits.unshift(fault);
      return outcomes;
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.#unavailable = fault.times;
      throw error;
    }
  }

  #unwritable(unit: Unit): Unit {
    return {
      decide: (source, now) => {
        const writes = unit.decide(source, now);
        if (writes.length === 0) return writes;
        this.#stage.struck('commit read-only half-way');
        this.#opened.setWritable(false);
        return writes;
      },
    };
  }

  async #commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    const { judge, loop } = this.#stage;
    judge.begins();
    try {
      const outcomes = await this.#store.commit(units.map((unit) => this.#named(unit)));
      return await loop.answer(outcomes);
    } catch (error) {
      if (this.#life.isDead) return never();
      throw error;
    }
  }

  #named(unit: Unit): Unit {
    return {
      decide: (source) => {
        // The clock of a database that is shared is the one that counts.
        const now = this.#stage.isFleet ? this.#stage.loop.now() : undefined;
        const { writes, names } = namesIn(() => unit.decide(source, now));
        this.#stage.judge.decided(names, writes);
        return writes;
      },
    };
  }

  async #fail(error: Error): Promise<never> {
    await this.#stage.loop.answer(undefined);
    throw error;
  }

  async probe(): Promise<void> {
    if (this.#life.isDead) return never();
    await onTheWay(this.#stage, this.#life);
    this.#unavailable--;
    await this.#stage.loop.answer(undefined);
    if (this.#unavailable >= 0) throw unavailable('disk full');
    this.#opened.setWritable(true);
    await this.#store.probe();
  }

  isRestored(): boolean {
    return this.#store.isRestored();
  }

  forgetRestored(): Promise<void> {
    return this.#store.forgetRestored();
  }

  async close(): Promise<void> {
    if (!this.#life.isDead) await this.#store.close();
  }
}

function unavailable(why: string): StoreUnavailableError {
  return new StoreUnavailableError({ code: 'store-full', message: 'nothing was written', why, next: [] });
}

function lost(): StoreFailedError {
  return new StoreFailedError({ code: 'store-failed', message: 'COMMIT failed', why: 'I/O error', next: [] });
}
