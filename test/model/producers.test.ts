import assert from 'node:assert/strict';
import { EVENT_PAYLOAD_CHARS_MAX, PUBLISHES_MAX } from '#model';
import { deploy, deployVersion, ORDERS, PERSON, placed, SECONDS } from '../support/fixture.ts';
import { followUp, freshRun, HOUR, nextRun, published, restart, stop } from '../support/stage.ts';
import { forEachStore } from '../support/world.ts';

// Where events come from: producers on a schedule, webhooks, people; and what caused what.

const INPUT = { source: 'mail', type: 'letter', id: 'm1', title: 'From Bob' } as const;

forEachStore('commit: inputs, events, state, the next tick and the count land together', async (world) => {
  const { workflow, fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
  const nextAt = world.clock.now() + HOUR;
  const { published: events } = await world.manager.commitProducer(fence, run, {
    inputs: [INPUT, { ...INPUT, id: 'm2' }],
    publishes: [
      { ...placed('1'), title: 'Order 1', input: 0 },
      { topic: 'parcel', payload: '1' },
    ],
    state: '{"since":1}',
    nextAt,
    cost: 2,
  });
  world.is('runs', run, { phase: 'committed', status: 'committed', outputState: '{"since":1}', cost: 2 });
  world.is('sessions', world.sessionOf(fence), { handlerRunCount: 1, cost: 2 });
  world.is('handlerStates', `${workflow} poll`, { nextAt, state: '{"since":1}' });
  assert.deepEqual(world.events, { 1: 'pending', [`${run}:1`]: 'pending' });
  assert.deepEqual(events, [world.event('1'), world.event(`${run}:1`)]);
  world.is('events', world.event('1'), { publishedByRunId: run, title: 'Order 1' });
  assert.deepEqual(world.rows.eventInputs.values(), [{ eventId: world.event('1'), inputId: 'inp_00001' }]);
});

forEachStore('the same external thing is one input, however often it is seen', async (world) => {
  const { workflow, fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
  await world.manager.commitProducer(fence, run, { inputs: [INPUT, INPUT], publishes: [{ ...placed('1'), input: 1 }] });
  await world.manager.finishSession(fence);
  const again = await freshRun(world, workflow, 'poll');
  await world.manager.commitProducer(again.fence, again.run, {
    inputs: [INPUT],
    publishes: [{ ...placed('1'), input: 0 }],
  });
  assert.equal(world.rows.inputs.values().length, 1);
  assert.equal(world.rows.eventInputs.values().length, 1);
});

forEachStore('what a consumer publishes is caused by what it consumed', async (world) => {
  const { manager } = world;
  const { workflow, fence, run } = await freshRun(world, await deploy(manager), 'poll');
  const inputs = [INPUT, { ...INPUT, id: 'm2' }];
  await manager.commitProducer(fence, run, {
    inputs,
    publishes: [
      { ...placed('1'), input: 0 },
      { ...placed('2'), input: 1 },
    ],
  });
  await manager.finishSession(fence);
  const book = await nextRun(world, workflow);
  await manager.together((model) => {
    const reservations = [{ topic: 'order.placed', ids: ['1', '2'] }];
    model.updateConsumerPhase(book.fence, book.run, 'prepared', { reservations, prepareResult: '{}' });
    model.updateConsumerPhase(book.fence, book.run, 'mutating');
    model.updateConsumerPhase(book.fence, book.run, 'mutated');
    model.updateConsumerPhase(book.fence, book.run, 'emitting');
    model.commitConsumer(book.fence, book.run, { publishes: [placed('b1', '{}', 'order.booked')] });
  });
  const booked = world.event('b1');
  const causes = world.rows.eventInputs.values().filter((cause) => cause.eventId === booked);
  assert.deepEqual(causes.map((cause) => cause.inputId).sort(), ['inp_00001', 'inp_00002']);
});

forEachStore('a producer publishes only what it declared, and names only inputs it registered', async (world) => {
  const { fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
  const commit = (options: object) => () => world.manager.commitProducer(fence, run, options);
  await world.refuses('not-subscribed', commit({ publishes: [placed('1', '{}', 'order.booked')] }));
  await world.refuses('invalid', commit({ publishes: [{ ...placed('1'), input: 0 }] }), /no input at position 0/);
  await world.refuses('invalid', commit({ inputs: [{ ...INPUT, id: '' }] }), /the id of an input is empty/);
  const many = Array.from({ length: PUBLISHES_MAX + 1 }, (_, position) => ({ ...INPUT, id: `m${position}` }));
  await world.refuses('invalid', commit({ inputs: many }), /registers 1001 inputs/);
  const loud = many.map(({ id }) => placed(id));
  await world.refuses('invalid', commit({ publishes: loud }), /publishes 1001 events/);
});

forEachStore('a producer that declares nothing publishes nothing', async (world) => {
  const handlers = { ...ORDERS, producers: [{ name: 'poll', publishes: [], webhook: false }] };
  const { fence, run } = await freshRun(world, await deploy(world.manager, 'orders', handlers), 'poll');
  const publishes = [placed('1')];
  await world.refuses('not-subscribed', () => world.manager.commitProducer(fence, run, { publishes }), /declares none/);
});

forEachStore('producers and consumers commit each by their own method', async (world) => {
  const workflow = await published(world);
  const poll = await freshRun(world, workflow, 'poll');
  await world.refuses('wrong-state', () => world.manager.commitConsumer(poll.fence, poll.run));
  await world.refuses('wrong-state', () => world.manager.updateConsumerPhase(poll.fence, poll.run, 'prepared'));
  await world.manager.commitProducer(poll.fence, poll.run);
  await world.refuses('not-active', () => world.manager.commitProducer(poll.fence, poll.run));
  const book = await world.manager.startRun(poll.fence, 'book');
  await world.refuses('wrong-state', () => world.manager.commitProducer(poll.fence, book.run));
});

const DELIVERY = { hook: 'hook', deliveryId: 'd1', headers: '{"x":"1"}', body: 'a=1' } as const;

forEachStore('deliveries are rows before anyone says yes, and a repeat is harmless', async (world) => {
  const workflow = await deploy(world.manager);
  const { delivery, duplicate } = await world.manager.acceptDelivery(workflow, DELIVERY);
  assert.equal(duplicate, false);
  world.is('deliveries', delivery, { status: 'pending', deliveryId: 'd1', body: 'a=1', handlerName: 'hook' });
  world.is('workflows', workflow, { dueAt: world.clock.now() });
  assert.deepEqual(await world.manager.acceptDelivery(workflow, { ...DELIVERY, body: 'a=2' }), {
    delivery,
    duplicate: true,
  });
  world.is('deliveries', delivery, { body: 'a=1' });
});

forEachStore('a delivery may have an empty body', async (world) => {
  const workflow = await deploy(world.manager);
  const { delivery } = await world.manager.acceptDelivery(workflow, { ...DELIVERY, body: '' });
  world.is('deliveries', delivery, { body: '' });
});

forEachStore('a delivery is one call of its webhook, done with the commit, kept through a crash', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const { delivery } = await manager.acceptDelivery(workflow, DELIVERY);
  const crashed = await nextRun(world, workflow);
  world.is('runs', crashed.run, { handlerName: 'hook', deliveryId: delivery });
  await restart(world);
  world.is('deliveries', delivery, { status: 'pending' });
  const fence = await followUp(world, workflow);
  const { run } = await manager.startRun(fence, 'hook', { delivery });
  await manager.commitProducer(fence, run, { publishes: [placed('1')] });
  world.is('deliveries', delivery, { status: 'done', runId: run });
  await world.refuses('wrong-state', () => manager.startRun(fence, 'hook', { delivery }), /is done/);
  assert.deepEqual(await manager.acceptDelivery(workflow, DELIVERY), { delivery, duplicate: true });
});

forEachStore('a delivery that its webhook fails on can be left out, and stays known', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const { delivery } = await manager.acceptDelivery(workflow, DELIVERY);
  const { delivery: other } = await manager.acceptDelivery(workflow, { ...DELIVERY, deliveryId: 'd2' });
  await world.refuses('wrong-state', () => manager.skipDelivery(delivery, PERSON), /in nobody’s way/);
  const failed = await nextRun(world, workflow);
  await world.refuses('wrong-state', () => manager.skipDelivery(delivery, PERSON), /in nobody’s way/);
  await stop(world, failed, 'failed:logic');
  world.is('workflows', workflow, { maintenanceRunId: failed.run, dueAt: null });
  await world.refuses('wrong-state', () => manager.skipDelivery(other, PERSON), /in nobody’s way/);
  await world.refuses('invalid', () => manager.skipDelivery(delivery, ''));
  await world.refuses('not-found', () => manager.skipDelivery('dlv_99999' as typeof delivery, PERSON));
  assert.deepEqual(await manager.skipDelivery(delivery, PERSON), { run: failed.run });
  world.is('deliveries', delivery, { status: 'done', runId: failed.run });
  world.is('workflows', workflow, { maintenanceRunId: null, dueAt: world.clock.now() });
  assert.deepEqual(
    world.rows.tasks.values().filter((task) => task.status === 'open'),
    [],
  );
  await world.refuses('wrong-state', () => manager.skipDelivery(delivery, PERSON), /is done/);
  assert.deepEqual(await manager.acceptDelivery(workflow, DELIVERY), { delivery, duplicate: true });
  const next = await nextRun(world, workflow);
  world.is('runs', next.run, { handlerName: 'hook', deliveryId: other });
});

forEachStore("a webhook's commit leaves the schedule of its producer alone unless it says otherwise", async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  for (const [deliveryId, nextAt] of [
    ['d1', world.clock.now() + HOUR],
    ['d2', undefined],
  ] as const) {
    await manager.acceptDelivery(workflow, { ...DELIVERY, deliveryId });
    const { fence, run } = await nextRun(world, workflow);
    await manager.commitProducer(fence, run, { nextAt });
    await manager.finishSession(fence);
  }
  world.is('handlerStates', `${workflow} hook`, { nextAt: world.clock.now() + HOUR });
});

