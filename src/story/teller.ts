import type { Engine } from '#execution';
import type { Takers } from './takers.ts';

/** What a story is told from: the tables, and what time it is. */
export interface Teller {
  readonly history: Engine['history'];
  readonly now: number;
  /** None where one process hands off to itself. */
  readonly takers?: Takers | undefined;
}
