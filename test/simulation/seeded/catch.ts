// Run with a seeded fault: plays histories until one breaks a promise, and prints it. Nothing is printed when none does.

import { playInMemory, playOnBoth } from '../both-stores.ts';
import { Coverage } from '../coverage.ts';
import { explore, exploreFleet, type Failure } from '../explore.ts';
import { FLEET_SCENARIOS } from '../fleet-scenarios.ts';
import type { Decision, History } from '../history.ts';
import { regressions } from '../regressions.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import { makeSmaller } from '../smaller.ts';
import { doWork, type Work } from '../work.ts';
import { FLEET_FAULTS } from './in-fleets.ts';

const coverage = new Coverage();

/** Printed as JSON. */
export interface Caught extends Failure {
  readonly by: string;
  readonly histories: number;
}

/** What only the database can get wrong is looked for there. */
const isInStore = process.env.PAWL_FAULT_FILE?.startsWith('src/store/') ?? false;

const isOfFleet = FLEET_FAULTS.some(({ name }) => name === process.env.PAWL_FAULT);

/** Every scenario of several processes with each death and each freeze, then chance. */
async function inFleets() {
  for (const scenario of FLEET_SCENARIOS) {
    const failure = await exploreFleet(scenario, coverage);
    if (failure) return smaller(scenario, failure);
  }
  return byChance({ kind: 'random', store: 'fleet', seed: 1, count: 2_000 });
}

/** Cheapest first: what once broke, every scenario with one death, then chance, then every scenario with two. */
async function find(): Promise<Omit<Caught, 'histories'> | undefined> {
  if (isInStore)
    return (await inScenariosOnSqlite()) ?? byChance({ kind: 'random', store: 'sqlite', seed: 1, count: 300 });
  for (const [name, { history }] of regressions()) {
    const violation = (await playInMemory(history, coverage)).violation;
    if (violation !== undefined) return { by: `regression ${name}`, history, violation };
  }
  if (isOfFleet) return inFleets();
  return (
    (await inScenarios('once')) ??
    (await byChance({ kind: 'random', store: 'memory', seed: 1, count: 6_000 })) ??
    inScenarios('twice')
  );
}

async function inScenarios(deaths: 'once' | 'twice') {
  for (const scenario of SCENARIOS) {
    const failure = await explore(scenario, coverage, deaths);
    if (failure) return smaller(scenario, failure);
  }
  return undefined;
}

async function smaller({ name }: Scenario, failure: Failure) {
  const breaks = async (history: History) => (await playInMemory(history, new Coverage())).violation;
  return { by: `scenario "${name}"`, ...(await makeSmaller(failure, breaks)) };
}

/** What only the database can get wrong, and what only a loss of power shows. */
async function inScenariosOnSqlite() {
  for (const { name, history } of SCENARIOS) {
    for (const powerFails of POWER_FAILS) {
      const decisions = [...history.decisions, powerFails];
      const violation = await playOnBoth({ ...history, decisions }, coverage);
      if (violation !== undefined)
        return { by: `scenario "${name}" on SQLite`, history: { ...history, decisions }, violation };
    }
  }
  return undefined;
}

/** When a call has had its effect, and in the middle of the commit before it. */
const POWER_FAILS: readonly Decision[] = [
  { after: 0, at: 'after the call', do: 'lose power' },
  { after: 8, at: 'before-commit', do: 'lose power' },
];

async function byChance(work: Work) {
  const { counts, failure } = await doWork(work);
  coverage.add(counts);
  return failure && { by: 'chance', ...failure };
}

const caught = await find();
if (caught) process.stdout.write(JSON.stringify({ ...caught, histories: coverage.histories } satisfies Caught));
