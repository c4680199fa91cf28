import assert from 'node:assert/strict';
import type { ScriptId, WorkflowId } from '#base';
import type { Handlers } from '#model';
import { beginSession, deploy, deployVersion, ORDERS, PERSON, placed } from '../support/fixture.ts';
import {
  failedAfter,
  freshRun,
  HOUR,
  nextRun,
  nothingFollows,
  prepared,
  preparing,
  published,
  sayDone,
  stop,
  unknown,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// Versions: how one takes over, what it may not drop, and which one a run and its retry keep to.

const VERSION = { contentHash: 'h', code: 'x', by: PERSON } as const;

async function added(world: World, workflow: WorkflowId, handlers: Handlers, minor = 1): Promise<ScriptId> {
  const { script } = await world.manager.addScript(workflow, { ...VERSION, major: 1, minor, handlers });
  return script;
}

function without(consumer: string): Handlers {
  return { ...ORDERS, consumers: ORDERS.consumers.filter(({ name }) => name !== consumer) };
}

const WITHOUT_PLACED: Handlers = {
  topics: ['order.booked', 'parcel'],
  producers: [],
  consumers: ORDERS.consumers.filter(({ name }) => name !== 'book'),
};

forEachStore('draft, ready, active: added is not deployed, deployed is', async (world) => {
  const { workflow } = await world.manager.createWorkflow('new', PERSON);
  world.is('workflows', workflow, { status: 'draft', activeScriptId: null });
  const script = await added(world, workflow, ORDERS);
  world.is('workflows', workflow, { status: 'ready', activeScriptId: null });
  const schedule = { poll: world.clock.now() + HOUR };
  assert.deepEqual(await world.manager.activateScript(workflow, script, { by: PERSON, schedule }), {
    status: 'active',
  });
  world.is('workflows', workflow, { status: 'active', activeScriptId: script, dueAt: schedule.poll });
  world.is('handlerStates', `${workflow} poll`, { nextAt: schedule.poll });
});

forEachStore('an older version may take over again', async (world) => {
  const workflow = await deploy(world.manager);
  const [first] = world.rows.scripts.values();
  assert.ok(first);
  await deployVersion(world.manager, workflow, ORDERS, 1);
  await world.manager.activateScript(workflow, first.id, { by: PERSON });
  world.is('workflows', workflow, { activeScriptId: first.id });
});

forEachStore('a version that drops a topic with pending events is refused', async (world) => {
  const workflow = await published(world, { events: ['1', '2'] });
  const script = await added(world, workflow, WITHOUT_PLACED);
  const activate = (skipPending?: boolean) =>
    world.manager.activateScript(workflow, script, { by: PERSON, skipPending });
  const error = await world.refuses('wrong-state', activate, /drops topics that have pending events: order.placed/);
  assert.deepEqual(error.next.at(-1)?.argv, ['pawl', 'deploy', '--skip-pending']);
  assert.deepEqual(await activate(true), { status: 'active' });
  assert.deepEqual(world.events, { 1: 'skipped', 2: 'skipped' });
  const said = world.rows.audit.values().map(({ act, actor, detail }) => [act, actor, detail]);
  assert.ok(
    said.some(([act, actor, detail]) => act === 'skip pending' && actor === PERSON && detail === 'order.placed'),
  );
});

forEachStore('a version that drops a consumer with an open question is refused', async (world) => {
  const { workflow, run } = await unknown(world);
  const script = await added(world, workflow, without('book'));
  const error = await world.refuses(
    'wrong-state',
    () => world.manager.activateScript(workflow, script, { by: PERSON }),
    /drops consumer book, which has open work/,
  );
  assert.equal(error.ids.run, run);
});

forEachStore('dropped by name, the open run ends under its own version', async (world) => {
  const { workflow, run, mutation } = await unknown(world);
  const own = world.row('runs', run).scriptId;
  const script = await added(world, workflow, without('book'));
  await world.manager.activateScript(workflow, script, { by: PERSON, skipPending: true });
  await sayDone(world, mutation);
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { retryOf: run, scriptId: own });
  world.is('sessions', world.sessionOf(retry.fence), { scriptId: script });
  await world.manager.commitConsumer(retry.fence, retry.run, {
    publishes: [placed('b1', '{}', 'order.booked')],
  });
  assert.deepEqual(world.events, { 1: 'consumed', b1: 'pending' });
});

