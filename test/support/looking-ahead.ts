import type { DistantStore, Store, Unit, UnitOutcome } from '#store';

/** A store that looks at every commit beforehand, as a busy one does while another is under way. */
export class LookingAhead implements Store {
  readonly #store: DistantStore;
  /** What happens once between the look and the commit. */
  meanwhile: (() => Promise<unknown>) | undefined;

  constructor(store: DistantStore) {
    this.#store = store;
  }

  async commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]> {
    this.#store.lookAhead?.(units);
    const { meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    return this.#store.commit(units);
  }

  get roundTrips(): number {
    return this.#store.roundTrips;
  }

  probe(): Promise<void> {
    return this.#store.probe();
  }

  isRestored(): boolean {
    return this.#store.isRestored();
  }

  forgetRestored(): Promise<void> {
    return this.#store.forgetRestored();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
