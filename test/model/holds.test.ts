import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOLDS, type Hold, statusOf } from '#model';
import { CALL, ORDERS, PERSON, placed } from '../support/fixture.ts';
import {
  awaitingApproval,
  failedAfter,
  freshRun,
  mutating,
  nextRun,
  nothingFollows,
  preparing,
  published,
  restart,
  type Stage,
  sayDone,
  send,
  stop,
  unknown,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

const AUTH = { cause: { kind: 'auth', connection: 'shop', version: 0 } } as const;

/** How each hold is put, and by what alone it is lifted. */
const CAUSES: Readonly<
  Record<Hold, { put: (world: World) => Promise<Stage>; lift: (world: World, stage: Stage) => Promise<unknown> }>
> = {
  user: {
    put: async (world) => {
      const stage = await preparing(world);
      await stop(world, stage, 'crashed');
      await world.manager.pauseWorkflow(stage.workflow, PERSON);
      return stage;
    },
    lift: (world, { workflow }) => world.manager.resumeWorkflow(workflow, PERSON),
  },
  unknown: {
    put: (world) => unknown(world),
    lift: (world) => sayDone(world, onlyMutation(world)),
  },
  approval: {
    put: (world) => awaitingApproval(world),
    lift: (world) => world.manager.approveCall(onlyMutation(world), PERSON),
  },
  connection: {
    put: async (world) => {
      const stage = await preparing(world);
      await stop(world, stage, 'paused:approval', AUTH);
      return stage;
    },
    lift: (world) => world.manager.cureConnection('shop', PERSON),
  },
  error: {
    put: async (world) => {
      const stage = await preparing(world);
      await stop(world, stage, 'failed:internal', { error: 'the connector broke' });
      return stage;
    },
    lift: (world, { workflow }) => world.manager.resumeWorkflow(workflow, PERSON),
  },
};

function onlyMutation(world: World) {
  const [row] = world.rows.mutations.values();
  assert.ok(row);
  return row.id;
}

for (const hold of HOLDS) {
  const { put, lift } = CAUSES[hold];
  forEachStore(
    `hold ${hold} is put by its cause, stops the workflow, and is lifted by its own cause`,
    async (world) => {
      const stage = await put(world);
      const { workflow } = stage;
      world.is('workflows', workflow, { holds: [hold], status: statusOf([hold]), dueAt: null });
      await nothingFollows(world, workflow);
      await lift(world, stage);
      world.is('workflows', workflow, { holds: [], status: 'active', dueAt: world.clock.now() });
      await nextRun(world, workflow);
    },
  );

  forEachStore(`hold ${hold} survives a restart`, async (world) => {
    const { workflow } = await put(world);
    await restart(world);
    world.is('workflows', workflow, { holds: [hold], status: statusOf([hold]) });
  });

  forEachStore(`hold ${hold} stays while the user's pause is lifted, and the other way round`, async (world) => {
    const stage = await put(world);
    const { workflow } = stage;
    await world.manager.pauseWorkflow(workflow, PERSON);
    world.is('workflows', workflow, { holds: HOLDS.filter((name) => name === 'user' || name === hold) });
    if (hold === 'user' || hold === 'error') return;
    await lift(world, stage);
    world.is('workflows', workflow, { holds: ['user'], status: 'paused', dueAt: null });
    await world.manager.resumeWorkflow(workflow, PERSON);
    world.is('workflows', workflow, { holds: [], status: 'active' });
  });
}

test('the status is written beside the holds: approval, connection, error are errors, any other pauses', () => {
  for (let bits = 0; bits < 2 ** HOLDS.length; bits++) {
    const holds = HOLDS.filter((_, position) => bits & (1 << position));
    const isError = holds.some((hold) => hold === 'approval' || hold === 'connection' || hold === 'error');
    assert.equal(statusOf(holds), isError ? 'error' : holds.length > 0 ? 'paused' : 'active', holds.join());
  }
});

forEachStore('resume is refused while unknown stands, saying what to do', async (world) => {
  const { workflow } = await unknown(world);
  await world.manager.pauseWorkflow(workflow, PERSON);
  const error = await world.refuses('unknown-outcome', () => world.manager.resumeWorkflow(workflow, PERSON));
  assert.match(error.next.map((step) => step.label).join(), /it happened, it did not happen, skip, or set aside/);
});

forEachStore('resume is refused while approval stands, saying what to do', async (world) => {
  const { workflow } = await awaitingApproval(world);
  const error = await world.refuses('held', () => world.manager.resumeWorkflow(workflow, PERSON));
  assert.match(error.next.map((step) => step.label).join(), /approve or reject/);
});

forEachStore('resume does nothing to an active workflow but say who asked', async (world) => {
  const workflow = await published(world);
  const { audit_log: log, ...before } = world.dump();
  assert.deepEqual(await world.manager.resumeWorkflow(workflow, PERSON), { status: 'active' });
  const { audit_log: after, ...same } = world.dump();
  assert.deepEqual(same, before);
  assert.equal(after?.length, (log?.length ?? 0) + 1);
});

forEachStore('resume lifts what people may lift and leaves the connection', async (world) => {
  const stage = await CAUSES.connection.put(world);
  await world.manager.pauseWorkflow(stage.workflow, PERSON);
  await world.manager.holdWorkflow(stage.workflow, 'an invariant broke');
  world.is('workflows', stage.workflow, { holds: ['user', 'connection', 'error'], errorReason: 'an invariant broke' });
  assert.deepEqual(await world.manager.resumeWorkflow(stage.workflow, PERSON), { status: 'error' });
  world.is('workflows', stage.workflow, { holds: ['connection'], errorReason: null });
});

forEachStore('a second pause changes nothing', async (world) => {
  const workflow = await published(world);
  await world.manager.pauseWorkflow(workflow, PERSON);
  const before = world.row('workflows', workflow);
  assert.deepEqual(await world.manager.pauseWorkflow(workflow, PERSON), { status: 'paused' });
  assert.deepEqual(world.row('workflows', workflow), before);
});

forEachStore('a missing grant holds until it is given, also from the first version on', async (world) => {
  const { workflow } = await world.manager.createWorkflow('careful', PERSON);
  world.is('workflows', workflow, { status: 'draft' });
  const version = { major: 1, minor: 0, contentHash: 'h', code: 'x', handlers: ORDERS, by: PERSON };
  const { script } = await world.manager.addScript(workflow, version);
  world.is('workflows', workflow, { status: 'ready' });
  const asked = await world.manager.activateScript(workflow, script, { by: PERSON, grantMissing: true });
  assert.deepEqual(asked, { status: 'error' });
  world.is('workflows', workflow, { holds: ['approval'], grantMissing: true });
  await world.refuses('held', () => world.manager.resumeWorkflow(workflow, PERSON));
  assert.deepEqual(await world.manager.approveGrant(workflow, PERSON), { status: 'active' });
  world.is('workflows', workflow, { holds: [], grantMissing: false });
});

forEachStore('a hold put while a run is under way lets it go on only after its boundary', async (world) => {
  const { workflow, fence, run } = await mutating(world);
  await world.manager.holdWorkflow(workflow, 'an invariant broke');
  const held = await world.manager.startMutation(fence, run, CALL);
  assert.ok('reason' in held && held.status === 'cancelled');
  assert.match(held.reason, /on hold: error/);
  world.is('runs', run, { status: 'cancelled', phase: 'mutating' });
  assert.deepEqual(world.events, { 1: 'pending' });
  assert.equal(world.rows.mutations.values().length, 0);
  world.is('workflows', workflow, { quiet: false, dueAt: null });
});

forEachStore('hold unknown stands for the question that is not set aside, and falls with its answer', async (world) => {
  const { manager } = world;
  const first = await unknown(world);
  const { workflow } = first;
  await manager.setAside(first.mutation, PERSON);
  world.is('workflows', workflow, { holds: [] });
  await manager.publishEvents(workflow, [placed('2')], PERSON);
  const second = await send(world, await nextRun(world, workflow), {}, { events: ['2'] });
  await stop(world, second, 'crashed');
  world.is('workflows', workflow, { holds: ['unknown'], pendingRetryRunId: second.run });
  await sayDone(world, first.mutation);
  world.is('workflows', workflow, { holds: ['unknown'], dueAt: null });
  await sayDone(world, second.mutation);
  world.is('workflows', workflow, { holds: [], dueAt: world.clock.now() });
});

forEachStore('after the boundary a stopped run holds nothing', async (world) => {
  const { workflow } = await failedAfter(world, 'crashed');
  world.is('workflows', workflow, { holds: [], status: 'active', dueAt: world.clock.now() });
});

forEachStore('a workflow that is not live has no holds to put', async (world) => {
  const { workflow } = await world.manager.createWorkflow('empty', PERSON);
  await world.refuses('wrong-state', () => world.manager.pauseWorkflow(workflow, PERSON));
  await world.refuses('wrong-state', () => world.manager.resumeWorkflow(workflow, PERSON));
  await world.refuses('wrong-state', () => world.manager.holdWorkflow(workflow, 'because'));
  await world.refuses('wrong-state', () => world.manager.approveGrant(workflow, PERSON));
});

forEachStore('one process may hold two workflows apart', async (world) => {
  const held = await CAUSES.error.put(world);
  const { workflow } = await world.manager.createWorkflow('other', PERSON);
  const version = { major: 1, minor: 0, contentHash: 'h', code: 'x', handlers: ORDERS, by: PERSON };
  const { script } = await world.manager.addScript(workflow, version);
  await world.manager.activateScript(workflow, script, { by: PERSON });
  world.is('workflows', workflow, { status: 'active', holds: [] });
  world.is('workflows', held.workflow, { status: 'error' });
  await freshRun(world, workflow, 'poll');
});