forEachStore('a delivery is refused where no webhook waits for it', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  await world.refuses('not-found', () => manager.acceptDelivery(workflow, { ...DELIVERY, hook: 'poll' }));
  await world.refuses('invalid', () => manager.acceptDelivery(workflow, { ...DELIVERY, deliveryId: '' }));
  await world.refuses('invalid', () => manager.acceptDelivery(workflow, { ...DELIVERY, headers: 'x' }));
  const body = 'x'.repeat(EVENT_PAYLOAD_CHARS_MAX + 1);
  await world.refuses('invalid', () => manager.acceptDelivery(workflow, { ...DELIVERY, body }));
  const { workflow: empty } = await manager.createWorkflow('empty', PERSON);
  await world.refuses('wrong-state', () => manager.acceptDelivery(empty, DELIVERY));
});

forEachStore('an event that does not name itself gets a name of its own', async (world) => {
  const workflow = await deploy(world.manager);
  const unnamed = { topic: 'order.placed', payload: '{}' };
  const { published: first } = await world.manager.publishEvents(workflow, [unnamed, unnamed], PERSON);
  const { published: second } = await world.manager.publishEvents(workflow, [unnamed], PERSON);
  assert.equal(new Set([...first, ...second]).size, 3);
  assert.equal(Object.keys(world.events).length, 3);
});

