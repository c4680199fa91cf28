import type { Engine } from '#execution';

/** What a story is told from: the tables, and what time it is. */
export interface Teller {
  readonly history: Engine['history'];
  readonly now: number;
}
