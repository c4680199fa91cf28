import assert from 'node:assert/strict';
import type { MutationId, RunId, WorkerId, WorkflowId } from '#base';
import type { Call, Fence, Handlers, StopOptions, StopStatus } from '#model';
import {
  applyAndEmit,
  beginSession,
  CALL,
  deploy,
  ORDERS,
  PERSON,
  placed,
  prepareAndCall,
  SECONDS,
} from './fixture.ts';
import type { World } from './world.ts';

/** A workflow with a run under way: where most stories begin. */
export interface Stage {
  readonly workflow: WorkflowId;
  readonly fence: Fence;
  readonly run: RunId;
}

export interface Called extends Stage {
  readonly mutation: MutationId;
}

interface Setting {
  readonly handlers?: Handlers;
  /** Message ids of the events that are pending when the run begins. */
  readonly events?: readonly string[];
  /** `book` has `next`, `ship` has none. */
  readonly handler?: 'book' | 'ship';
}

const TOPIC = { book: 'order.placed', ship: 'parcel' } as const;

/** Deployed, with its events pending. */
export async function published(world: World, setting: Setting = {}): Promise<WorkflowId> {
  const { handlers = ORDERS, events = ['1'], handler = 'book' } = setting;
  const workflow = await deploy(world.manager, 'orders', handlers);
  const publishes = events.map((messageId) => placed(messageId, undefined, TOPIC[handler]));
  if (publishes.length > 0) await world.manager.publishEvents(workflow, publishes, PERSON);
  return workflow;
}

export async function preparing(world: World, setting: Setting = {}): Promise<Stage> {
  const workflow = await published(world, setting);
  return freshRun(world, workflow, setting.handler);
}

/** A session of its own, with one run just begun. */
export async function freshRun(world: World, workflow: WorkflowId, handler = 'book'): Promise<Stage> {
  const fence = await beginSession(world.manager, workflow, world.self);
  const { run } = await world.manager.startRun(fence, handler);
  return { workflow, fence, run };
}

/** All events of the setting are reserved, `['1']` unless said otherwise. */
export async function prepared(world: World, setting: Setting = {}): Promise<Stage> {
  const stage = await preparing(world, setting);
  const { handler = 'book', events = ['1'] } = setting;
  const reservations = [{ topic: TOPIC[handler], ids: events }];
  await world.manager.updateConsumerPhase(stage.fence, stage.run, 'prepared', {
    reservations,
    prepareResult: '{"data":1}',
  });
  return stage;
}

export async function mutating(world: World, setting: Setting = {}): Promise<Stage> {
  const stage = await prepared(world, setting);
  await world.manager.updateConsumerPhase(stage.fence, stage.run, 'mutating');
  return stage;
}

export async function inFlight(world: World, call: Partial<Call> = {}, setting: Setting = {}): Promise<Called> {
  return send(world, await preparing(world, setting), call, setting);
}

/** Takes a run that has just begun to its call. */
export async function send(
  world: World,
  stage: Stage,
  call: Partial<Call> = {},
  { handler = 'book', events = ['1'] }: Setting = {},
): Promise<Called> {
  const reservations = [{ topic: TOPIC[handler], ids: [...events] }];
  const started = await prepareAndCall(world.manager, stage.fence, stage.run, reservations, { ...CALL, ...call });
  assert.ok(started.mutation, 'the call was not recorded');
  return { ...stage, mutation: started.mutation };
}

/** The call was applied and `next` is running. */
export async function emitting(world: World, setting: Setting = {}): Promise<Called> {
  const stage = await inFlight(world, {}, setting);
  await applied(world, stage);
  return stage;
}

/** The provider says yes, and `next` begins. */
export async function applied(world: World, { fence, run, mutation }: Omit<Called, 'workflow'>): Promise<void> {
  await applyAndEmit(world.manager, fence, run, mutation);
}

