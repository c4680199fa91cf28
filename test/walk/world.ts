import type { ScriptId, WorkerId, WorkflowId } from '#base';
import type { Call, ConsumerSpec, Fence, Handlers, Publish, RunStatus } from '#model';
import { CALL, PERSON, SECONDS } from '../support/fixture.ts';
import type { Move } from './moves.ts';
import { Stage, type State } from './state.ts';
import type { View } from './view.ts';

/** How far a world goes: what a state may hold and still be walked on from. */
export interface Limits {
  readonly events: number;
  readonly workers: number;
  readonly deliveries: number;
}

/**
 * A small world that is walked to its end. Every command is applied in every state of it, and what comes of it is judged;
 * `walksOn` says which of these steps the walk follows further.
 */
export interface World {
  readonly name: string;
  readonly start: State;
  /** The workflow that is walked. */
  readonly home: WorkflowId;
  /** Another one, with a run under way and an open question: whatever happens at home must leave it alone. */
  readonly neighbour: WorkflowId;
  readonly calls: readonly Call[];
  readonly limits: Limits;
  /** People may be wrong about what did not happen. */
  readonly lies: boolean;
  /** Look-ups take their time: what they saw may no longer be so when they answer. */
  readonly slowLooks: boolean;
  readonly walksOn: (move: Move, view: View) => boolean;
}

export const LEASE_MS = 45 * SECONDS;
/** A neighbour's lease never runs out: nobody has a reason to take its execution away. */
export const LEASE_FOR_EVER_MS = 10_000_000 * SECONDS;

const PLAIN: Call = { ...CALL, title: null };
export const CALLS = {
  blind: PLAIN,
  checked: { ...PLAIN, canReconcile: true },
  asked: { ...PLAIN, needsApproval: true },
} as const satisfies Record<string, Call>;

function consumer(name: string, topic: string, more: Partial<ConsumerSpec> = {}): ConsumerSpec {
  return { name, subscribe: [topic], publishes: [], hasMutate: true, hasNext: true, ...more };
}

const POLL = { name: 'poll', publishes: ['placed'], webhook: false } as const;
const HOOK = { name: 'hook', publishes: ['placed'], webhook: true } as const;
const BOOK = consumer('book', 'placed', { publishes: ['booked'] });

/** `book` has `next` and leads to `ship`, which has none. */
export const VERSIONS: readonly Handlers[] = [
  {
    topics: ['placed', 'booked'],
    producers: [POLL, HOOK],
    consumers: [BOOK, consumer('ship', 'booked', { hasNext: false })],
  },
  { topics: ['placed', 'booked'], producers: [POLL, HOOK], consumers: [BOOK, consumer('ship', 'booked')] },
  { topics: ['placed'], producers: [POLL], consumers: [consumer('book', 'placed')] },
  {
    topics: ['placed', 'booked'],
    producers: [POLL, { ...HOOK, name: 'second hook' }],
    consumers: [BOOK, consumer('ship', 'booked')],
  },
];

const NEIGHBOUR: Handlers = { topics: ['placed'], producers: [], consumers: [consumer('book', 'placed')] };

/** The stage every world begins on: home is deployed with its events pending, the neighbour is in the middle of its work. */
export interface Setting {
  readonly stage: Stage;
  readonly home: WorkflowId;
  readonly neighbour: WorkflowId;
  readonly versions: readonly ScriptId[];
  readonly workers: readonly WorkerId[];
}

export function setTheStage(
  events: readonly Publish[],
  versions: number,
  workers: number,
  leaseMs: number = LEASE_MS,
  stage: Stage = new Stage(),
): Setting {
  const neighbour = settleNeighbour(stage);
  const { workflow: home } = stage.do({ do: 'createWorkflow', name: 'home', by: PERSON });
  const scripts = VERSIONS.slice(0, versions).map((handlers, minor) => addVersion(stage, home, handlers, minor));
  const [first] = scripts;
  if (first === undefined) throw new Error('a world has a version');
  stage.do({ do: 'activateScript', workflow: home, script: first, by: PERSON });
  settleHolders(stage, home, first);
  if (events.length > 0) stage.do({ do: 'publishEvents', workflow: home, publishes: events, by: PERSON });
  const ids = Array.from({ length: workers }, (_, i) => newWorker(stage, `worker ${i}`, leaseMs));
  return { stage, home, neighbour, versions: scripts, workers: ids };
}

