import type { Source, Write } from '#model';

/** One command on its way into the store. */
export interface Unit {
  /** Pure and re-runnable: a store may ask again with a fresher source. Throws to write nothing. */
  decide(source: Source): readonly Write[];
}

/**
 * What became of a unit. `refused` wrote nothing: a RefusedError is the model's no; anything else is a bug, which is undone with
 * its own unit only.
 */
export type UnitOutcome =
  | { readonly kind: 'done'; readonly writes: readonly Write[] }
  | { readonly kind: 'refused'; readonly error: Error };

/** The one way in. Whoever holds it can write, so it never leaves `execution/`. */
export interface Store {
  /**
   * All units in one transaction, each loaded, decided and applied in turn under its own savepoint. The answer means durable.
   * Rejects for the whole batch: StoreUnavailableError (nothing was written, nothing is lost, try again when `probe` resolves), or
   * StoreFailedError (the process should end).
   */
  commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]>;
  /** After a StoreUnavailableError: resolves when a small durable commit works again, rejects with the reason while it does not. */
  probe(): Promise<void>;
  /** The database was put back from a backup, and nobody has been told yet. */
  isRestored(): boolean;
  /** Everybody has been told. */
  forgetRestored(): Promise<void>;
  close(): Promise<void>;
}
