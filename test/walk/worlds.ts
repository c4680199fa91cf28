import type { Call, Command, CommandName, CommandOf, Publish } from '#model';
import type { Move } from './moves.ts';
import type { View } from './view.ts';
import { CALLS, LEASE_FOR_EVER_MS, LEASE_MS, type Limits, placed, setTheStage, type World } from './world.ts';

type Kind = Exclude<Move['kind'], 'command'>;
/** Which moves a world follows: all of a command, or those with certain arguments. */
type Follows = { readonly [N in CommandName]?: true | ((command: CommandOf<N>, view: View) => boolean) } & {
  readonly [K in Kind]?: true;
};

interface Plan {
  readonly name: string;
  readonly events: readonly Publish[];
  /** For the large form of the world. */
  readonly more: readonly Publish[];
  readonly calls: readonly Call[];
  readonly follows: Follows;
  readonly versions?: number;
  readonly workers?: number;
  readonly limits?: Partial<Limits>;
  readonly lies?: boolean;
  readonly slowLooks?: boolean;
}

function build(plan: Plan, events: readonly Publish[]): World {
  const { stage, home, neighbour } = setTheStage(
    events,
    plan.versions ?? 1,
    plan.workers ?? 1,
    plan.follows.reapExecution ? LEASE_MS : LEASE_FOR_EVER_MS,
  );
  const added = events.length - plan.events.length;
  const limits = { events: plan.events.length, workers: plan.workers ?? 1, deliveries: 0, ...plan.limits };
  return {
    name: plan.name,
    start: stage.state,
    home,
    neighbour,
    calls: plan.calls,
    limits: { ...limits, events: limits.events + added },
    lies: plan.lies ?? false,
    slowLooks: plan.slowLooks ?? false,
    walksOn: (move, view) => follows(plan.follows, move, view),
  };
}

function follows(wanted: Follows, move: Move, view: View): boolean {
  if (move.kind !== 'command') return wanted[move.kind] === true;
  const of = wanted[move.command.do] as true | undefined | ((command: Command, view: View) => boolean);
  return typeof of === 'function' ? of(move.command, view) : of === true;
}

type Phase = CommandOf<'updateConsumerPhase'>;
type Stop = CommandOf<'updateHandlerRunStatus'>;

const reservedCount = ({ reservations = [] }: Phase) => reservations.reduce((sum, { ids }) => sum + ids.length, 0);

/** Takes the oldest event and goes on. */
const one = (command: Phase) => command.phase !== 'prepared' || (reservedCount(command) === 1 && !command.orStop);
const oneOrAll = (command: Phase) => command.phase !== 'prepared' || (reservedCount(command) > 0 && !command.orStop);
const stopsWith =
  (...statuses: Stop['status'][]) =>
  (command: Stop) =>
    statuses.includes(command.status);

/** From the session to the commit, when nothing goes wrong. */
const CYCLE = {
  begin: true,
  advanceSession: true,
  updateConsumerPhase: one,
  startMutation: true,
  land: true,
  commitConsumer: ({ publishes }: CommandOf<'commitConsumer'>) => publishes === undefined,
} as const satisfies Follows;

/** An answer from whoever may give one: not the ways a provider refuses, which only differ in how the run stops. */
const answers = ({ errorClass }: CommandOf<'updateMutationResult'>) => errorClass === undefined;

