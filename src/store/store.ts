import type { ExecutionId, WorkflowId } from '#base';
import type { Event, Question, Source, Write } from '#model';

/** What a unit will ask for, as far as can be told before it is decided. Only a hint: what is missing is asked for later. */
export interface Foresight {
  /** Units of the same kind ask for much the same. */
  readonly kind: string;
  readonly questions: readonly Question[];
  /** Those of them that most likely find nothing: what it publishes. */
  readonly fresh?: readonly Question[];
}

/** One command on its way into the store. */
export interface Unit {
  /**
   * Pure and re-runnable: a store may ask again with a fresher source. Throws to write nothing. A store whose clock is the one
   * that counts says what time it is.
   */
  decide(source: Source, now?: number): readonly Write[];
  /** For a store that is far away, so that it can fetch all of it in one go. */
  foresee?(workflowOf: (execution: ExecutionId) => WorkflowId | undefined): Foresight;
}

/**
 * What became of a unit. `refused` wrote nothing: a RefusedError is the model's no; anything else is a bug, which is undone with
 * its own unit only. `deferred` wrote nothing either: its rows are in somebody else's hands, or another unit of the batch changed
 * them; it goes into the next batch.
 */
export type UnitOutcome =
  | { readonly kind: 'done'; readonly writes: readonly Write[] }
  | { readonly kind: 'refused'; readonly error: Error }
  /** Its rows are in other hands, or changed by those before it in the batch. */
  | { readonly kind: 'deferred'; readonly because: 'held' | 'changed' };

/** The one way in. Whoever holds it can write, so it never leaves `execution/`. */
export interface Store {
  /**
   * How many workflows have been at work just now; said by a store that is far away, where many units at once cost little more than one: it
   * is worth a moment to wait for half of them.
   */
  readonly atWork?: number;
  /**
   * All units in one transaction, each loaded, decided and applied, and undone, by itself. The answer means durable. All of them are
   * deferred only where all are in other hands, and stayed there for a moment.
   * Rejects for the whole batch: StoreUnavailableError (nothing was written, nothing is lost, try again when `probe` resolves), or
   * StoreFailedError (the process should end).
   */
  commit(units: readonly Unit[]): Promise<readonly UnitOutcome[]>;
  /**
   * The units of the next commit, while one is under way. What can be done for them beforehand may be done now, and is taken up by `commit` of the
   * same list; nothing depends on it.
   */
  lookAhead?(units: readonly Unit[]): void;
  /**
   * The oldest events that wait in a topic, as the last commit of this process left them: others may have changed that since. Undefined where they
   * are not at hand.
   */
  waiting?(workflow: WorkflowId, topic: string, limit: number): readonly Event[] | undefined;
  /** After a StoreUnavailableError: resolves when a small durable commit works again, rejects with the reason while it does not. */
  probe(): Promise<void>;
  /** The database was put back from a backup, and nobody has been told yet. */
  isRestored(): boolean;
  /** Everybody has been told. */
  forgetRestored(): Promise<void>;
  close(): Promise<void>;
}