/** `mutate` made no call; the event is reserved and `next` is running. */
export async function emittingWithoutCall(world: World): Promise<Stage> {
  const stage = await mutating(world);
  await world.manager.together((model) => {
    model.updateConsumerPhase(stage.fence, stage.run, 'mutated');
    model.updateConsumerPhase(stage.fence, stage.run, 'emitting');
  });
  return stage;
}

/** The script had nothing to do: nothing is reserved, `next` is running. */
export async function emittingEmpty(world: World, setting: Setting = {}): Promise<Stage> {
  const stage = await preparing(world, setting);
  await emptyToEmitting(world, stage);
  return stage;
}

export async function emptyToEmitting(world: World, { fence, run }: Stage, wakeAt?: number): Promise<void> {
  await world.manager.together((model) => {
    model.updateConsumerPhase(fence, run, 'prepared', { reservations: [], prepareResult: '{}', wakeAt });
    model.updateConsumerPhase(fence, run, 'emitting');
  });
}

export function stop(world: World, stage: Stage, status: StopStatus, options: Partial<StopOptions> = {}) {
  return world.manager.updateHandlerRunStatus(stage.fence, stage.run, status, { error: 'it broke', ...options });
}

/** Stopped in flight: nobody knows whether the call happened. */
export async function unknown(world: World, call: Partial<Call> = {}, setting: Setting = {}): Promise<Called> {
  const stage = await inFlight(world, call, setting);
  await stop(world, stage, 'crashed', { callEnded: true });
  return stage;
}

/** The call is recorded and waits for a person. */
export function awaitingApproval(world: World, setting: Setting = {}): Promise<Called> {
  return inFlight(world, { needsApproval: true }, setting);
}

/** The call was applied, `next` failed. */
export async function failedAfter(world: World, status: StopStatus = 'failed:internal'): Promise<Called> {
  const stage = await emitting(world);
  await stop(world, stage, status);
  return stage;
}

/** What the scheduler does by itself when a workflow's time has come: the session that follows, claimed. */
export async function followUp(world: World, workflow: WorkflowId): Promise<Fence> {
  const due = await world.manager.scheduleDue(workflow);
  assert.ok('execution' in due, `nothing is due: ${JSON.stringify(due)}`);
  const { execution } = due;
  return world.manager.together((model) => {
    model.beginScheduling(execution);
    const { epoch } = model.handOff(execution);
    const claimed = model.claimExecution(execution, epoch, world.self);
    assert.ok('fence' in claimed);
    return claimed.fence;
  });
}

/** The session that follows, and the run it begins with. */
export async function nextRun(world: World, workflow: WorkflowId): Promise<Stage> {
  const fence = await followUp(world, workflow);
  const begun = await world.manager.advanceSession(fence);
  assert.ok('run' in begun, 'the session had nothing to do');
  return { workflow, fence, run: begun.run };
}

/** Nothing follows until somebody or something asks. */
export async function nothingFollows(world: World, workflow: WorkflowId): Promise<void> {
  assert.deepEqual(await world.manager.scheduleDue(workflow), { idle: null });
}

/** The process dies and another one starts: every owner but the new one is proven dead. */
export async function restart(world: World): Promise<WorkerId> {
  const self = world.ids.next('worker');
  await world.manager.registerWorker(self, { name: 'two', pool: 'default', leaseMs: 45_000 });
  await world.manager.recoverCrashedRuns(self);
  await world.manager.recoverUnfinishedSessions(self);
  return self;
}

export const HOUR = 60 * 60 * SECONDS;
/** After this a call that ended is known not to have happened, if nobody saw it. */
export const WAIT_MS = 65 * SECONDS;

export function sayNotDone(world: World, mutation: MutationId) {
  return world.manager.updateMutationResult(mutation, 'failure', {
    answer: { resolvedBy: 'user_assert_failed', by: PERSON },
  });
}

export function sayDone(world: World, mutation: MutationId, result = '{"ref":"b1"}') {
  return world.manager.updateMutationResult(mutation, 'success', {
    answer: { resolvedBy: 'user_assert_applied', by: PERSON },
    result,
  });
}
