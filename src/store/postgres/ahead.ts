import type { Unit } from '../store.ts';
import type { Batch, RememberedBatch } from './batch.ts';
import type { PostgresConnection } from './connection.ts';
import type { WrittenBatch } from './written-batch.ts';

/** What was decided while the commit before was under way. */
export interface Ahead {
  readonly units: readonly Unit[];
  readonly batch: Batch;
  readonly connection: PostgresConnection;
  /** Missing where too little is remembered. */
  readonly decided: RememberedBatch | undefined;
  /** Missing where it depends on what the commit before puts into the audit log. */
  readonly written: WrittenBatch | undefined;
}

/** One at a time: whoever commits anything else has changed their mind. */
export class LookedAhead {
  #ahead: Ahead | undefined;

  keep(ahead: Ahead): void {
    this.#ahead = ahead;
  }

  /** What another connection was asked would have been asked of another server. */
  take(units: readonly Unit[], connection: PostgresConnection): Ahead | undefined {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    return ahead?.units === units && ahead.connection === connection ? ahead : undefined;
  }
}
