import { SECONDS } from '../support/fixture.ts';
import { DONE, letter, order, type Scenario, SKIPPED } from './scenario.ts';

const ONE = { commits: 'few', arrivals: [order('o1')], ends: { o1: DONE } } as const;
const TWO = { commits: 'few', arrivals: [order('o1'), order('o2')], ends: { o1: DONE, o2: DONE } } as const;
const LOOKED_UP = {
  ...ONE,
  call: { canReconcile: true },
  answers: ['provider', 'reconcile'],
} as const satisfies Partial<Scenario>;

/** Calls that wait for somebody: for an approval, or for an answer. */
export const SCENARIOS_OF_QUESTIONS: readonly Scenario[] = [
  { ...ONE, name: 'a call is approved, then sent as it was recorded', call: { needsApproval: true } },
  {
    ...ONE,
    name: 'a call is rejected and skipped, and next hears of it',
    call: { needsApproval: true },
    person: { approvals: ['reject by skip'] },
    answers: ['user_skip'],
    ends: { o1: { status: 'skipped', effectsMax: 0, notes: 1 } },
  },
  {
    ...ONE,
    name: 'a call is rejected and parked',
    call: { needsApproval: true },
    person: { approvals: ['reject by park'] },
    answers: ['user_reject'],
    ends: { o1: { status: 'parked', effectsMax: 0, notes: 0 } },
  },
  {
    ...ONE,
    name: 'a call is rejected and parked, its event unparked, and the next one approved',
    call: { needsApproval: true },
    person: { approvals: ['reject by park', 'approve'], parked: 'unpark' },
    answers: ['user_reject', 'provider', 'user_assert_applied', 'user_assert_failed'],
  },
  {
    ...ONE,
    name: 'nobody approves a call in time, and its event is skipped',
    call: { needsApproval: true },
    person: { approvals: ['let it expire'], parked: 'skip' },
    answers: ['expired'],
    ends: { o1: { status: 'skipped', effectsMax: 0, notes: 0 } },
  },
  { ...ONE, name: 'nobody knows of a call, and it happened', calls: ['done, answer lost'] },
  {
    ...ONE,
    name: 'nobody knows of a call, it happened, and its answer comes late',
    calls: ['done, answer lost'],
    person: { reportsLateAnswers: true },
  },
  { ...ONE, name: 'a call lands after its answer was lost', calls: ['lands late, answer lost'] },
  {
    ...ONE,
    name: 'nobody knows of a call, a person skips it, and next hears of it',
    calls: ['done, answer lost'],
    person: { unknown: 'skip' },
    answers: ['user_skip'],
    ends: { o1: SKIPPED },
  },
  {
    ...TWO,
    name: 'an open question is set aside, and it happened',
    calls: ['done, answer lost'],
    person: { unknown: 'set aside, then truth' },
  },
  {
    ...TWO,
    name: 'an open question is set aside, and it did not happen',
    calls: ['request lost'],
    person: { unknown: 'set aside, then truth' },
  },
  {
    ...ONE,
    name: 'an open question is set aside, then skipped',
    calls: ['request lost'],
    person: { unknown: 'set aside, then skip' },
    answers: ['user_skip'],
    ends: { o1: SKIPPED },
  },
  {
    ...TWO,
    name: 'an open question is set aside, and the next run fails after its call',
    calls: ['done, answer lost'],
    troubles: [{ on: 'next', handler: 'book', fails: 'logic', until: 'repaired' }],
    person: { unknown: 'set aside, then truth' },
  },
  {
    name: 'a set-aside run goes on and fails while another one waits for its retry',
    commits: 'few',
    arrivals: [order('o1'), letter('l1')],
    calls: ['done, answer lost'],
    troubles: [
      { on: 'next', handler: 'book', fails: 'transient', until: { afterMs: 2 * SECONDS } },
      { on: 'next', handler: 'send', fails: 'transient', until: { afterMs: 4 * SECONDS } },
    ],
    person: { unknown: 'set aside, then truth' },
    ends: { o1: DONE, l1: DONE },
  },
  {
    name: 'a set-aside call did not happen, and another run waits for its retry',
    commits: 'few',
    arrivals: [order('o1'), letter('l1')],
    calls: ['request lost'],
    troubles: [{ on: 'next', handler: 'send', fails: 'transient', until: { afterMs: 14 * SECONDS } }],
    person: { unknown: 'set aside, then truth' },
    ends: { o1: DONE, l1: DONE },
  },
  { ...LOOKED_UP, name: 'a look-up finds that a call happened', calls: ['done, answer lost'] },
  { ...LOOKED_UP, name: 'a look-up finds that a call did not happen', calls: ['request lost'] },
  {
    ...LOOKED_UP,
    name: 'a look-up finds a late call',
    calls: ['lands late, answer lost'],
    lookUps: ['cannot tell'],
  },
  {
    ...LOOKED_UP,
    name: 'a look-up cannot tell, and a person does not wait for it',
    answers: ['provider', 'reconcile', 'user_assert_applied', 'user_assert_failed'],
    calls: ['done, answer lost'],
    lookUps: ['cannot tell', 'cannot tell'],
    person: { impatient: true },
  },
  {
    ...LOOKED_UP,
    name: 'no look-up can tell, and a person has it checked again',
    calls: ['done, answer lost'],
    lookUps: Array.from({ length: 12 }, () => 'cannot tell' as const),
    person: { unknown: 'check again' },
  },
  {
    ...ONE,
    name: 'a call is refused for a while',
    calls: [{ refused: 'transient' }],
  },
  { ...ONE, name: 'a call is refused for its credentials', calls: [{ refused: 'auth' }] },
  {
    ...ONE,
    name: 'a call that could not be sent is sent again, and nobody knows of that either',
    calls: ['request lost', 'done, answer lost'],
  },
  {
    ...ONE,
    name: 'an approved call is refused as wrong, and another one approved',
    call: { needsApproval: true },
    calls: [{ refused: 'logic' }],
  },
  {
    ...ONE,
    name: 'an approved call is lost',
    call: { needsApproval: true },
    calls: ['request lost'],
  },
  {
    ...ONE,
    name: 'nobody knows of a call, and next fails after the answer',
    calls: ['done, answer lost'],
    troubles: [{ on: 'next', handler: 'book', fails: 'transient', until: { afterMs: 2 * SECONDS } }],
  },
];
