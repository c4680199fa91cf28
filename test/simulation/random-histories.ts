import fc from 'fast-check';
import {
  CALL_ENDS,
  COMMIT_FAILS,
  type Decision,
  type Happening,
  type History,
  LOOK_UPS,
  PERSON_ACTS,
  type PersonAct,
  PLACES,
  READ_ENDS,
  SCRIPT_PHASES,
  SCRIPT_WAYS,
  SHAPES,
  type WorldSpec,
} from './history.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** How far the clock is set, and how long a machine sleeps. Sorted by what a failing history is easier to read with. */
export const JUMPS = [60 * SECOND, 10 * SECOND, HOUR, 26 * HOUR, -60 * SECOND, -10 * SECOND, -HOUR];
const SLEEPS = [60 * SECOND, 10 * SECOND, HOUR, 26 * HOUR];

/** Most decisions come close after the one before; the longest gap is that of a run. */
export const GAP_MAX = 14;
export const DECISIONS_MAX = 8;
const WHICH_MAX = 3;
/** About the length of a history. */
const MOMENT_MAX = 120;

export const worlds: fc.Arbitrary<WorldSpec> = fc.record({
  workflows: fc.oneof(
    { arbitrary: fc.constant(1 as const), weight: 4 },
    { arbitrary: fc.constant(2 as const), weight: 1 },
  ),
  shape: fc.constantFrom(...SHAPES),
  orders: fc.integer({ min: 1, max: 2 }),
  batch: fc.integer({ min: 1, max: 2 }),
  lookUp: fc.boolean(),
  approval: fc.constantFrom('never' as const, 'never' as const, 'never' as const, 'first' as const, 'always' as const),
});

export const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Happening>({ do: 'die' }) },
  { weight: 1, arbitrary: fc.constant<Happening>({ do: 'lose power' }) },
  { weight: 1, arbitrary: fc.constant<Happening>({ do: 'stop' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clock' as const), byMs: fc.constantFrom(...JUMPS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sleep' as const), ms: fc.constantFrom(...SLEEPS) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('call' as const), ends: fc.constantFrom(...CALL_ENDS.slice(1)) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('look-up' as const), finds: fc.constantFrom(...LOOK_UPS.slice(1)) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('read' as const), ends: fc.constantFrom(...READ_ENDS.slice(1)) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      fails: fc.constantFrom(...COMMIT_FAILS),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('script' as const),
      phase: fc.constantFrom(...SCRIPT_PHASES),
      how: fc.constantFrom(...SCRIPT_WAYS),
      variant: fc.integer({ min: 0, max: WHICH_MAX }),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('person' as const),
      act: fc.constantFrom(...PERSON_ACTS),
      which: fc.integer({ min: 0, max: WHICH_MAX }),
    }),
  },
);

export const places = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(...PLACES.filter((place) => place !== 'to the database')) },
);

/** Most say only when; some where as well, so that narrow places are met more often than by chance. */
const single: fc.Arbitrary<Decision[]> = fc
  .tuple(fc.nat({ max: GAP_MAX }), places, happenings)
  .map(([after, at, happening]) => [at === undefined ? { after, ...happening } : { after, at, ...happening }]);

/** Something goes wrong, and when the engine has come to rest over it a person does what one does then. */
function story(faults: readonly Happening[], acts: readonly PersonAct[]): fc.Arbitrary<Decision[]> {
  const answers = fc.record({
    act: fc.constantFrom(...acts),
    which: fc.nat({ max: 1 }),
    at: fc.constantFrom(...WAITING),
  });
  return fc
    .tuple(fc.nat({ max: GAP_MAX }), fc.constantFrom(...faults), fc.array(answers, { minLength: 1, maxLength: 2 }))
    .map(([after, fault, persons]) => [
      { after, ...fault },
      ...persons.map((person): Decision => ({ after: 0, do: 'person', ...person })),
    ]);
}

const WAITING = ['time passes', 'time passes', 'time passes', 'after the look-up', 'after-commit'] as const;

const uncertain = [
  'timeout, done',
  'timeout, not done',
  '500, done',
  'lands late, answer lost',
  'breaks down, done',
] as const;
const ANSWERS = [
  'answer',
  'say it happened',
  'say it did not happen',
  'skip call',
  'set aside',
  'check again',
] as const;
const REPAIRS = [
  'deploy',
  'retry',
  'mend',
  'skip event',
  'park event',
  'finish without next',
  'activate older',
] as const;
const LIFTS = ['cure connection', 'approve grant', 'pause', 'resume', 'cancel', 'trigger'] as const;

export const stories = fc.oneof(
  {
    weight: 3,
    arbitrary: story(
      uncertain.map((ends) => ({ do: 'call', ends })),
      ANSWERS,
    ),
  },
  { weight: 1, arbitrary: story([{ do: 'look-up', finds: 'slow' }], ANSWERS) },
  {
    weight: 2,
    arbitrary: story(
      SCRIPT_PHASES.flatMap((phase) => [
        { do: 'script', phase, how: 'throws' },
        { do: 'script', phase, how: 'nonsense', variant: 1 },
      ]),
      REPAIRS,
    ),
  },
  {
    weight: 1,
    arbitrary: story(
      [
        { do: 'call', ends: '401' },
        { do: 'call', ends: '403' },
        { do: 'call', ends: '429' },
      ],
      LIFTS,
    ),
  },
  {
    weight: 1,
    arbitrary: story(
      [{ do: 'sleep', ms: 10 * SECOND }],
      ['approve', 'reject by skip', 'reject by park', 'unpark event'],
    ),
  },
);

/** Deaths beside what is decided: of a process, of the one that recovers from it, and of the one after. */
export const deaths = fc.oneof(
  { weight: 2, arbitrary: fc.constant<number[]>([]) },
  { weight: 1, arbitrary: fc.array(fc.nat({ max: MOMENT_MAX }), { minLength: 1, maxLength: 3 }) },
);

export const histories: fc.Arbitrary<History> = fc.record({
  world: worlds,
  decisions: fc
    .array(fc.oneof({ weight: 3, arbitrary: single }, { weight: 1, arbitrary: stories }), {
      maxLength: DECISIONS_MAX,
      size: 'max',
    })
    .map((parts) => parts.flat()),
  deaths,
});