/** A token, a secret, a grant, a request and a notice: for whoever takes them back. */
function settleHolders(stage: Stage, workflow: WorkflowId, script: ScriptId): void {
  const expiresAt = stage.state.now + LEASE_FOR_EVER_MS;
  stage.do({ do: 'createToken', kind: 'token', name: 'ci', scopes: ['read'], hash: 'hash', expiresAt, by: PERSON });
  stage.do({ do: 'setSecret', name: 'shop', box: 'sealed', by: PERSON });
  const grants = [{ connection: 'shop', method: 'post', targets: ['*'], capPerHour: null }];
  stage.do({ do: 'giveGrants', workflow, grants, by: PERSON });
  stage.do({ do: 'askPermission', workflow, script, asks: '[]', by: PERSON });
  stage.do({ do: 'openNotices', caseKey: 'unknown mut_1', channels: ['mail'] });
}

function addVersion(stage: Stage, workflow: WorkflowId, handlers: Handlers, minor: number): ScriptId {
  const contentHash = `hash${minor}`;
  const code = 'export default {}';
  return stage.do({ do: 'addScript', workflow, major: 1, minor, contentHash, code, handlers, by: PERSON }).script;
}

function newWorker(stage: Stage, name: string, leaseMs: number): WorkerId {
  const worker = stage.newId('worker');
  stage.do({ do: 'registerWorker', worker, name, pool: 'pool', leaseMs });
  return worker;
}

export function placed(messageId: string, topic = 'placed'): Publish {
  return { topic, messageId, payload: '{}' };
}

/** requested … running, as one process does it. */
export function beginSession(stage: Stage, workflow: WorkflowId, owner: WorkerId): Fence {
  const { execution } = stage.do({ do: 'requestExecution', workflow, trigger: 'event' });
  stage.do({ do: 'beginScheduling', execution });
  const { epoch } = stage.do({ do: 'handOff', execution });
  const claimed = stage.do({ do: 'claimExecution', execution, epoch, owner });
  if ('cancelled' in claimed) throw new Error('cancelled before it began');
  return claimed.fence;
}

/** One call set aside with its outcome unknown, and another run under way. */
function settleNeighbour(stage: Stage): WorkflowId {
  const { workflow } = stage.do({ do: 'createWorkflow', name: 'neighbour', by: PERSON });
  const script = addVersion(stage, workflow, NEIGHBOUR, 0);
  stage.do({ do: 'activateScript', workflow, script, by: PERSON });
  const publishes = [placed('n1'), placed('n2')];
  stage.do({ do: 'publishEvents', workflow, publishes, by: PERSON });
  const owner = newWorker(stage, 'neighbour', LEASE_FOR_EVER_MS);
  const fence = beginSession(stage, workflow, owner);
  const { run } = stage.do({ do: 'startRun', fence, handler: 'book' });
  const reservations = [{ topic: 'placed', ids: ['n1'] }];
  stage.do({ do: 'updateConsumerPhase', fence, run, phase: 'prepared', reservations, prepareResult: '{}' });
  stage.do({ do: 'updateConsumerPhase', fence, run, phase: 'mutating' });
  const started = stage.do({ do: 'startMutation', fence, run, call: CALLS.blind });
  const stop: RunStatus = 'paused:transient';
  stage.do({ do: 'updateHandlerRunStatus', fence, run, status: stop, error: 'no answer', callEnded: true });
  if (started.mutation === undefined) throw new Error('the call was not recorded');
  stage.do({ do: 'setAside', mutation: started.mutation, by: PERSON });
  const second = beginSession(stage, workflow, owner);
  stage.do({ do: 'startRun', fence: second, handler: 'book' });
  return workflow;
}
