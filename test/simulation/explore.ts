import type { Coverage } from './coverage.ts';
import { foundedInMemory } from './founding.ts';
import type { History, Place } from './history.ts';
import { play } from './play.ts';
import type { Scenario } from './scenarios.ts';

/** A history that broke a promise. */
export interface Failure {
  readonly history: History;
  readonly violation: string;
}

/** A death anywhere else leaves what one of these leaves. */
const DEADLY: readonly Place[] = [
  'to the database',
  'before-commit',
  'after-commit',
  'before the call',
  'after the call',
];

interface Moment {
  readonly number: number;
  /** Deaths between which nothing was committed and nothing happened outside leave the same. */
  readonly leaves: string;
}

/** The first process dies before it has done anything, and so does the second: what follows is the life of the third. */
const THIRD_LIFE = [0, 1];

/**
 * A scenario without a death, with a death at every moment of it, and with a second one at every moment after that; and with a
 * death at every moment of a third life.
 */
export async function explore(
  { history }: Scenario,
  coverage: Coverage,
  deaths: 'once' | 'twice' = 'twice',
): Promise<Failure | undefined> {
  const plain = await live(history, coverage);
  if ('violation' in plain) return plain;
  const third = await live({ ...history, deaths: THIRD_LIFE }, coverage);
  if ('violation' in third) return third;
  for (const { number } of third.moments.filter(({ number }) => !THIRD_LIFE.includes(number))) {
    const thrice = await live({ ...history, deaths: [...THIRD_LIFE, number] }, coverage);
    if ('violation' in thrice) return thrice;
  }
  for (const first of plain.moments) {
    const once = await live({ ...history, deaths: [first.number] }, coverage);
    if ('violation' in once) return once;
    if (deaths === 'once') continue;
    for (const second of differing(once.moments, first)) {
      const twice = await live({ ...history, deaths: [first.number, second.number] }, coverage);
      if ('violation' in twice) return twice;
    }
  }
  return undefined;
}

/**
 * The same for several processes: without a death, with one of them dead at every moment of it, and with one that freezes there for
 * longer than its lease and wakes; and with both, one after the other, at some of them.
 */
export async function exploreFleet({ history }: Scenario, coverage: Coverage): Promise<Failure | undefined> {
  const plain = await live(history, coverage);
  if ('violation' in plain) return plain;
  for (const first of plain.moments) {
    const dead = await live({ ...history, deaths: [first.number] }, coverage);
    if ('violation' in dead) return dead;
    const frozen = await live({ ...history, freezes: [first.number] }, coverage);
    if ('violation' in frozen) return frozen;
    const second = oneOf(frozen.moments, first.number);
    if (!second) continue;
    const both = await live({ ...history, freezes: [first.number], deaths: [second.number] }, coverage);
    if ('violation' in both) return both;
  }
  return undefined;
}

/** One of those that come later; which one changes, so that many have their turn. */
function oneOf(moments: readonly Moment[], first: number): Moment | undefined {
  const later = moments.filter(({ number }) => number > first);
  return later[(first * 7) % Math.max(later.length, 1)];
}

/** Of moments that leave the same one is enough; which one changes with the first death, so that all have their turn. */
function differing(moments: readonly Moment[], first: Moment): Moment[] {
  const later = moments.filter(({ number }) => number > first.number);
  const groups = Map.groupBy(later, ({ leaves }) => leaves);
  return [...groups.values()].flatMap((group) => group[first.number % group.length] ?? []);
}

async function live(history: History, coverage: Coverage): Promise<Failure | { moments: readonly Moment[] }> {
  const moments: Moment[] = [];
  let commits = 0;
  const disk = await foundedInMemory(history.world);
  const { violation } = await play(history, disk, coverage, (place, number, { outside, life }) => {
    if (place === 'after-commit') commits++;
    if (DEADLY.includes(place)) moments.push({ number, leaves: `${life.number} ${commits} ${outside.calls.length}` });
  });
  return violation === undefined ? { moments } : { history, violation };
}
