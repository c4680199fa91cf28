import { SECONDS } from '../support/fixture.ts';
import { DONE, DONE_WITHOUT_CALL, order, parcel, type Scenario } from './scenario.ts';

const ONE = { commits: 'few', arrivals: [order('o1')], ends: { o1: DONE } } as const;
const BROKEN_NEXT = { on: 'next', handler: 'book', fails: 'logic', until: 'repaired' } as const;
const BROKEN_PREPARE = { ...BROKEN_NEXT, on: 'prepare' } as const;

/** What people do while something runs or has failed, and the ways of handlers that no question belongs to. */
export const SCENARIOS_OF_PERSONS: readonly Scenario[] = [
  {
    ...ONE,
    name: 'a pause between prepare and the call',
    person: { interjects: [{ while: 'prepared', act: 'pause' }] },
    acts: ['resume'],
  },
  { ...ONE, name: 'a pause while a call is out', person: { interjects: [{ while: 'in flight', act: 'pause' }] } },
  {
    ...ONE,
    name: 'a pause while a call is out, and its answer is lost',
    calls: ['done, answer lost'],
    person: { interjects: [{ while: 'in flight', act: 'pause' }] },
    acts: ['resume'],
  },
  {
    ...ONE,
    name: 'a pause before next, and then next fails',
    troubles: [{ ...BROKEN_NEXT, fails: 'transient', until: { afterMs: 2 * SECONDS } }],
    person: { interjects: [{ while: 'emitting', act: 'pause' }] },
  },
  {
    ...ONE,
    name: 'a cancel between prepare and the call',
    person: { interjects: [{ while: 'prepared', act: 'cancel' }] },
    acts: ['run now'],
  },
  {
    ...ONE,
    name: 'a cancel while a call is out',
    person: { interjects: [{ while: 'in flight', act: 'cancel' }] },
  },
  {
    ...ONE,
    name: 'a cancel while a call is out, and its answer is lost',
    calls: ['done, answer lost'],
    person: { interjects: [{ while: 'in flight', act: 'cancel' }] },
  },
  {
    ...ONE,
    name: 'a cancel before next',
    person: { interjects: [{ while: 'emitting', act: 'cancel' }] },
    acts: ['run now'],
  },
  {
    ...ONE,
    name: 'a cancel, then a failure for a while',
    troubles: [{ ...BROKEN_PREPARE, fails: 'transient', until: { afterMs: 2 * SECONDS } }],
    person: { interjects: [{ while: 'peeked', act: 'cancel' }] },
    acts: ['run now'],
  },
  {
    ...ONE,
    name: 'a person skips an event between peek and reserve',
    arrivals: [order('o1'), order('o2')],
    person: { interjects: [{ while: 'peeked', act: 'skip' }] },
    ends: { o1: { status: 'skipped', effectsMax: 0, notes: 0 }, o2: DONE },
  },
  {
    ...ONE,
    name: 'a person parks an event between peek and reserve, and unparks it later',
    person: { interjects: [{ while: 'peeked', act: 'park' }], parked: 'unpark' },
  },
  {
    ...ONE,
    name: 'an event changes between peek and reserve',
    person: { interjects: [{ while: 'peeked', act: 'change' }] },
  },
  { ...ONE, name: 'an event is redone', person: { redoes: ['o1'] }, ends: { o1: DONE, 'o1 again': DONE } },
  {
    ...ONE,
    name: 'a run is finished without next',
    troubles: [BROKEN_NEXT],
    person: { repair: 'finish without next' },
    ends: { o1: { ...DONE, notes: 0 } },
  },
  {
    ...ONE,
    name: 'a broken script is tried as it is',
    troubles: [BROKEN_NEXT],
    person: { repair: 'try as it is' },
  },
  {
    ...ONE,
    name: 'the events a script fails on are skipped',
    troubles: [BROKEN_PREPARE],
    person: { repair: 'skip the events' },
    ends: { o1: { status: 'skipped', effectsMax: 0, notes: 0 } },
  },
  {
    ...ONE,
    name: 'the events a script fails on are parked',
    troubles: [BROKEN_PREPARE],
    person: { repair: 'park the events' },
    ends: { o1: { status: 'parked', effectsMax: 0, notes: 0 } },
  },
  {
    ...ONE,
    name: 'next fails for a while, several times, and then by its script',
    troubles: [{ ...BROKEN_NEXT, fails: 'transient', until: { afterMs: 4 * SECONDS } }, BROKEN_NEXT],
  },
  {
    ...ONE,
    name: 'the engine fails in prepare, and a person has a look',
    troubles: [{ ...BROKEN_PREPARE, fails: 'internal', until: 'looked at' }],
  },
  { ...ONE, name: 'mutate fails by its script', troubles: [{ ...BROKEN_PREPARE, on: 'mutate' }] },
  { ...ONE, name: 'mutate makes no call', call: 'none', ends: { o1: DONE_WITHOUT_CALL } },
  {
    ...ONE,
    name: 'mutate makes no call, and next fails by its script',
    call: 'none',
    troubles: [BROKEN_NEXT],
    ends: { o1: DONE_WITHOUT_CALL },
  },
  { ...ONE, name: 'prepare is idle for a while', rests: { how: 'idle', until: { afterMs: 20 * SECONDS } } },
  {
    ...ONE,
    name: 'an event arrives while a run that waits for it is idle',
    batch: 2,
    rests: { how: 'idle', until: 'a whole batch' },
    person: { interjects: [{ while: 'peeked', act: { publish: 'o2' } }] },
    ends: { o1: DONE, o2: DONE },
  },
  {
    name: 'a consumer without next',
    commits: 'few',
    arrivals: [parcel('p1')],
    ends: { p1: { ...DONE, notes: 0 } },
  },
  {
    name: 'a producer and a webhook register inputs and publish what they cause',
    commits: 'few',
    begins: 'with a workflow',
    polls: ['o1'],
    arrivals: [{ kind: 'delivery', hook: 'hook', deliveryId: 'd1', order: 'o2' }],
    batch: 2,
    ends: { o1: DONE, o2: DONE },
  },
  {
    name: 'a producer fails for a while',
    commits: 'few',
    polls: ['o1'],
    troubles: [{ on: 'produce', handler: 'poll', fails: 'transient', until: { afterMs: 2 * SECONDS } }],
    ends: { o1: DONE },
  },
  {
    ...ONE,
    name: 'the state of a handler is set, and the workflow archived when its work is done',
    person: { mendsState: true, finally: 'archive' },
  },
];
