import assert from 'node:assert/strict';
import type { EventId, ExecutionId, MutationId, WorkflowId } from '#base';
import {
  APPROVAL_MS_MAX,
  EVENT_STEPS,
  type EventStatus,
  EXECUTION_STEPS,
  type ExecutionStatus,
  isStep,
  MUTATION_STEPS,
  type MutationStatus,
  RECONCILE_COUNT_MAX,
  SCHEDULING_LEASE_MS,
  WORKFLOW_STATUS_STEPS,
  type WorkflowStatus,
} from '#model';
import { beginSession, deploy, ORDERS, PERSON } from '../support/fixture.ts';
import {
  awaitingApproval,
  emitting,
  inFlight,
  prepared,
  preparing,
  published,
  sayDone,
  sayNotDone,
  stop,
  unknown,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// For each kind of row: every state it can be in, every act that could move it, and which of them are taken. What is taken moves
// the row along the table; what is not is refused and moves nothing.

interface Matrix<S extends string, I> {
  readonly kind: string;
  readonly steps: Readonly<Record<S, readonly S[]>>;
  readonly reach: Readonly<Record<S, (world: World) => Promise<I>>>;
  readonly state: (world: World, id: I) => S;
  /** Where each act leads, from the states it is taken in. */
  readonly acts: Readonly<
    Record<
      string,
      { readonly takes: Readonly<Partial<Record<S, S>>>; readonly act: (world: World, id: I) => Promise<unknown> }
    >
  >;
}

function walk<S extends string, I>({ kind, steps, reach, state, acts }: Matrix<S, I>): void {
  const states = Object.keys(steps) as S[];
  for (const from of states) {
    for (const [name, { takes, act }] of Object.entries(acts) as [string, Matrix<S, I>['acts'][string]][]) {
      const to = takes[from];
      if (to === undefined) continue;
      assert.ok(from === to || isStep<S>(steps, from, to), `${kind}: ${name} would leave the table at ${from}`);
      forEachStore(`${kind} ${from}: ${name} leads to ${to}`, async (world) => {
        const id = await reach[from](world);
        assert.equal(state(world, id), from);
        await act(world, id);
        assert.equal(state(world, id), to);
      });
    }
    forEachStore(`${kind} ${from}: no other act is taken`, async (world) => {
      const id = await reach[from](world);
      for (const [, { takes, act }] of Object.entries(acts) as [string, Matrix<S, I>['acts'][string]][]) {
        if (takes[from] === undefined) await world.refusesSomehow(() => act(world, id));
      }
    });
  }
}

async function answered(world: World, stage: { mutation: MutationId }, say: typeof sayDone | typeof sayNotDone) {
  world.clock.advance(2 * 60_000);
  await say(world, stage.mutation);
  return stage.mutation;
}

walk<MutationStatus, MutationId>({
  kind: 'mutation',
  steps: MUTATION_STEPS,
  reach: {
    pending: async (world) => (await awaitingApproval(world)).mutation,
    in_flight: async (world) => (await inFlight(world, { canReconcile: true })).mutation,
    needs_reconcile: async (world) => (await unknown(world, { canReconcile: true })).mutation,
    indeterminate: async (world) => {
      const { mutation } = await unknown(world, { canReconcile: true });
      for (let count = 0; count < RECONCILE_COUNT_MAX; count++) await world.manager.postponeReconcile(mutation, 0);
      return mutation;
    },
    applied: async (world) => answered(world, await unknown(world, { canReconcile: true }), sayDone),
    failed: async (world) => answered(world, await unknown(world, { canReconcile: true }), sayNotDone),
  },
  state: (world, id) => world.row('mutations', id).status,
  acts: {
    'it happened': {
      takes: { needs_reconcile: 'applied', indeterminate: 'applied' },
      act: (world, id) => sayDone(world, id),
    },
    'it did not happen': {
      takes: { needs_reconcile: 'failed', indeterminate: 'failed' },
      act: (world, id) => {
        world.clock.advance(2 * 60_000);
        return sayNotDone(world, id);
      },
    },
    skip: {
      takes: { needs_reconcile: 'failed', indeterminate: 'failed' },
      act: (world, id) => world.manager.skipMutation(id, PERSON),
    },
    'set aside': {
      takes: { needs_reconcile: 'needs_reconcile', indeterminate: 'indeterminate' },
      act: (world, id) => world.manager.setAside(id, PERSON),
    },
    'check again': {
      takes: { indeterminate: 'needs_reconcile' },
      act: (world, id) => world.manager.checkAgain(id, PERSON),
    },
    'look up': {
      takes: { needs_reconcile: 'needs_reconcile' },
      act: (world, id) => world.manager.claimReconcile(id, world.self, 1),
    },
    'look up later': {
      takes: { needs_reconcile: 'needs_reconcile' },
      act: (world, id) => world.manager.postponeReconcile(id, 1),
    },
    approve: { takes: { pending: 'pending' }, act: (world, id) => world.manager.approveCall(id, PERSON) },
    reject: { takes: { pending: 'failed' }, act: (world, id) => world.manager.rejectCall(id, 'park', PERSON) },
    expire: {
      takes: { pending: 'failed' },
      act: (world, id) => {
        world.clock.advance(APPROVAL_MS_MAX);
        return world.manager.expireCall(id);
      },
    },
    "the provider's yes, by the owner": {
      takes: { in_flight: 'applied' },
      act: (world, id) => ownerSays(world, id, 'success'),
    },
    "the provider's no, by the owner": {
      takes: { in_flight: 'failed' },
      act: (world, id) => ownerSays(world, id, 'failure'),
    },
  },
});

function ownerSays(world: World, mutation: MutationId, outcome: 'success' | 'failure') {
  const [execution] = world.rows.executions.values();
  assert.ok(execution);
  const fence = { execution: execution.id, epoch: execution.epoch, owner: world.self };
  return world.manager.updateMutationResult(mutation, outcome, { fence, answer: { resolvedBy: 'provider' } });
}

walk<EventStatus, EventId>({
  kind: 'event',
  steps: EVENT_STEPS,
  reach: {
    pending: async (world) => {
      await published(world);
      return world.event('1');
    },
    reserved: async (world) => {
      await prepared(world);
      return world.event('1');
    },
    parked: async (world) => {
      await published(world);
      await world.manager.parkEvents([world.event('1')], PERSON);
      return world.event('1');
    },
    consumed: async (world) => {
      const { fence, run } = await emitting(world);
      await world.manager.commitConsumer(fence, run);
      return world.event('1');
    },
    skipped: async (world) => {
      await published(world);
      await world.manager.skipEvents([world.event('1')], PERSON);
      return world.event('1');
    },
  },
  state: (world, id) => world.row('events', id).status,
  acts: {
    skip: {
      takes: { pending: 'skipped', parked: 'skipped' },
      act: (world, id) => world.manager.skipEvents([id], PERSON),
    },
    park: { takes: { pending: 'parked' }, act: (world, id) => world.manager.parkEvents([id], PERSON) },
    unpark: { takes: { parked: 'pending' }, act: (world, id) => world.manager.unparkEvents([id], PERSON) },
    redo: {
      takes: { consumed: 'consumed', skipped: 'skipped' },
      act: (world, id) => world.manager.redoEvents([id], PERSON),
    },
  },
});

async function scheduled(world: World): Promise<ExecutionId> {
  const workflow = await published(world);
  const { execution } = await world.manager.requestExecution(workflow, 'event');
  await world.manager.beginScheduling(execution);
  await world.manager.handOff(execution);
  return execution;
}

function epochOf(world: World, execution: ExecutionId): number {
  return world.row('executions', execution).epoch;
}

walk<ExecutionStatus, ExecutionId>({
  kind: 'execution',
  steps: EXECUTION_STEPS,
  reach: {
    requested: async (world) => {
      const { execution } = await world.manager.requestExecution(await published(world), 'event');
      return execution;
    },
    scheduling: async (world) => {
      const { execution } = await world.manager.requestExecution(await published(world), 'event');
      await world.manager.beginScheduling(execution);
      return execution;
    },
    scheduled,
    running: async (world) => (await beginSession(world.manager, await published(world), world.self)).execution,
    completed: async (world) => {
      const fence = await beginSession(world.manager, await published(world), world.self);
      await world.manager.finishSession(fence);
      return fence.execution;
    },
    failed: async (world) => {
      const stage = await preparing(world);
      await stop(world, stage, 'crashed');
      return stage.fence.execution;
    },
    cancelled: async (world) => {
      const { execution } = await world.manager.requestExecution(await published(world), 'event');
      await world.manager.cancelExecution(execution, PERSON);
      return execution;
    },
    timeout: async (world) => {
      const execution = await scheduled(world);
      const epoch = epochOf(world, execution);
      await world.manager.reapExecution(execution, epoch, { provenDead: true, timeoutMs: 1 });
      return execution;
    },
    abandoned: async (world) => {
      const execution = await scheduled(world);
      await world.manager.reapExecution(execution, epochOf(world, execution), { provenDead: true });
      return execution;
    },
  },
  state: (world, id) => world.row('executions', id).status,
  acts: {
    'begin scheduling': {
      takes: { requested: 'scheduling' },
      act: (world, id) => world.manager.beginScheduling(id),
    },
    'hand off': { takes: { scheduling: 'scheduled' }, act: (world, id) => world.manager.handOff(id) },
    sweep: {
      takes: { scheduling: 'requested' },
      act: (world, id) => {
        world.clock.advance(SCHEDULING_LEASE_MS);
        return world.manager.sweepScheduling(id);
      },
    },
    claim: {
      takes: { scheduled: 'running' },
      act: (world, id) => world.manager.claimExecution(id, epochOf(world, id), world.self),
    },
    cancel: {
      takes: { requested: 'cancelled', scheduling: 'cancelled', scheduled: 'scheduled', running: 'running' },
      act: (world, id) => world.manager.cancelExecution(id, PERSON),
    },
    reap: {
      takes: { scheduled: 'abandoned', running: 'abandoned' },
      act: (world, id) => world.manager.reapExecution(id, epochOf(world, id), { provenDead: true }),
    },
    'reap as too long': {
      takes: { scheduled: 'timeout', running: 'timeout' },
      act: (world, id) => world.manager.reapExecution(id, epochOf(world, id), { provenDead: true, timeoutMs: 1 }),
    },
    finish: {
      takes: { running: 'completed' },
      act: (world, id) => {
        return world.manager.finishSession({ execution: id, epoch: epochOf(world, id), owner: world.self });
      },
    },
  },
});

async function held(world: World, hold: (workflow: WorkflowId) => Promise<unknown>): Promise<WorkflowId> {
  const workflow = await deploy(world.manager);
  await hold(workflow);
  return workflow;
}

async function add(world: World, workflow: WorkflowId, minor: number) {
  const version = { major: 2, minor, contentHash: 'h', code: 'x', handlers: ORDERS, by: PERSON };
  return world.manager.addScript(workflow, version);
}

walk<WorkflowStatus, WorkflowId>({
  kind: 'workflow',
  steps: WORKFLOW_STATUS_STEPS,
  reach: {
    draft: async (world) => (await world.manager.createWorkflow('orders', PERSON)).workflow,
    ready: async (world) => {
      const { workflow } = await world.manager.createWorkflow('orders', PERSON);
      await add(world, workflow, 0);
      return workflow;
    },
    active: (world) => deploy(world.manager),
    paused: (world) => held(world, (workflow) => world.manager.pauseWorkflow(workflow, PERSON)),
    error: (world) => held(world, (workflow) => world.manager.holdWorkflow(workflow, 'because')),
    archived: (world) => held(world, (workflow) => world.manager.archiveWorkflow(workflow, PERSON)),
  },
  state: (world, id) => world.row('workflows', id).status,
  acts: {
    'add a version': {
      takes: { draft: 'ready', ready: 'ready', active: 'active', paused: 'paused', error: 'error' },
      act: (world, id) => add(world, id, 1),
    },
    activate: {
      takes: { ready: 'active', active: 'active', paused: 'paused', error: 'error' },
      act: (world, id) => {
        const script = world.rows.scripts.values().at(-1);
        return world.manager.activateScript(id, script?.id ?? world.ids.next('script'), { by: PERSON });
      },
    },
    pause: {
      takes: { active: 'paused', paused: 'paused', error: 'error' },
      act: (world, id) => world.manager.pauseWorkflow(id, PERSON),
    },
    resume: {
      takes: { active: 'active', paused: 'active', error: 'active' },
      act: (world, id) => world.manager.resumeWorkflow(id, PERSON),
    },
    hold: {
      takes: { active: 'error', paused: 'error', error: 'error' },
      act: (world, id) => world.manager.holdWorkflow(id, 'because'),
    },
    archive: {
      takes: { draft: 'archived', ready: 'archived', active: 'archived', paused: 'archived', error: 'archived' },
      act: (world, id) => world.manager.archiveWorkflow(id, PERSON),
    },
  },
});