const PLANS: readonly Plan[] = [
  {
    name: 'unknown outcomes: answers, skip, set aside, retries of retries',
    events: [placed('1'), placed('2')],
    more: [placed('3', 'booked')],
    calls: [CALLS.blind],
    follows: {
      ...CYCLE,
      updateMutationResult: answers,
      updateHandlerRunStatus: stopsWith('crashed', 'failed:internal'),
      skipMutation: true,
      setAside: true,
      finishWithoutNext: true,
      wait: true,
    },
  },
  {
    name: 'look-ups: slow ones, claimed, postponed, given up, asked for again',
    events: [placed('1')],
    more: [placed('2')],
    calls: [CALLS.checked],
    slowLooks: true,
    follows: {
      ...CYCLE,
      updateMutationResult: answers,
      updateHandlerRunStatus: stopsWith('crashed'),
      look: true,
      claimReconcile: true,
      postponeReconcile: true,
      exhaust: true,
      checkAgain: true,
      setAside: true,
      wait: true,
    },
  },
  {
    name: 'approvals: approve, reject, expire, unpark, pause',
    events: [placed('1'), placed('2', 'booked'), placed('3')],
    more: [placed('4')],
    calls: [CALLS.asked],
    follows: {
      ...CYCLE,
      updateMutationResult: answers,
      updateHandlerRunStatus: stopsWith('crashed'),
      approveCall: true,
      rejectCall: true,
      expireCall: true,
      unparkEvents: true,
      pauseWorkflow: true,
      resumeWorkflow: true,
      wait: true,
    },
  },
  {
    name: 'two owners: death, reaping, stale fences',
    events: [placed('1')],
    more: [placed('2', 'booked')],
    calls: [CALLS.blind],
    workers: 2,
    follows: {
      ...CYCLE,
      updateMutationResult: answers,
      reapExecution: true,
      die: true,
      registerWorker: true,
      wait: true,
    },
    limits: { workers: 3 },
  },
  {
    name: 'executions: request, schedule, sweep, hand off, claim, cancel',
    events: [placed('1'), placed('2')],
    more: [placed('3', 'booked')],
    calls: [CALLS.blind],
    follows: {
      ...CYCLE,
      scheduleDue: true,
      requestExecution: ({ trigger }) => trigger === 'event',
      beginScheduling: true,
      handOff: true,
      sweepScheduling: true,
      claimExecution: true,
      cancelExecution: true,
      reapExecution: true,
      updateMutationResult: answers,
      updateHandlerRunStatus: stopsWith('cancelled'),
      finishSession: true,
      wait: true,
    },
  },
  {
    name: 'holds and repairs: pause, resume, cancel, maintenance, archive',
    events: [placed('1')],
    more: [placed('2')],
    calls: [CALLS.blind],
    follows: {
      ...CYCLE,
      updateMutationResult: ({ errorClass }) => errorClass === undefined || errorClass === 'logic',
      updateHandlerRunStatus: stopsWith('failed:logic'),
      requestExecution: ({ trigger }) => trigger === 'manual',
      pauseWorkflow: true,
      resumeWorkflow: true,
      cancelExecution: true,
      exitMaintenanceMode: true,
      finishWithoutNext: true,
      skipEvents: true,
      archiveWorkflow: true,
    },
  },
  {
    name: 'wrong answers: evidence, resume over it, skip, park, redo',
    events: [placed('1')],
    more: [placed('2')],
    calls: [CALLS.blind],
    limits: { events: 2 },
    lies: true,
    follows: {
      ...CYCLE,
      updateMutationResult: answers,
      updateHandlerRunStatus: stopsWith('crashed'),
      recordEvidence: true,
      resumeWorkflow: true,
      skipEvents: true,
      parkEvents: true,
      unparkEvents: true,
      redoEvents: true,
      skipMutation: true,
      wait: true,
    },
  },
  {
    name: 'rest and wake: empty runs, changed and parked events, new versions',
    events: [placed('1')],
    more: [placed('2')],
    calls: [CALLS.blind],
    versions: 2,
    follows: {
      ...CYCLE,
      updateConsumerPhase: (command) => reservedCount(command) < 2,
      updateMutationResult: answers,
      updateHandlerRunStatus: stopsWith('crashed'),
      publishEvents: true,
      parkEvents: true,
      unparkEvents: true,
      activateScript: ({ grantMissing, schedule, skipPending }) => !grantMissing && !schedule && !skipPending,
      exitMaintenanceMode: true,
      wait: true,
    },
  },
  {
    name: 'producers: schedules, deliveries, and webhooks that go away',
    events: [],
    more: [placed('1')],
    calls: [CALLS.blind],
    versions: 4,
    limits: { events: 1, deliveries: 2 },
    follows: {
      ...CYCLE,
      updateHandlerRunStatus: stopsWith('crashed', 'failed:logic'),
      commitProducer: ({ publishes }) => publishes === undefined,
      acceptDelivery: true,
      skipDelivery: true,
      activateScript: ({ grantMissing, script }, { scripts }) =>
        !grantMissing && script !== scripts[2]?.id && script !== scripts[0]?.id,
      requestExecution: ({ trigger }) => trigger === 'manual',
      wait: true,
    },
  },
  {
    name: 'refused credentials, missing grants, backoff',
    events: [placed('1'), placed('2', 'booked')],
    more: [placed('3')],
    calls: [CALLS.blind],
    follows: {
      ...CYCLE,
      updateMutationResult: true,
      updateHandlerRunStatus: stopsWith('paused:approval', 'paused:transient'),
      cureConnection: true,
      approveGrant: true,
      wait: true,
    },
  },
  {
    name: 'versions: what a new one drops, and what is owed under the old',
    events: [placed('1', 'booked')],
    more: [placed('2')],
    calls: [CALLS.blind],
    versions: 3,
    follows: {
      ...CYCLE,
      updateConsumerPhase: oneOrAll,
      updateMutationResult: answers,
      updateHandlerRunStatus: stopsWith('crashed', 'failed:logic'),
      activateScript: ({ grantMissing, schedule }) => !grantMissing && !schedule,
      skipMutation: true,
      setAside: true,
      finishWithoutNext: true,
      exitMaintenanceMode: true,
      wait: true,
    },
  },
];

/** The worlds of every check; and the same with one event more, which take their time. */
export type Size = 'small' | 'large';

export function worlds(size: Size): World[] {
  return PLANS.map((plan) => build(plan, size === 'large' ? [...plan.events, ...plan.more] : plan.events));
}
