import { afterwards, call, PLAIN, person, script } from './decisions.ts';
import type { Decision, FleetSpec, WorldSpec } from './history.ts';
import type { Scenario } from './scenarios.ts';

const TWO: FleetSpec = { crew: 'two workers', hasTimeout: false };

function scenario(
  name: string,
  world: Partial<WorldSpec>,
  fleet: Partial<FleetSpec>,
  ...decisions: Decision[]
): Scenario {
  return { name, history: { world: { ...PLAIN, ...world, fleet: { ...TWO, ...fleet } }, decisions } };
}

const message = (goes: Extract<Decision, { do: 'message' }>['goes']): Decision => ({ after: 0, do: 'message', goes });
/** After so many moments, counted from the start, somebody has been handed something. */
const handOff = (seen: Extract<Decision, { do: 'hand-off' }>['seen'], after = 0): Decision => ({
  after,
  do: 'hand-off',
  seen,
});

/** Bounded histories of several processes: worth dying and freezing in everywhere. */
export const FLEET_SCENARIOS: readonly Scenario[] = [
  scenario('two workers: a full cycle', {}, {}),
  scenario('two of both: a full cycle', {}, { crew: 'two of both' }),
  scenario('two executors: a chain', { shape: 'chain' }, { crew: 'two executors' }),
  scenario('two workers: two workflows', { workflows: 2 }, {}),
  scenario('two workers: a producer', { shape: 'poll' }, {}),
  scenario('two workers: no answer, and a look-up', { lookUp: true }, {}, call('timeout, done')),
  scenario('two workers: no answer, and a person', {}, {}, call('timeout, not done')),
  scenario('two workers: the answer comes after the deadline', { lookUp: true }, {}, call('late answer, done')),
  scenario('two workers: a call is approved', { approval: 'always' }, {}, afterwards('approve')),
  scenario('two workers: next throws', {}, {}, script('next', 'throws'), afterwards('deploy')),
  scenario('two workers: a handoff is told again', { orders: 2 }, {}, handOff('again', 13), handOff('again')),
  scenario('two workers: a handoff is seen late', {}, {}, handOff('late', 11), handOff('not yet')),
  scenario('two workers: nobody hears of it', {}, {}, message('lost'), message('lost'), message('lost')),
  scenario(
    'two executors: calls come twice and late',
    {},
    { crew: 'two executors' },
    message('twice'),
    message('late'),
  ),
  scenario('two workers: a session takes too long', { lookUp: true }, { hasTimeout: true }, script('next', 'hangs')),
  scenario('two workers: a call takes too long', {}, { hasTimeout: true }, script('prepare', 'hangs')),
  scenario('two workers: a cancel while it is handed off', {}, {}, cancelled('after-commit'), afterwards('trigger')),
  scenario('two workers: a cancel on the way', {}, {}, cancelled('to the database'), afterwards('trigger')),
  scenario('two workers: a cancel while a call is out', {}, {}, cancelled('after the call'), afterwards('trigger')),
  scenario('two workers: one stops while a call is out', {}, {}, { after: 0, at: 'after the call', do: 'stop' }),
  scenario('two workers: one is cut off', {}, {}, { after: 0, at: 'before the call', do: 'cut off', ms: 90_000 }),
  scenario('two workers: the machine sleeps', {}, {}, { after: 0, at: 'before the call', do: 'sleep', ms: 90_000 }),
  scenario('two workers: an answer is long on its way', {}, {}, late('to the database'), late('after the call')),
];

function cancelled(at: 'after-commit' | 'to the database' | 'after the call'): Decision {
  return { ...person('cancel', at), after: at === 'after the call' ? 0 : 16 };
}

function late(at: 'to the database' | 'after the call'): Decision {
  return { after: 8, at, do: 'commit', fails: 'answered late' };
}
