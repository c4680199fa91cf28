import { afterwards, call, type LookUp, lookUp, PLAIN, person, script } from './decisions.ts';
import type { Decision, History, WorldSpec } from './history.ts';

/** A bounded history that is worth dying in everywhere. */
export interface Scenario {
  readonly name: string;
  readonly history: History;
}

/** The hour of the third look-up is that of a slow phase: two of them take turns. */
const LAST_LOOK_UPS = ['slow', 'cannot tell'] as const;
const ASIDE = { orders: 2, lookUp: true } as const;

function scenario(name: string, world: Partial<WorldSpec>, ...decisions: Decision[]): Scenario {
  return { name, history: { world: { ...PLAIN, ...world }, decisions } };
}

export const SCENARIOS: readonly Scenario[] = [
  scenario('a full cycle', {}),
  scenario('two consumers in a chain', { shape: 'chain' }),
  scenario('a consumer without next', { shape: 'ship' }),
  scenario('a consumer without a call', { shape: 'note' }),
  scenario('a producer on a schedule', { shape: 'poll' }),
  scenario('a webhook', { orders: 0 }, afterwards('deliver')),
  scenario('two workflows at once', { workflows: 2 }),
  scenario('two events in one run', { orders: 2, batch: 2 }),

  scenario('no answer, and it was done', {}, call('timeout, done')),
  scenario('no answer, and it was not done', {}, call('timeout, not done')),
  scenario('the service fails after doing it', {}, call('500, done')),
  scenario('the service fails without doing it', {}, call('500, not done')),
  scenario('the effect lands late', {}, call('lands late, answer lost')),
  scenario('too many calls', {}, call('429')),
  scenario('the call makes no sense', {}, call('400')),
  scenario('the token is not valid', {}, call('401')),
  scenario('the token may not do this', {}, call('403')),
  scenario('nobody answers there', {}, call('unreachable')),
  scenario('the answer comes after the deadline', {}, call('late answer, done')),
  scenario('a refusal comes after the deadline', {}, call('late answer, refused')),
  scenario('the connector breaks down', {}, call('breaks down, done')),
  scenario('the service lies', {}, call('refused, but done')),

  scenario('a look-up finds the effect', { lookUp: true }, call('timeout, done')),
  scenario('a look-up breaks down', { lookUp: true }, call('timeout, done'), lookUp('breaks down')),
  scenario('a look-up finds nothing', { lookUp: true }, call('timeout, not done')),
  scenario('a look-up cannot tell', { lookUp: true }, call('timeout, done'), lookUp('cannot tell'), lookUp('401')),
  scenario('an effect lands during a look-up', { lookUp: true }, call('lands late, answer lost'), lookUp('slow')),
  scenario(
    'a person answers during a look-up',
    { lookUp: true },
    call('timeout, done'),
    lookUp('slow'),
    person('say it happened', 'after the look-up'),
  ),

  scenario('a call is approved', { approval: 'always' }, afterwards('approve')),
  scenario(
    'a call is approved, and there is no answer',
    { approval: 'first' },
    call('timeout, done'),
    afterwards('approve'),
  ),
  scenario('a call is rejected and skipped', { approval: 'always' }, afterwards('reject by skip')),
  scenario(
    'a call is rejected and parked',
    { approval: 'always' },
    afterwards('reject by park'),
    afterwards('unpark event'),
  ),

  scenario('a person resumes too early', {}, call('500, not done'), afterwards('resume'), afterwards('answer')),
  scenario('a person skips an open question', {}, call('500, done'), afterwards('skip call')),
  scenario(
    'an open question is set aside',
    { orders: 2 },
    call('500, not done'),
    afterwards('set aside'),
    afterwards('answer'),
  ),
  scenario(
    'an open question is set aside, and the next run fails after its call',
    { orders: 2 },
    call('500, done'),
    script('next', 'throws'),
    afterwards('set aside'),
    afterwards('answer'),
  ),
  scenario(
    'a set-aside run goes on and fails while a run of another consumer waits for its retry',
    { shape: 'chain', orders: 2 },
    call('500, done'),
    afterwards('set aside'),
    { ...script('next', 'takes its child down'), after: 12, at: 'after the call' },
    script('next', 'takes its child down'),
    afterwards('answer'),
  ),
  scenario('a person wrongly says that it did not happen', {}, call('500, done'), ...denied()),
  scenario('a person wrongly says that it happened', {}, call('500, not done'), afterwards('say it happened')),

  scenario('a pause between prepare and the call', {}, person('pause', 'a phase ends'), afterwards('resume')),
  scenario('a pause while a call is out', {}, person('pause', 'after the call'), afterwards('resume')),
  scenario(
    'a pause before next',
    {},
    script('next', 'throws'),
    person('pause', 'after the call'),
    afterwards('resume'),
  ),
  scenario('a cancel while a call is out', {}, person('cancel', 'after the call'), afterwards('trigger')),
  scenario('a cancel in prepare', {}, person('cancel', 'the script has peeked'), afterwards('trigger')),
  scenario('an event is skipped after it was peeked', { orders: 2 }, person('skip event', 'the script has peeked')),
  scenario(
    'an event is parked after it was peeked',
    {},
    person('park event', 'the script has peeked'),
    afterwards('unpark event'),
  ),
  scenario('an event changes after it was peeked', {}, person('publish again, changed', 'the script has peeked')),
  scenario('an event is redone', {}, afterwards('redo event')),
  scenario(
    'history is removed',
    { orders: 2 },
    person('remove history', 'after the call'),
    afterwards('remove history'),
  ),
  scenario(
    'history is removed while a question is open',
    { shape: 'chain', orders: 2 },
    call('500, done'),
    afterwards('remove history'),
    afterwards('set aside'),
    afterwards('remove history'),
    afterwards('answer'),
    afterwards('remove history'),
  ),
  scenario(
    'history is removed, and the same is published again',
    { shape: 'fetch' },
    afterwards('remove history'),
    afterwards('trigger'),
    afterwards('remove history'),
    afterwards('trigger'),
  ),
  scenario(
    'history is removed during a repair',
    {},
    script('prepare', 'throws'),
    afterwards('remove history'),
    afterwards('deploy'),
  ),
  scenario('a new version while a call is out', {}, person('deploy', 'after the call')),
  scenario(
    'a version without the consumer',
    {},
    call('500, done'),
    afterwards('deploy less, skipping'),
    afterwards('answer'),
  ),

  scenario('prepare throws', {}, script('prepare', 'throws'), afterwards('deploy')),
  scenario('prepare hangs', {}, script('prepare', 'hangs'), afterwards('skip event')),
  scenario('prepare reserves what is not there', {}, script('prepare', 'nonsense', 1), afterwards('retry')),
  scenario('mutate calls what is not there', {}, script('mutate', 'nonsense', 1), afterwards('mend')),
  scenario('next throws', {}, script('next', 'throws'), afterwards('deploy')),
  scenario(
    'next publishes nonsense, and is finished without',
    {},
    script('next', 'nonsense'),
    afterwards('finish without next'),
  ),
  scenario('a child dies in next', {}, script('next', 'takes its child down')),
  scenario('prepare idles', {}, script('prepare', 'idles')),
  scenario('mutate makes no call', {}, script('mutate', 'does nothing')),
  scenario('a producer throws', { shape: 'poll' }, script('produce', 'throws'), afterwards('retry')),
  scenario(
    'a producer is refused',
    { shape: 'poll' },
    { after: 0, do: 'read', ends: '401' },
    afterwards('cure connection'),
  ),

  scenario('the disk is full when the answer comes', {}, { after: 0, at: 'after the call', ...full() }),
  scenario('the disk is full when next is done', {}, { after: 20, at: 'a phase ends', ...full() }),
  scenario('the disk becomes read-only in the middle of a commit', {}, halfWay(0, 'after the call'), halfWay(9)),
  scenario(
    'a commit is lost, and was written',
    {},
    { after: 0, at: 'after the call', do: 'commit', fails: 'lost, written' },
  ),
  scenario(
    'a commit is lost, and was not',
    {},
    { after: 0, at: 'after the call', do: 'commit', fails: 'lost, not written' },
  ),
  scenario('the clock is set back', {}, call('timeout, done'), {
    after: 0,
    at: 'time passes',
    do: 'clock',
    byMs: -3_600_000,
  }),
  scenario('the machine sleeps in a call', {}, { after: 0, at: 'after the call', do: 'sleep', ms: 3_600_000 }),
  scenario('a stop while a call is out', {}, { after: 0, at: 'after the call', do: 'stop' }),
  scenario('a stop before next', {}, { after: 1, at: 'a phase begins', do: 'stop' }),
  scenario('a stop between two runs', { orders: 2 }, { after: 1, at: 'the script has peeked', do: 'stop' }),
  scenario('nobody approves in time', { approval: 'always' }, ...expired()),

  ...LAST_LOOK_UPS.flatMap((last) => [
    scenario(
      `a set-aside call is looked up while another run prepares (${last})`,
      ASIDE,
      ...aside(),
      script('prepare', 'hangs'),
      ...after(last),
    ),
    scenario(
      `a set-aside call is looked up while another call is out (${last})`,
      ASIDE,
      ...aside(),
      call('late answer, done'),
      ...after(last),
    ),
    scenario(
      `a set-aside call is looked up while next runs (${last})`,
      ASIDE,
      ...aside(),
      script('next', 'hangs'),
      ...after(last),
    ),
    scenario(
      `a set-aside call is looked up while a producer runs (${last})`,
      { ...ASIDE, orders: 1 },
      ...aside(),
      script('produce', 'hangs'),
      afterwards('deliver'),
      ...after(last),
    ),
  ]),
];

/** Nobody knows, looking up does not help, and a person lets the rest go on. */
function aside(): Decision[] {
  return [call('timeout, done'), lookUp('cannot tell'), person('set aside', 'after the look-up')];
}

/** Each look-up from then on fails in another way. */
function after(last: LookUp): Decision[] {
  return [lookUp('breaks down'), lookUp('401'), lookUp(last)];
}

/** Longer than anybody may take to approve. */
function expired(): Decision[] {
  return [
    { after: 0, at: 'time passes', do: 'sleep', ms: 8 * 24 * 3_600_000 },
    afterwards('unpark event'),
    afterwards('approve'),
  ];
}

function halfWay(after: number, at?: 'after the call'): Decision {
  return { after, ...(at && { at }), do: 'commit', fails: 'read-only half-way', times: 2 };
}

function full() {
  return { do: 'commit', fails: 'disk full', times: 2 } as const;
}

/** Nobody may say so before the service had time to show it. */
function denied(): Decision[] {
  return [{ after: 0, at: 'time passes', do: 'sleep', ms: 60_000 }, afterwards('say it did not happen')];
}
