import type { Decision, History, Place, WorldSpec } from './history.ts';

/** A bounded history that is worth dying in everywhere. */
export interface Scenario {
  readonly name: string;
  readonly history: History;
}

const PLAIN: WorldSpec = { workflows: 1, shape: 'book', orders: 1, batch: 1, lookUp: false, approval: 'never' };

/** The hour of the third look-up is that of a slow phase: two of them take turns. */
const LAST_LOOK_UPS = ['slow', 'cannot tell'] as const;
const ASIDE = { orders: 2, lookUp: true } as const;

type Call = Extract<Decision, { do: 'call' }>['ends'];
type LookUp = Extract<Decision, { do: 'look-up' }>['finds'];
type Act = Extract<Decision, { do: 'person' }>['act'];
type Script = Extract<Decision, { do: 'script' }>;

const call = (ends: Call): Decision => ({ after: 0, do: 'call', ends });
const lookUp = (finds: LookUp): Decision => ({ after: 0, do: 'look-up', finds });
const script = (phase: Script['phase'], how: Script['how'], variant = 0): Decision => {
  return { after: 0, do: 'script', phase, how, variant };
};
const person = (act: Act, at: Place, which = 0): Decision => ({ after: 0, at, do: 'person', act, which });
/** When there is nothing else to do: the engine waits, and people have all the time. */
const then = (act: Act, which = 0): Decision => ({ ...person(act, 'time passes', which), after: 1 });

function scenario(name: string, world: Partial<WorldSpec>, ...decisions: Decision[]): Scenario {
  return { name, history: { world: { ...PLAIN, ...world }, decisions } };
}

export const SCENARIOS: readonly Scenario[] = [
  scenario('a full cycle', {}),
  scenario('two consumers in a chain', { shape: 'chain' }),
  scenario('a consumer without next', { shape: 'ship' }),
  scenario('a consumer without a call', { shape: 'note' }),
  scenario('a producer on a schedule', { shape: 'poll' }),
  scenario('a webhook', { orders: 0 }, then('deliver')),
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

  scenario('a call is approved', { approval: 'always' }, then('approve')),
  scenario('a call is approved, and there is no answer', { approval: 'first' }, call('timeout, done'), then('approve')),
  scenario('a call is rejected and skipped', { approval: 'always' }, then('reject by skip')),
  scenario('a call is rejected and parked', { approval: 'always' }, then('reject by park'), then('unpark event')),

  scenario('a person skips an open question', {}, call('500, done'), then('skip call')),
  scenario('an open question is set aside', { orders: 2 }, call('500, not done'), then('set aside'), then('answer')),
  scenario(
    'an open question is set aside, and the next run fails after its call',
    { orders: 2 },
    call('500, done'),
    script('next', 'throws'),
    then('set aside'),
    then('answer'),
  ),
  scenario(
    'a set-aside run goes on and fails while a run of another consumer waits for its retry',
    { shape: 'chain', orders: 2 },
    call('500, done'),
    then('set aside'),
    { ...script('next', 'takes its child down'), after: 12, at: 'after the call' },
    script('next', 'takes its child down'),
    then('answer'),
  ),
  scenario('a person wrongly says that it did not happen', {}, call('500, done'), ...denied()),
  scenario('a person wrongly says that it happened', {}, call('500, not done'), then('say it happened')),

  scenario('a pause between prepare and the call', {}, person('pause', 'a phase ends'), then('resume')),
  scenario('a pause while a call is out', {}, person('pause', 'after the call'), then('resume')),
  scenario('a pause before next', {}, script('next', 'throws'), person('pause', 'after the call'), then('resume')),
  scenario('a cancel while a call is out', {}, person('cancel', 'after the call'), then('trigger')),
  scenario('a cancel in prepare', {}, person('cancel', 'the script has peeked'), then('trigger')),
  scenario('an event is skipped after it was peeked', { orders: 2 }, person('skip event', 'the script has peeked')),
  scenario(
    'an event is parked after it was peeked',
    {},
    person('park event', 'the script has peeked'),
    then('unpark event'),
  ),
  scenario('an event changes after it was peeked', {}, person('publish again, changed', 'the script has peeked')),
  scenario('an event is redone', {}, then('redo event')),
  scenario('a new version while a call is out', {}, person('deploy', 'after the call')),
  scenario('a version without the consumer', {}, call('500, done'), then('deploy less, skipping'), then('answer')),

  scenario('prepare throws', {}, script('prepare', 'throws'), then('deploy')),
  scenario('prepare hangs', {}, script('prepare', 'hangs'), then('skip event')),
  scenario('prepare reserves what is not there', {}, script('prepare', 'nonsense', 1), then('retry')),
  scenario('mutate calls what is not there', {}, script('mutate', 'nonsense', 1), then('mend')),
  scenario('next throws', {}, script('next', 'throws'), then('deploy')),
  scenario(
    'next publishes nonsense, and is finished without',
    {},
    script('next', 'nonsense'),
    then('finish without next'),
  ),
  scenario('a child dies in next', {}, script('next', 'takes its child down')),
  scenario('prepare idles', {}, script('prepare', 'idles')),
  scenario('mutate makes no call', {}, script('mutate', 'does nothing')),
  scenario('a producer throws', { shape: 'poll' }, script('produce', 'throws'), then('retry')),
  scenario('a producer is refused', { shape: 'poll' }, { after: 0, do: 'read', ends: '401' }, then('cure connection')),

  scenario('the disk is full when the answer comes', {}, { after: 0, at: 'after the call', ...full() }),
  scenario('the disk is full when next is done', {}, { after: 20, at: 'a phase ends', ...full() }),
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
      then('deliver'),
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
  return [{ after: 0, at: 'time passes', do: 'sleep', ms: 8 * 24 * 3_600_000 }, then('unpark event'), then('approve')];
}

function full() {
  return { do: 'commit', fails: 'disk full', times: 2 } as const;
}

/** Nobody may say so before the service had time to show it. */
function denied(): Decision[] {
  return [{ after: 0, at: 'time passes', do: 'sleep', ms: 60_000 }, then('say it did not happen')];
}
