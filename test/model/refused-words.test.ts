import assert from 'node:assert/strict';
import type { Handlers } from '#model';
import { beginSession, CALL, deploy, ORDERS, PERSON } from '../support/fixture.ts';
import {
  awaitingApproval,
  emitting,
  freshRun,
  inFlight,
  mutating,
  nextRun,
  preparing,
  published,
  stop,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore } from '../support/world.ts';

// Words that are none of the words there are, numbers that are no numbers, names that mean something to the language: they come
// from outside, past the types. Where a rule has a last case, a wrong word must not fall into it.

const WRONG = ['', 'nonsense', 'constructor', '__proto__', undefined, null, 7] as never[];
const NO_NUMBER = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 0.5, '5', null] as never[];

forEachStore('an outcome that is no outcome is not taken for a failure', async (world) => {
  const { fence, mutation } = await inFlight(world);
  const answer = { resolvedBy: 'provider' } as const;
  for (const outcome of WRONG) {
    await world.refuses('invalid', () => world.manager.updateMutationResult(mutation, outcome, { fence, answer }));
  }
});

forEachStore('an answer by nobody we know, or by a person without a name', async (world) => {
  const { manager } = world;
  const { mutation } = await unknown(world);
  world.clock.advance(WAIT_MS);
  for (const resolvedBy of [...WRONG, 'user_skip', 'expired', 'user_reject'] as never[]) {
    await world.refuses('invalid', () => manager.updateMutationResult(mutation, 'failure', { answer: { resolvedBy } }));
  }
  for (const resolvedBy of ['user_assert_failed', 'user_assert_applied'] as const) {
    const outcome = resolvedBy === 'user_assert_failed' ? 'failure' : 'success';
    const answer = { resolvedBy } as never;
    await world.refuses('invalid', () => manager.updateMutationResult(mutation, outcome, { answer }), /name/);
  }
  for (const answer of [undefined, null, 'provider'] as never[]) {
    await world.refuses('invalid', () => manager.updateMutationResult(mutation, 'failure', { answer }));
  }
});

forEachStore('an error of no class', async (world) => {
  const { fence, mutation } = await inFlight(world);
  const answer = { resolvedBy: 'provider' } as const;
  for (const errorClass of WRONG.filter((word) => word !== undefined)) {
    await world.refuses('invalid', () =>
      world.manager.updateMutationResult(mutation, 'failure', { fence, answer, errorClass }),
    );
  }
});

forEachStore('a rejection that neither skips nor parks', async (world) => {
  const { mutation } = await awaitingApproval(world);
  for (const how of WRONG) await world.refuses('invalid', () => world.manager.rejectCall(mutation, how, PERSON));
});

forEachStore('evidence that says nothing', async (world) => {
  const { mutation } = await unknown(world);
  for (const says of WRONG) {
    await world.refuses('invalid', () => world.manager.recordEvidence(mutation, { says, detail: 'x', source: 'y' }));
  }
});

forEachStore('a trigger there is not', async (world) => {
  const workflow = await published(world);
  for (const trigger of WRONG) await world.refuses('invalid', () => world.manager.requestExecution(workflow, trigger));
});

forEachStore('a cause of an approval there is not', async (world) => {
  const stage = await preparing(world);
  for (const kind of WRONG) {
    await world.refuses('invalid', () => stop(world, stage, 'paused:approval', { cause: { kind } as never }));
  }
  for (const version of NO_NUMBER) {
    const cause = { kind: 'auth', connection: 'shop', version } as const;
    await world.refuses('invalid', () => stop(world, stage, 'paused:approval', { cause }));
  }
});

forEachStore('leases, delays and costs that are no numbers', async (world) => {
  const { manager, self } = world;
  const { mutation } = await unknown(world, { canReconcile: true });
  const worker = world.ids.next('worker');
  for (const bad of NO_NUMBER) {
    await world.refuses('invalid', () => manager.registerWorker(worker, { name: 'n', pool: 'p', leaseMs: bad }));
    await world.refuses('invalid', () => manager.renewWorker(self, bad));
    await world.refuses('invalid', () => manager.claimReconcile(mutation, self, bad));
    await world.refuses('invalid', () => manager.postponeReconcile(mutation, bad));
  }
});