forEachStore('a delivery to a webhook that a new version dropped does not keep others waiting', async (world) => {
  const { manager } = world;
  const hooks = [
    { name: 'hook', publishes: [], webhook: true },
    { name: 'bell', publishes: [], webhook: true },
  ];
  const workflow = await deploy(manager, 'orders', { ...ORDERS, producers: hooks });
  for (const deliveryId of ['d1', 'd2', 'd3']) await manager.acceptDelivery(workflow, { ...DELIVERY, deliveryId });
  const { delivery } = await manager.acceptDelivery(workflow, { ...DELIVERY, hook: 'bell' });
  const version = { major: 1, minor: 1, contentHash: 'h', code: 'x', by: PERSON };
  const { script } = await manager.addScript(workflow, {
    ...version,
    handlers: { ...ORDERS, producers: hooks.slice(1) },
  });
  const activate = (skipPending?: boolean) => manager.activateScript(workflow, script, { by: PERSON, skipPending });
  await world.refuses('wrong-state', activate, /drops webhook hook, which has deliveries waiting/);
  await activate(true);
  const { run } = await nextRun(world, workflow);
  world.is('runs', run, { handlerName: 'bell', deliveryId: delivery });
});

forEachStore('a webhook that waits out a backoff does not keep others waiting', async (world) => {
  const { manager } = world;
  const hooks = ['hook', 'bell'].map((name) => ({ name, publishes: [], webhook: true }));
  const workflow = await deploy(manager, 'orders', { ...ORDERS, producers: hooks });
  await manager.acceptDelivery(workflow, DELIVERY);
  const { delivery } = await manager.acceptDelivery(workflow, { ...DELIVERY, hook: 'bell' });
  await stop(world, await nextRun(world, workflow), 'paused:transient', { retryAfterMs: 60 * SECONDS });
  const { run } = await nextRun(world, workflow);
  world.is('runs', run, { handlerName: 'bell', deliveryId: delivery });
});

forEachStore(
  'a cancelled producer has used up its tick: the next one starts it again, and nothing before',
  async (world) => {
    const { workflow, fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
    await world.manager.cancelExecution(fence.execution, PERSON);
    const nextAt = world.clock.now() + HOUR;
    await world.refuses(
      'invalid',
      () => stop(world, { workflow, fence, run }, 'cancelled', { nextAt: -1 }),
      /next time/,
    );
    await stop(world, { workflow, fence, run }, 'cancelled', { nextAt });
    world.is('handlerStates', `${workflow} poll`, { nextAt });
    world.is('workflows', workflow, { quiet: true, dueAt: nextAt });
  },
);

forEachStore('a cancel leaves the tick of a version that took over as it is', async (world) => {
  const { workflow, fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
  await deployVersion(world.manager, workflow, ORDERS, 1);
  const before = world.rows.handlerStates.values().find(({ handlerName }) => handlerName === 'poll')?.nextAt;
  await world.manager.cancelExecution(fence.execution, PERSON);
  await stop(world, { workflow, fence, run }, 'cancelled', { nextAt: world.clock.now() + HOUR });
  const after = world.rows.handlerStates.values().find(({ handlerName }) => handlerName === 'poll')?.nextAt;
  assert.equal(after ?? null, before ?? null);
});
