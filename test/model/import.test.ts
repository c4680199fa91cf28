import assert from 'node:assert/strict';
import type { EventId, RunId, ScriptId, WorkflowId } from '#base';
import type { ImportedRows } from '#model';
import { beginSession, deploy, PERSON, placed } from '../support/fixture.ts';
import { IMPORTED, importedFrom, rowsElsewhere } from '../support/imported.ts';
import { pruneAll } from '../support/prune-all.ts';
import {
  awaitingApproval,
  emitting,
  failedAfter,
  freshRun,
  inFlight,
  nextRun,
  preparing,
  published,
  stop,
  unknown,
} from '../support/stage.ts';
import { forEachStore, inWorld, type World } from '../support/world.ts';

// A workflow of another engine: everything it has done is here, and nothing of it goes on by itself.

const by = 'grace';
const from = 'exported by ada';

async function bring(world: World, rows: ImportedRows, name = 'moved') {
  return world.manager.importWorkflow(rows, { name, from, by });
}

const STORIES: Readonly<
  Record<string, readonly [story: (world: World) => Promise<WorkflowId>, holds: string, unknown: number]>
> = {
  'pending events': [(world) => published(world, { events: ['1', '2', '3'] }), 'user', 0],
  'a run that is active': [async (world) => (await preparing(world)).workflow, 'user', 0],
  'a call in flight': [async (world) => (await inFlight(world)).workflow, 'user unknown', 1],
  'a call in flight that could be looked up': [
    async (world) => (await inFlight(world, { canReconcile: true })).workflow,
    'user unknown',
    1,
  ],
  'an unknown call': [async (world) => (await unknown(world)).workflow, 'user unknown', 1],
  'an unknown call that is being looked up': [
    async (world) => {
      const { workflow, mutation } = await unknown(world, { canReconcile: true });
      await world.manager.claimReconcile(mutation, world.self, 1_000);
      return workflow;
    },
    'user unknown',
    1,
  ],
  'an unknown call that was set aside': [
    async (world) => {
      const { workflow, mutation } = await unknown(world);
      await world.manager.setAside(mutation, PERSON);
      return workflow;
    },
    'user',
    1,
  ],
  'a call that waits for approval': [async (world) => (await awaitingApproval(world)).workflow, 'user approval', 0],
  'a run whose next is owed': [async (world) => (await failedAfter(world, 'crashed')).workflow, 'user', 0],
  'a retry under way': [
    async (world) => {
      const { workflow } = await failedAfter(world, 'crashed');
      await nextRun(world, workflow);
      return workflow;
    },
    'user',
    0,
  ],
  'a run under repair': [
    async (world) => {
      const stage = await preparing(world);
      await stop(world, stage, 'failed:logic', { suspects: [world.event('1')] });
      await world.manager.createMaintenanceTask(stage.workflow);
      return stage.workflow;
    },
    'user',
    0,
  ],
  'a request that nobody has taken up': [
    async (world) => {
      const workflow = await published(world);
      await world.manager.requestExecution(workflow, 'event');
      return workflow;
    },
    'user',
    0,
  ],
  'an execution that was handed off': [
    async (world) => {
      const workflow = await published(world);
      const { execution } = await world.manager.requestExecution(workflow, 'event');
      await world.manager.beginScheduling(execution);
      await world.manager.handOff(execution);
      return workflow;
    },
    'user',
    0,
  ],
  'a session between two runs': [
    async (world) => {
      const stage = await emitting(world);
      await world.manager.commitConsumer(stage.fence, stage.run);
      return stage.workflow;
    },
    'user',
    0,
  ],
};

for (const [what, [story, holds, unknownCalls]] of Object.entries(STORIES)) {
  forEachStore(`${what}: it is here, and paused`, async (world) => {
    const rows = await rowsElsewhere(story);
    const reply = await bring(world, rows);
    assert.equal(reply.unknown, unknownCalls);
    world.is('workflows', reply.workflow, { name: 'moved', dueAt: null, holds: holds.split(' ') as never });
    assert.equal(world.rows.executions.values().filter(({ endedAt }) => endedAt === null).length, 0);
    assert.equal(world.rows.runs.values().filter(({ status }) => status === 'active').length, 0);
    const sent = world.rows.mutations
      .values()
      .filter(({ status }) => status === 'in_flight' || status === 'needs_reconcile');
    assert.deepEqual(sent, [], 'nobody looks it up by a connection that may lead elsewhere');
    for (const list of ['runs', 'events', 'mutations', 'sessions', 'executions'] as const)
      assert.equal(world.rows[list].values().length, rows[list].length, list);
  });
}

