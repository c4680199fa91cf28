import fc from 'fast-check';
import {
  CREWS,
  type CrewName,
  type Decision,
  HAND_OFF_VIEWS,
  type Happening,
  type History,
  MESSAGE_ENDS,
  type Place,
  SHARED_COMMIT_FAILS,
} from './history.ts';
import { DECISIONS_MAX, deaths, GAP_MAX, happenings, JUMPS, places, stories, worlds } from './random-histories.ts';

const SECOND = 1_000;

/** More than any lease, and any patience of the processes with each other. */
const ABSENCE_MS_MAX = 600 * SECOND;

/** Shorter than anybody notices, than a call may take, than a lease, and longer; and long after. */
const ABSENCES = [3 * SECOND, 12 * SECOND, 30 * SECOND, 60 * SECOND, 90 * SECOND, ABSENCE_MS_MAX];
const CREW_MAX = 4;

/** What one process does to the others by dying, freezing and being late, and what the way between them does. */
const ofFleets: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Happening>({ do: 'die' }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('freeze' as const), ms: fc.constantFrom(...ABSENCES) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sleep' as const), ms: fc.constantFrom(...ABSENCES) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cut off' as const), ms: fc.constantFrom(...ABSENCES) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clock' as const), byMs: fc.constantFrom(...JUMPS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lag' as const), ms: fc.constantFrom(...ABSENCES) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('message' as const), goes: fc.constantFrom(...MESSAGE_ENDS) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('hand-off' as const), seen: fc.constantFrom(...HAND_OFF_VIEWS) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('commit' as const), fails: fc.constantFrom(...SHARED_COMMIT_FAILS) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('person' as const),
      act: fc.constantFrom('cancel' as const, 'trigger' as const, 'publish' as const),
      which: fc.nat({ max: 1 }),
    }),
  },
);

/** Meanwhile the others would look around for days. */
function notForDays(happening: Happening): Happening {
  return happening.do === 'sleep' ? { ...happening, ms: Math.min(happening.ms, ABSENCE_MS_MAX) } : happening;
}

/** Where one that stands still matters most. */
const onTheWay = fc.oneof(
  { weight: 2, arbitrary: places },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Place>('to the database', 'after-commit', 'before the call', 'after the call'),
  },
);

const who = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.nat({ max: CREW_MAX - 1 }) },
);

const single: fc.Arbitrary<Decision[]> = fc
  .tuple(
    fc.nat({ max: GAP_MAX }),
    onTheWay,
    who,
    fc.oneof({ weight: 2, arbitrary: ofFleets }, { weight: 1, arbitrary: happenings.map(notForDays) }),
  )
  .map(([after, at, whose, happening]) => [
    { after, ...(at !== undefined && { at }), ...(whose !== undefined && { who: whose }), ...happening },
  ]);

const fleets = fc.record({
  crew: fc.constantFrom(...(Object.keys(CREWS) as CrewName[])),
  hasTimeout: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

export const fleetHistories: fc.Arbitrary<History> = fc.record({
  world: fc.tuple(worlds, fleets).map(([world, fleet]) => ({ ...world, fleet })),
  decisions: fc
    .array(fc.oneof({ weight: 4, arbitrary: single }, { weight: 1, arbitrary: stories }), {
      maxLength: DECISIONS_MAX,
      size: 'max',
    })
    .map((parts) => parts.flat()),
  deaths,
});