forEachStore('a version that drops a consumer with a pending retry is refused', async (world) => {
  const { workflow } = await failedAfter(world, 'crashed');
  const script = await added(world, workflow, without('book'));
  await world.refuses('wrong-state', () => world.manager.activateScript(workflow, script, { by: PERSON }), /open work/);
});

forEachStore('a retry runs under the active version if that has the consumer', async (world) => {
  const { workflow, run } = await failedAfter(world, 'failed:logic');
  const script = await deployVersion(world.manager, workflow, ORDERS, 1);
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { retryOf: run, scriptId: script });
});

forEachStore('a run keeps its version to its end', async (world) => {
  const { workflow, run } = await preparing(world);
  const { scriptId } = world.row('runs', run);
  await deployVersion(world.manager, workflow, ORDERS, 1);
  world.is('runs', run, { scriptId });
});

forEachStore('a new schedule stands, also when a run of the old version ends after it', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const { fence, run } = await freshRun(world, workflow, 'poll');
  const script = await added(world, workflow, ORDERS);
  const nextAt = world.clock.now() + HOUR;
  await manager.activateScript(workflow, script, { by: PERSON, schedule: { poll: nextAt } });
  await manager.commitProducer(fence, run, { nextAt: null });
  world.is('handlerStates', `${workflow} poll`, { nextAt });
  await manager.finishSession(fence);
  world.is('workflows', workflow, { dueAt: nextAt });
});

forEachStore('a version without a schedule ends the schedule', async (world) => {
  const workflow = await deploy(world.manager);
  const first = await added(world, workflow, ORDERS, 1);
  await world.manager.activateScript(workflow, first, { by: PERSON, schedule: { poll: world.clock.now() } });
  const second = await added(world, workflow, ORDERS, 2);
  await world.manager.activateScript(workflow, second, { by: PERSON });
  await nothingFollows(world, workflow);
});

forEachStore('a version is added once, numbered, declared, and of a workflow that takes it', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const other = await deploy(manager, 'other');
  const add = (change: object) => () =>
    manager.addScript(workflow, { ...VERSION, major: 1, minor: 9, handlers: ORDERS, ...change });
  await world.refuses('wrong-state', add({ minor: 0 }), /exists already/);
  await add({ major: 0, minor: 0 })();
  await world.refuses('invalid', add({ minor: -1 }), /not a version/);
  await world.refuses('invalid', add({ major: 1.5 }), /not a version/);
  const [book] = ORDERS.consumers;
  assert.ok(book);
  const twice = { ...ORDERS, consumers: [book, { ...book, subscribe: ['parcel'] }] };
  await world.refuses('invalid', add({ handlers: twice }), /two handlers are named book/);
  await world.refuses('invalid', add({ handlers: { ...ORDERS, topics: ['parcel'] } }), /is not declared/);
  await world.refuses('invalid', add({ handlers: { ...ORDERS, topics: [...ORDERS.topics, ' '] } }), /is empty/);
  await world.refuses('invalid', add({ code: '' }), /the code is empty/);
  await world.refuses('invalid', add({ contentHash: '' }), /the content hash is empty/);

  const elsewhere = world.row('workflows', other).activeScriptId;
  assert.ok(elsewhere);
  const activate = () => manager.activateScript(workflow, elsewhere, { by: PERSON });
  await world.refuses('wrong-state', activate, /version of another workflow/);
  await manager.archiveWorkflow(workflow, PERSON);
  await world.refuses('wrong-state', add({}), /archived/);
  await world.refuses('wrong-state', activate, /archived/);
});

forEachStore('names of workflows are unique', async (world) => {
  await world.manager.createWorkflow('orders', PERSON);
  await world.refuses('wrong-state', () => world.manager.createWorkflow('orders', PERSON));
});

