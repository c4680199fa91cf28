import assert from 'node:assert/strict';
import { type Boundary, boundaryOf, type Hold, ON_BOUNDARY, STOP_STATUSES, type StopStatus } from '#model';
import { beginSession, PERSON } from '../support/fixture.ts';
import {
  awaitingApproval,
  type Called,
  emitting,
  emittingEmpty,
  emittingWithoutCall,
  inFlight,
  mutating,
  nextRun,
  prepared,
  preparing,
  type Stage,
  sayDone,
  sayNotDone,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// The boundary table of the design, row by row: what becomes of the events, the pointer and the holds when a run stops, and
// whether it may be retried.

interface Row {
  readonly boundary: Boundary;
  readonly reach: (world: World) => Promise<Stage>;
  readonly events: 'pending' | 'reserved';
  readonly pointer: boolean;
  readonly holds: readonly Hold[];
}

async function stopped(world: World, stage: Stage): Promise<Stage> {
  await stop(world, stage, 'crashed');
  return stage;
}

async function refusedByProvider(world: World): Promise<Called> {
  const stage = await inFlight(world);
  const { fence, mutation } = stage;
  const answer = { resolvedBy: 'provider' } as const;
  await world.manager.updateMutationResult(mutation, 'failure', { fence, answer, errorClass: 'transient' });
  return stage;
}

const ROWS: Readonly<Record<string, Row>> = {
  'in_flight, of a method that cannot reconcile': {
    boundary: 'unknown',
    reach: async (world) => stopped(world, await inFlight(world)),
    events: 'reserved',
    pointer: true,
    holds: ['unknown'],
  },
  'in_flight, of a method that can reconcile': {
    boundary: 'unknown',
    reach: async (world) => stopped(world, await inFlight(world, { canReconcile: true })),
    events: 'reserved',
    pointer: true,
    holds: ['unknown'],
  },
  pending: {
    boundary: 'held',
    reach: awaitingApproval,
    events: 'reserved',
    pointer: true,
    holds: ['approval'],
  },
  applied: {
    boundary: 'after',
    reach: async (world) => stopped(world, await emitting(world)),
    events: 'reserved',
    pointer: true,
    holds: [],
  },
  'applied, answered while the run stands at mutating': {
    boundary: 'after',
    reach: async (world) => {
      const stage = await unknown(world);
      await sayDone(world, stage.mutation);
      return stage;
    },
    events: 'reserved',
    pointer: true,
    holds: [],
  },
  'failed by user_skip': {
    boundary: 'after',
    reach: async (world) => {
      const stage = await unknown(world);
      await world.manager.skipMutation(stage.mutation, PERSON);
      return stage;
    },
    events: 'reserved',
    pointer: true,
    holds: [],
  },
  'failed by the provider': {
    boundary: 'before',
    reach: refusedByProvider,
    events: 'pending',
    pointer: false,
    holds: [],
  },
  'failed by a person': {
    boundary: 'before',
    reach: async (world) => {
      const stage = await unknown(world);
      world.clock.advance(WAIT_MS);
      await sayNotDone(world, stage.mutation);
      return stage;
    },
    events: 'pending',
    pointer: false,
    holds: [],
  },
  'none, phase mutated, events reserved': {
    boundary: 'after',
    reach: async (world) => {
      const stage = await mutating(world);
      await world.manager.updateConsumerPhase(stage.fence, stage.run, 'mutated');
      return stopped(world, stage);
    },
    events: 'reserved',
    pointer: true,
    holds: [],
  },
  'none, phase emitting, events reserved': {
    boundary: 'after',
    reach: async (world) => stopped(world, await emittingWithoutCall(world)),
    events: 'reserved',
    pointer: true,
    holds: [],
  },
  'none, phase emitting, nothing reserved': {
    boundary: 'before',
    reach: async (world) => stopped(world, await emittingEmpty(world)),
    events: 'pending',
    pointer: false,
    holds: [],
  },
  'none, phase preparing': {
    boundary: 'before',
    reach: async (world) => stopped(world, await preparing(world)),
    events: 'pending',
    pointer: false,
    holds: [],
  },
  'none, phase prepared': {
    boundary: 'before',
    reach: async (world) => stopped(world, await prepared(world)),
    events: 'pending',
    pointer: false,
    holds: [],
  },
  'none, phase mutating': {
    boundary: 'before',
    reach: async (world) => stopped(world, await mutating(world)),
    events: 'pending',
    pointer: false,
    holds: [],
  },
};

for (const [ledger, { boundary, reach, events, pointer, holds }] of Object.entries(ROWS)) {
  forEachStore(`ledger row ${ledger}: boundary ${boundary}, events ${events}`, async (world) => {
    const { workflow, run } = await reach(world);
    const row = world.row('runs', run);
    const mutation = world.rows.mutations.values().find((call) => call.rootRunId === row.rootRunId);
    const reservedCount = world.rows.events.values().filter((event) => event.reservedByRunId === run).length;
    assert.equal(boundaryOf(row, mutation, reservedCount), boundary);
    assert.deepEqual(ON_BOUNDARY[boundary], {
      events: events === 'pending' ? 'release' : 'keep',
      pointer,
      hold: { unknown: 'unknown', held: 'approval', after: null, before: null }[boundary],
    });
    world.is('events', world.event('1'), { status: events, reservedByRunId: events === 'reserved' ? run : null });
    world.is('workflows', workflow, { pendingRetryRunId: pointer ? run : null, holds });
  });
}

for (const asked of STOP_STATUSES) {
  forEachStore(`a stop while the boundary is unknown ends as paused:reconciliation: ${asked}`, async (world) => {
    const stage = await inFlight(world);
    await stop(world, stage, asked, { errorType: 'ECONNRESET' });
    world.is('runs', stage.run, {
      status: 'paused:reconciliation',
      phase: 'mutating',
      errorType: asked === 'paused:reconciliation' ? 'ECONNRESET' : asked,
    });
    world.is('workflows', stage.workflow, { maintenance: false, holds: ['unknown'], heldConnections: [] });
    world.is('mutations', stage.mutation, { status: 'indeterminate', reconcileAt: null });
    assert.deepEqual(world.rows.handlerStates.get(`${stage.workflow} book`)?.backoffUntil ?? null, null);
  });
}

const ASKS: Readonly<Record<Exclude<StopStatus, 'paused:reconciliation'>, { holds: Hold[]; maintenance: boolean }>> = {
  'paused:transient': { holds: [], maintenance: false },
  'paused:approval': { holds: ['connection'], maintenance: false },
  'failed:logic': { holds: [], maintenance: true },
  'failed:internal': { holds: ['error'], maintenance: false },
  crashed: { holds: [], maintenance: false },
  cancelled: { holds: [], maintenance: false },
};

for (const [status, asks] of Object.entries(ASKS) as [StopStatus, (typeof ASKS)['crashed']][]) {
  forEachStore(`what the stop asks besides: ${status}`, async (world) => {
    const stage = await preparing(world);
    await stop(world, stage, status, { cause: { kind: 'auth', connection: 'shop', version: 0 }, errorType: 'E1' });
    world.is('workflows', stage.workflow, asks);
    world.is('runs', stage.run, { status, errorType: 'E1' });
  });
}

forEachStore('a run whose outcome is unknown cannot be retried, also when it is set aside', async (world) => {
  const { workflow, run, mutation } = await unknown(world);
  await world.manager.setAside(mutation, PERSON);
  const fence = await beginSession(world.manager, workflow, world.self);
  await world.refuses('unknown-outcome', () => world.manager.createRetryRun(fence, run), /nobody knows/);
});

forEachStore('ledger before phase: an answer at mutating decides, and the effect is not sent again', async (world) => {
  const { workflow, run, mutation } = await unknown(world);
  await sayDone(world, mutation, '{"ref":"seen"}');
  world.is('runs', run, { phase: 'mutating', status: 'paused:reconciliation', mutationOutcome: 'success' });
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { phase: 'emitting', retryOf: run, mutationOutcome: 'success' });
  world.is('mutations', mutation, { status: 'applied', result: '{"ref":"seen"}', resolvedByName: PERSON });
});