forEachStore('costs and times that are no numbers', async (world) => {
  const { manager } = world;
  const { workflow, fence, run } = await emitting(world);
  const costs = NO_NUMBER.filter((bad) => bad !== 0.5);
  for (const cost of costs) {
    await world.refuses('invalid', () => manager.commitConsumer(fence, run, { cost }));
    await world.refuses('invalid', () => stop(world, { workflow, fence, run }, 'crashed', { cost }));
  }
  await manager.commitConsumer(fence, run, { cost: 0.5 });
  const poll = await manager.startRun(fence, 'poll');
  for (const cost of costs) await world.refuses('invalid', () => manager.commitProducer(fence, poll.run, { cost }));
  for (const nextAt of NO_NUMBER.filter((bad) => bad !== null)) {
    await world.refuses('invalid', () => manager.commitProducer(fence, poll.run, { nextAt }));
  }
  await manager.commitProducer(fence, poll.run, { nextAt: null });
  const version = { major: 2, minor: 0, contentHash: 'h', code: 'x', handlers: ORDERS, by: PERSON };
  const { script } = await manager.addScript(workflow, version);
  for (const bad of NO_NUMBER.filter((value) => value !== null)) {
    await world.refuses('invalid', () =>
      manager.activateScript(workflow, script, { by: PERSON, schedule: { poll: bad } }),
    );
  }
});

forEachStore('delays of a call that are no whole milliseconds', async (world) => {
  const { fence, run } = await mutating(world);
  for (const bad of NO_NUMBER) {
    await world.refuses('invalid', () => world.manager.startMutation(fence, run, { ...CALL, timeoutMs: bad }));
    await world.refuses('invalid', () => world.manager.startMutation(fence, run, { ...CALL, visibilityMs: bad }));
  }
});

forEachStore('a Retry-After that is no number is no Retry-After', async (world) => {
  let stage = await preparing(world);
  const { workflow } = stage;
  for (const retryAfterMs of NO_NUMBER.filter((bad) => bad !== Number.POSITIVE_INFINITY)) {
    await stop(world, stage, 'paused:transient', { retryAfterMs });
    const { backoffUntil } = world.row('handlerStates', `${workflow} book`);
    assert.ok(Number.isSafeInteger(backoffUntil) && (backoffUntil ?? 0) > world.clock.now(), String(retryAfterMs));
    world.clock.advance((backoffUntil ?? 0) - world.clock.now());
    stage = await nextRun(world, workflow);
  }
});

forEachStore('handlers and topics may be named after what the language has on every object', async (world) => {
  const { manager } = world;
  const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
  const handlers: Handlers = {
    topics: names,
    producers: [{ name: 'valueOf', publishes: names, webhook: false }],
    consumers: names.map((name) => ({ name, subscribe: [name], publishes: [], hasMutate: true, hasNext: true })),
  };
  const workflow = await deploy(manager, 'hostile', handlers);
  const version = { major: 2, minor: 0, contentHash: 'h', code: 'x', handlers, by: PERSON };
  const { script } = await manager.addScript(workflow, version);
  await manager.activateScript(workflow, script, { by: PERSON, schedule: {} });
  world.is('workflows', workflow, { dueAt: null });
  const { fence, run } = await freshRun(world, workflow, 'valueOf');
  await manager.commitProducer(fence, run, {
    publishes: names.map((topic) => ({ topic, messageId: '__proto__', payload: '{}' })),
  });
  const next = await manager.advanceSession(fence);
  assert.ok('run' in next);
  world.is('runs', next.run, { handlerName: 'constructor' });
});

forEachStore('an epoch that is no number is not the epoch', async (world) => {
  const fence = await beginSession(world.manager, await published(world), world.self);
  for (const epoch of [...NO_NUMBER, undefined] as never[]) {
    await world.refuses('fenced', () => world.manager.advanceSession({ ...fence, epoch }));
    await world.refuses('fenced', () => world.manager.reapExecution(fence.execution, epoch, { provenDead: true }));
  }
});
