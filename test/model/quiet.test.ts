import type { MutationId, RunId, WorkflowId } from '#base';
import { deployVersion, ORDERS, PERSON, placed } from '../support/fixture.ts';
import {
  awaitingApproval,
  failedAfter,
  preparing,
  published,
  sayDone,
  sayNotDone,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// After a cancel nothing follows until the next trigger. Whatever a person does is one; what the engine finds out is none.

interface Open {
  readonly workflow: WorkflowId;
  readonly run?: RunId;
  readonly mutation?: MutationId;
}

/** A request that was cancelled before anyone took it: the workflow is quiet, whatever else is open in it. */
async function quieted<O extends Open>(world: World, open: O): Promise<O> {
  const { execution } = await world.manager.requestExecution(open.workflow, 'event');
  await world.manager.cancelExecution(execution, PERSON);
  world.is('workflows', open.workflow, { quiet: true });
  return open;
}

async function looked(world: World) {
  const stage = await unknown(world, { canReconcile: true });
  world.clock.advance(WAIT_MS);
  return stage;
}

async function broken(world: World, status: 'failed:logic' | 'paused:approval') {
  const stage = await preparing(world);
  await stop(world, stage, status, { cause: { kind: 'permission' } });
  return stage;
}

async function refusedConnection(world: World) {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:approval', { cause: { kind: 'auth', connection: 'shop', version: 0 } });
  return stage;
}

async function pending(world: World) {
  return { workflow: await published(world, { events: ['1', '2'] }) };
}

type Act = (world: World) => Promise<WorkflowId>;

/** Sets the scene, quiets it, acts. */
function scene<O extends Open>(
  reach: (world: World) => Promise<O>,
  act: (world: World, open: O) => Promise<unknown>,
): Act {
  return async (world) => {
    const open = await quieted(world, await reach(world));
    await act(world, open);
    return open.workflow;
  };
}

const PERSONS: Readonly<Record<string, Act>> = {
  'it happened': scene(looked, (world, { mutation }) => sayDone(world, mutation)),
  'it did not happen': scene(looked, (world, { mutation }) => sayNotDone(world, mutation)),
  skip: scene(looked, (world, { mutation }) => world.manager.skipMutation(mutation, PERSON)),
  'set aside': scene(looked, (world, { mutation }) => world.manager.setAside(mutation, PERSON)),
  'check again': scene(
    async (world) => {
      const stage = await looked(world);
      for (let count = 0; count < 12; count++) await world.manager.postponeReconcile(stage.mutation, 0);
      return stage;
    },
    (world, { mutation }) => world.manager.checkAgain(mutation, PERSON),
  ),
  approve: scene(awaitingApproval, (world, { mutation }) => world.manager.approveCall(mutation, PERSON)),
  'reject and skip': scene(awaitingApproval, (world, { mutation }) =>
    world.manager.rejectCall(mutation, 'skip', PERSON),
  ),
  'reject and park': scene(awaitingApproval, (world, { mutation }) =>
    world.manager.rejectCall(mutation, 'park', PERSON),
  ),
  'approve a grant': scene(
    (world) => broken(world, 'paused:approval'),
    (world, { workflow }) => world.manager.approveGrant(workflow, PERSON),
  ),
  'end a repair': scene(
    (world) => broken(world, 'failed:logic'),
    (world, { workflow }) => world.manager.exitMaintenanceMode(workflow, PERSON, true),
  ),
  'a new version': scene(pending, (world, { workflow }) => deployVersion(world.manager, workflow, ORDERS, 1)),
  'finish without next': scene(failedAfter, (world, { run }) => world.manager.finishWithoutNext(run, PERSON)),
  'cure a connection': scene(refusedConnection, (world) => world.manager.cureConnection('shop', PERSON)),
  resume: scene(pending, (world, { workflow }) => world.manager.resumeWorkflow(workflow, PERSON)),
  publish: scene(pending, (world, { workflow }) => world.manager.publishEvents(workflow, [placed('3')], PERSON)),
  'skip an event': scene(pending, (world) => world.manager.skipEvents([world.event('1')], PERSON)),
  'park an event': scene(pending, (world) => world.manager.parkEvents([world.event('1')], PERSON)),
};

for (const [name, act] of Object.entries(PERSONS)) {
  forEachStore(`a person's act ends the quiet: ${name}`, async (world) => {
    world.is('workflows', await act(world), { quiet: false });
  });
}

const ENGINE: Readonly<Record<string, Act>> = {
  'a look-up that says it happened': scene(looked, (world, { mutation }) => {
    return world.manager.updateMutationResult(mutation, 'success', { answer: { resolvedBy: 'reconcile' } });
  }),
  'a look-up that says it did not': scene(looked, (world, { mutation }) => {
    return world.manager.updateMutationResult(mutation, 'failure', { answer: { resolvedBy: 'reconcile' } });
  }),
  'a look-up that gives up': scene(looked, async (world, { mutation }) => {
    for (let count = 0; count < 12; count++) await world.manager.postponeReconcile(mutation, 0);
  }),
  'an approval that expires': scene(awaitingApproval, (world, { mutation }) => {
    world.clock.advance(7 * 24 * 60 * 60 * 1_000);
    return world.manager.expireCall(mutation);
  }),
  evidence: scene(looked, (world, { mutation }) => {
    return world.manager.recordEvidence(mutation, { says: 'applied', detail: '{}', source: 'x' });
  }),
  'a hold of the engine': scene(pending, (world, { workflow }) => world.manager.holdWorkflow(workflow, 'because')),
  'a pause': scene(pending, (world, { workflow }) => world.manager.pauseWorkflow(workflow, PERSON)),
};

for (const [name, act] of Object.entries(ENGINE)) {
  forEachStore(`no trigger, so the quiet stays: ${name}`, async (world) => {
    world.is('workflows', await act(world), { quiet: true, dueAt: null });
  });
}