forEachStore('an activation that waits for a grant holds a workflow that was running', async (world) => {
  const workflow = await published(world);
  const script = await added(world, workflow, ORDERS);
  await world.manager.activateScript(workflow, script, { by: PERSON, grantMissing: true });
  world.is('workflows', workflow, { status: 'error', holds: ['approval'] });
  const narrower = await added(world, workflow, ORDERS, 2);
  await world.manager.activateScript(workflow, narrower, { by: PERSON });
  world.is('workflows', workflow, { status: 'active', holds: [], grantMissing: false });
});

forEachStore('activation keeps what people and connections hold', async (world) => {
  const stage = await preparing(world);
  await stop(world, stage, 'paused:approval', { cause: { kind: 'auth', connection: 'shop', version: 0 } });
  await world.manager.pauseWorkflow(stage.workflow, PERSON);
  await deployVersion(world.manager, stage.workflow, ORDERS, 1);
  world.is('workflows', stage.workflow, { holds: ['user', 'connection'] });
});

/** `book` reads another topic than its events are in. */
const RENAMED: Handlers = {
  topics: ['order.new', 'order.booked', 'parcel'],
  producers: [],
  consumers: ORDERS.consumers.map((spec) => (spec.name === 'book' ? { ...spec, subscribe: ['order.new'] } : spec)),
};

forEachStore('a version that drops a topic whose events are reserved is refused', async (world) => {
  const { workflow } = await unknown(world);
  const script = await added(world, workflow, RENAMED);
  const activate = (skipPending?: boolean) =>
    world.manager.activateScript(workflow, script, { by: PERSON, skipPending });
  await world.refuses('wrong-state', activate, /drops topic order.placed, which has open work/);
  await activate(true);
  world.is('workflows', workflow, { activeScriptId: script });
});

forEachStore('a version that drops what a run under way has reserved is refused', async (world) => {
  const { workflow } = await prepared(world);
  const script = await added(world, workflow, without('book'));
  await world.refuses('wrong-state', () => world.manager.activateScript(workflow, script, { by: PERSON }), /open work/);
});

forEachStore('a run under way that has reserved nothing keeps no version back', async (world) => {
  const { workflow } = await preparing(world);
  const script = await added(world, workflow, without('book'));
  await world.manager.activateScript(workflow, script, { by: PERSON });
  world.is('workflows', workflow, { activeScriptId: script });
});

forEachStore('a version that drops a topic a run under way may still publish to is refused', async (world) => {
  const workflow = await deploy(world.manager);
  await freshRun(world, workflow, 'poll');
  const script = await added(world, workflow, { ...WITHOUT_PLACED, topics: ['order.booked', 'parcel'] });
  const activate = () => world.manager.activateScript(workflow, script, { by: PERSON });
  await world.refuses('wrong-state', activate, /drops topic order.placed, which has open work/);
});

forEachStore('no run begins under a version that was replaced', async (world) => {
  const { manager } = world;
  const workflow = await published(world);
  const fence = await beginSession(manager, workflow, world.self);
  await deployVersion(manager, workflow, ORDERS, 1);
  await world.refuses('held', () => manager.startRun(fence, 'book'), /a version that was replaced/);
  assert.deepEqual(await manager.advanceSession(fence), { ended: 'completed' });
});

forEachStore('a version that was started from another one than the active is refused', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const { activeScriptId: first } = world.row('workflows', workflow);
  assert.ok(first);
  const second = await added(world, workflow, ORDERS, 1);
  await manager.activateScript(workflow, second, { by: PERSON, base: first });
  const third = await added(world, workflow, ORDERS, 2);
  const activate = () => manager.activateScript(workflow, third, { by: PERSON, base: first });
  await world.refuses('wrong-state', activate, /does not follow the active version/);
  const { workflow: fresh } = await manager.createWorkflow('fresh', PERSON);
  const other = await added(world, fresh, ORDERS);
  const activateFresh = () => manager.activateScript(fresh, other, { by: PERSON, base: first });
  await world.refuses('wrong-state', activateFresh, /does not follow/);
});
