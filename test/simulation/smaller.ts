import type { Failure } from './explore.ts';
import type { Decision, History, WorldSpec } from './history.ts';

const SMALLEST: WorldSpec = {
  workflows: 1,
  shape: 'book',
  orders: 1,
  batch: 1,
  lookUp: false,
  approval: 'never',
};

/** Gives what a history breaks, or undefined. */
export type Breaks = (history: History) => Promise<string | undefined>;

/** Each round makes a history smaller, so that this is more than any needs. */
const ROUNDS_MAX = 500;

/** The smallest history found that still breaks something: one thing less at a time, as long as one can be spared. */
export async function makeSmaller(failure: Failure, breaks: Breaks): Promise<Failure> {
  let smallest = failure;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const smaller = await firstThatBreaks(lesser(smallest.history), breaks);
    if (!smaller) return smallest;
    smallest = smaller;
  }
  return smallest;
}

async function firstThatBreaks(candidates: Iterable<History>, breaks: Breaks): Promise<Failure | undefined> {
  for (const history of candidates) {
    const violation = await breaks(history);
    if (violation !== undefined) return { history, violation };
  }
  return undefined;
}

function* lesser(history: History): Generator<History> {
  const { decisions, deaths = [] } = history;
  for (const [position] of deaths.entries()) yield { ...history, deaths: deaths.toSpliced(position, 1) };
  for (const [position] of decisions.entries()) yield { ...history, decisions: without(decisions, position) };
  const { freezes = [] } = history;
  for (const [position] of freezes.entries()) yield { ...history, freezes: freezes.toSpliced(position, 1) };
  yield* smallerFleets(history);
  for (const field of Object.keys(SMALLEST) as (keyof WorldSpec)[]) {
    if (history.world[field] !== SMALLEST[field])
      yield { ...history, world: { ...history.world, [field]: SMALLEST[field] } };
  }
  for (const [position, decision] of decisions.entries()) {
    for (const simpler of simplerThan(decision)) yield { ...history, decisions: decisions.with(position, simpler) };
  }
}

/** One process instead of several, or as few as there can be. */
function* smallerFleets({ world, ...rest }: History): Generator<History> {
  const { fleet, ...alone } = world;
  if (!fleet) return;
  yield { ...rest, world: alone };
  if (fleet.hasTimeout) yield { ...rest, world: { ...world, fleet: { ...fleet, hasTimeout: false } } };
  if (fleet.crew !== SMALLEST_CREW) yield { ...rest, world: { ...world, fleet: { ...fleet, crew: SMALLEST_CREW } } };
}

const SMALLEST_CREW = 'two workers';

/** What comes after it stays where it was. */
function without(decisions: readonly Decision[], position: number): Decision[] {
  const gone = decisions[position]?.after ?? 0;
  const rest = decisions.toSpliced(position, 1);
  const next = rest[position];
  return next ? rest.with(position, { ...next, after: next.after + gone }) : rest;
}

function* simplerThan(decision: Decision): Generator<Decision> {
  const { after } = decision;
  if (decision.who !== undefined) {
    const { who: _, ...anybody } = decision;
    yield anybody as Decision;
  }
  if (decision.at !== undefined) {
    const { at: _, ...anywhere } = decision;
    yield anywhere as Decision;
  }
  for (const less of new Set([0, after >> 1, after - 1]))
    if (less >= 0 && less < after) yield { ...decision, after: less };
  if ('which' in decision && decision.which) yield { ...decision, which: 0 };
  if ('variant' in decision && decision.variant) yield { ...decision, variant: 0 };
  if ('times' in decision && decision.times !== undefined && decision.times > 1) yield { ...decision, times: 1 };
}
