import { SCENARIOS } from './scenarios.ts';
import type { StoreKind, Work } from './work.ts';

/** In one piece of work: enough to be worth handing over, few enough to be told of. */
const PIECE: Readonly<Record<StoreKind, number>> = { memory: 1_000, sqlite: 50 };

export function scenarioWork(): Work[] {
  return SCENARIOS.map((_, position) => ({ kind: 'scenario', position }));
}

/** Random histories in pieces, each with a seed of its own; those on SQLite are spread among the others. */
export function* randomWork(counts: Readonly<Record<StoreKind, number>>, seed: number): Generator<Work> {
  let [memory, sqlite] = [counts.memory, counts.sqlite];
  for (let piece = seed; memory > 0 || sqlite > 0; piece++) {
    if (memory > 0) yield { kind: 'random', store: 'memory', seed: piece, count: Math.min(PIECE.memory, memory) };
    if (sqlite > 0) yield { kind: 'random', store: 'sqlite', seed: piece, count: Math.min(PIECE.sqlite, sqlite) };
    memory -= PIECE.memory;
    sqlite -= PIECE.sqlite;
  }
}
