import { FLEET_SCENARIOS } from './fleet-scenarios.ts';
import { SCENARIOS } from './scenarios.ts';
import type { StoreKind, Work } from './work.ts';

/** In one piece of work: enough to be worth handing over, few enough to be told of. */
const PIECE: Readonly<Record<StoreKind, number>> = { memory: 1_000, sqlite: 50, fleet: 50 };

export function scenarioWork(): Work[] {
  return [
    ...FLEET_SCENARIOS.map((_, position) => ({ kind: 'scenario', of: 'fleet', position }) as const),
    ...SCENARIOS.map((_, position) => ({ kind: 'scenario', of: 'one', position }) as const),
  ];
}

/** How many of each. */
export type Histories = Readonly<Record<StoreKind, number>>;

/** Random histories in pieces, each with a seed of its own; the slower ones are spread among the others. */
export function* randomWork(counts: Histories, seed: number): Generator<Work> {
  const left = { ...counts };
  const stores = Object.keys(PIECE) as StoreKind[];
  for (let piece = seed; stores.some((store) => left[store] > 0); piece++) {
    for (const store of stores) {
      if (left[store] > 0) yield { kind: 'random', store, seed: piece, count: Math.min(PIECE[store], left[store]) };
      left[store] -= PIECE[store];
    }
  }
}