forEachStore('deliveries, inputs, evidence, logs, states and what is remembered come along', async (world) => {
  const rows = await rowsElsewhere(async (other) => {
    const { manager } = other;
    const workflow = await deploy(manager);
    const delivery = { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' };
    const accepted = await manager.acceptDelivery(workflow, delivery);
    await manager.acceptDelivery(workflow, { ...delivery, deliveryId: 'd2' });
    await manager.publishEvents(workflow, [placed('old')], PERSON);
    await manager.skipEvents([other.event('old')], PERSON);
    await pruneAll(other, workflow);
    const fence = await beginSession(manager, workflow, other.self);
    const { run } = await manager.startRun(fence, 'hook', { delivery: accepted.delivery });
    const input = { source: 'mail', type: 'letter', id: 'm1', title: 'From Bob' };
    await manager.keepRecords(fence, run, {
      logs: [{ position: 0, at: 1, message: 'hello', data: null }],
      reads: [{ position: 0, at: 1, connection: 'shop', method: 'get', request: '{}', answer: '{}' }],
    });
    await manager.commitProducer(fence, run, {
      inputs: [input, { ...input, id: 'm2' }],
      publishes: [
        { ...placed('1'), input: 0 },
        { ...placed('1'), input: 1 },
      ],
      state: '{"n":1}',
    });
    await manager.finishSession(fence);
    const stage = await freshRun(other, workflow);
    const called = await inFlightOf(other, stage);
    await stop(other, stage, 'crashed', { callEnded: true });
    await manager.recordEvidence(called, { says: 'uncertain', detail: '{}', source: 'a late answer' });
    return workflow;
  });
  const { workflow } = await bring(world, rows);
  const { deliveries, inputs, eventInputs, evidence, runLogs, runReads, prunedEvents, handlerStates } = world.rows;
  const counts = [deliveries, inputs, eventInputs, evidence, runLogs, runReads, prunedEvents].map(
    (t) => t.values().length,
  );
  assert.deepEqual(counts, [2, 2, 2, 1, 1, 1, 1]);
  assert.equal(handlerStates.get(`${workflow} hook`)?.state, '{"n":1}');
  const again = await world.manager.publishEvents(workflow, [placed('old')], PERSON);
  assert.deepEqual(
    again.published,
    prunedEvents.values().map(({ id }) => id),
  );
  const known = { hook: 'hook', deliveryId: 'd1', headers: '{}', body: '{}' };
  assert.equal((await world.manager.acceptDelivery(workflow, known)).duplicate, true);
});

async function inFlightOf(world: World, { fence, run }: Awaited<ReturnType<typeof freshRun>>) {
  const { manager } = world;
  return manager.together((model) => {
    model.updateConsumerPhase(fence, run, 'prepared', {
      reservations: [{ topic: 'order.placed', ids: ['1'] }],
      prepareResult: '{}',
    });
    model.updateConsumerPhase(fence, run, 'mutating');
    const call = { connection: 'shop', method: 'post', params: '{}', preview: 'POST', title: null, timeoutMs: 1_000 };
    const started = model.startMutation(fence, run, { ...call, canReconcile: false, needsApproval: false });
    return ('mutation' in started ? started.mutation : undefined) as never;
  });
}

forEachStore('a delivery that was removed from history is known', async (world) => {
  const prunedDeliveries = [
    { workflowId: IMPORTED.workflow.id, handlerName: 'hook', deliveryId: 'd', id: 'dlv_9' as never, receivedAt: 1 },
  ];
  await bring(world, { ...IMPORTED, prunedDeliveries });
  assert.equal(world.rows.prunedDeliveries.values().length, 1);
});

forEachStore('a workflow that is not live stays as it is', async (world) => {
  const draft = { ...IMPORTED.workflow, status: 'draft', activeScriptId: null } as const;
  const reply = await bring(world, { ...IMPORTED, workflow: draft });
  assert.equal(reply.status, 'draft');
  world.is('workflows', reply.workflow, { holds: [], activeScriptId: null });
});

forEachStore('two that were under way in the same process', async (world) => {
  const both = await inBoth();
  await bring(world, both[0], 'one');
  await bring(world, both[1], 'two');
  assert.equal(world.rows.workers.values().filter(({ name }) => name === '(of another engine)').length, 1);
});

async function inBoth(): Promise<readonly [ImportedRows, ImportedRows]> {
  const found: ImportedRows[] = [];
  await inWorld('memory', async (world) => {
    for (const kind of ['worker', 'workflow', 'script', 'run', 'event', 'execution', 'session'] as const)
      for (let i = 0; i < 100; i++) world.ids.next(kind);
    // The first one registered has the id of whoever asks here.
    const self = world.ids.next('worker');
    await world.manager.registerWorker(self, { name: 'two', pool: 'default', leaseMs: 1_000 });
    for (const name of ['one', 'two']) {
      const workflow = await deploy(world.manager, name);
      await beginSession(world.manager, workflow, self);
      found.push(importedFrom(world, workflow));
    }
  });
  return found as unknown as readonly [ImportedRows, ImportedRows];
}

forEachStore('a name or a workflow that is here already is refused', async (world) => {
  await deploy(world.manager, 'orders');
  await world.refuses('wrong-state', () => bring(world, IMPORTED, 'orders'), /named orders already/);
  await bring(world, IMPORTED);
  await world.refuses('wrong-state', () => bring(world, IMPORTED, 'again'), /is here already, as moved/);
  await world.refuses('invalid', () => bring(world, IMPORTED, ' '));
  const nowhere = () => world.manager.importWorkflow(IMPORTED, { name: 'x', from: '', by });
  await world.refuses('invalid', nowhere, /where it comes from/);
});

const NOT_WHOLE: Readonly<Record<string, (rows: ImportedRows) => ImportedRows>> = {
  'an event that no file has a run for': (rows) => ({
    ...rows,
    events: rows.events.map((event) => ({ ...event, publishedByRunId: 'run_none' as RunId })),
  }),
  'a call for an event that is not in it': (rows) => ({
    ...rows,
    mutations: rows.mutations.map((call) => ({ ...call, eventIds: ['evt_none' as EventId] })),
  }),
  'an event twice': (rows) => ({ ...rows, events: [...rows.events, ...rows.events] }),
  'a row of another workflow': (rows) => ({
    ...rows,
    events: rows.events.map((event) => ({ ...event, workflowId: 'wf_other' as WorkflowId })),
  }),
  'a log of no run': (rows) => ({
    ...rows,
    runLogs: [{ runId: 'run_none' as RunId, position: 0, at: 1, message: '', data: null }],
  }),
  'a pointer to no run': (rows) => ({
    ...rows,
    workflow: { ...rows.workflow, pendingRetryRunId: 'run_none' as RunId },
  }),
  'no version at all': (rows) => ({ ...rows, workflow: { ...rows.workflow, activeScriptId: null } }),
  'a version that is not in it': (rows) => ({
    ...rows,
    workflow: { ...rows.workflow, activeScriptId: 'scr_none' as ScriptId },
  }),
  'an answer that its run does not know of': (rows) => ({
    ...rows,
    runs: rows.runs.map((run) => ({ ...run, mutationOutcome: 'failure' as const })),
  }),
};

for (const [what, spoil] of Object.entries(NOT_WHOLE)) {
  forEachStore(`${what} is refused, and nothing is put in`, async (world) => {
    const rows = await rowsElsewhere(async (other) => {
      const stage = await emitting(other);
      await other.manager.commitConsumer(stage.fence, stage.run);
      return stage.workflow;
    });
    await world.refuses('invalid', () => bring(world, spoil(rows)));
    assert.equal(world.rows.workflows.values().length, 0);
  });
}
