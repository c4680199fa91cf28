import fc from 'fast-check';
import { playInMemory, playOnBoth } from './both-stores.ts';
import { type Counts, Coverage } from './coverage.ts';
import { explore, exploreFleet, type Failure } from './explore.ts';
import { fleetHistories } from './fleet-histories.ts';
import { FLEET_SCENARIOS } from './fleet-scenarios.ts';
import type { History } from './history.ts';
import { histories } from './random-histories.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Breaks, makeSmaller } from './smaller.ts';

/** A piece of work for one thread. */
export type Work =
  | { readonly kind: 'scenario'; readonly of: 'one' | 'fleet'; readonly position: number }
  | { readonly kind: 'random'; readonly store: StoreKind; readonly seed: number; readonly count: number };

/** Where random histories are played: one process in memory, one on SQLite, or several at one database in memory. */
export type StoreKind = 'memory' | 'sqlite' | 'fleet';

export interface Done {
  readonly counts: Counts;
  readonly ms: number;
  readonly failure?: Failure;
}

/** How each store is asked about a history. */
const BREAKS: Readonly<Record<StoreKind, (coverage: Coverage) => Breaks>> = {
  memory: (coverage) => async (history) => (await playInMemory(history, coverage)).violation,
  sqlite: (coverage) => (history) => playOnBoth(history, coverage),
  fleet: (coverage) => async (history) => (await playInMemory(history, coverage)).violation,
};

export async function doWork(work: Work): Promise<Done> {
  const startedAt = performance.now();
  const coverage = new Coverage();
  const found = work.kind === 'random' ? await playRandom(work, coverage) : await playScenario(work, coverage);
  const done = { counts: coverage.counts(), ms: performance.now() - startedAt };
  if (!found) return done;
  const store = work.kind === 'random' ? work.store : 'memory';
  return { ...done, failure: await makeSmaller(found, BREAKS[store](new Coverage())) };
}

function playScenario({ of, position }: Extract<Work, { kind: 'scenario' }>, coverage: Coverage) {
  const scenario = (of === 'fleet' ? FLEET_SCENARIOS : SCENARIOS)[position];
  if (!scenario) throw new Error(`there is no scenario ${position}`);
  return of === 'fleet' ? exploreFleet(scenario, coverage) : explore(scenario, coverage);
}

/** Whether it is about several processes: those are counted for themselves. */
export function isOfFleet(work: Work): boolean {
  return work.kind === 'scenario' ? work.of === 'fleet' : work.store === 'fleet';
}

class Broken extends Error {}

async function playRandom(
  { store, seed, count }: Extract<Work, { kind: 'random' }>,
  coverage: Coverage,
): Promise<Failure | undefined> {
  const breaks = BREAKS[store](coverage);
  const holds = fc.asyncProperty(store === 'fleet' ? fleetHistories : histories, async (history) => {
    const violation = await breaks(history);
    if (violation !== undefined) throw new Broken(violation);
  });
  // What fast-check finds is made smaller here: only who knows histories can take a decision away and leave the rest in place.
  const { failed, counterexample, errorInstance } = await fc.check(holds, { numRuns: count, seed, endOnFailure: true });
  const history = counterexample?.[0] as History | undefined;
  if (!failed || !history) return undefined;
  return { history, violation: errorInstance instanceof Error ? errorInstance.message : String(errorInstance) };
}
