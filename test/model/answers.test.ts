import assert from 'node:assert/strict';
import type { MutationId } from '#base';
import { CALL_GRACE_MS, RECONCILE_COUNT_MAX, VISIBILITY_MS_DEFAULT } from '#model';
import { beginSession, CALL, deploy, PERSON, SECONDS } from '../support/fixture.ts';
import {
  awaitingApproval,
  freshRun,
  inFlight,
  restart,
  sayDone,
  sayNotDone,
  unknown,
  WAIT_MS,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// How the outcome of a call becomes known: by its own process, by looking it up, or by a person; who may say what, and when.

const RECONCILE = { resolvedBy: 'reconcile' } as const;

function lookedUp(world: World, mutation: MutationId, outcome: 'success' | 'failure') {
  return world.manager.updateMutationResult(mutation, outcome, { answer: RECONCILE });
}

forEachStore(
  'the call is over when its process recorded its end: only the visibility delay is waited for',
  async (world) => {
    const { mutation } = await unknown(world, { visibilityMs: 7 * SECONDS });
    const error = await world.refuses('too-early', () => sayNotDone(world, mutation));
    assert.equal(error.notBefore, world.clock.now() + 7 * SECONDS);
    world.clock.advance(7 * SECONDS);
    await sayNotDone(world, mutation);
  },
);

forEachStore('a provider that shows at once what it did leaves nothing to wait for', async (world) => {
  const { mutation } = await unknown(world, { visibilityMs: 0 });
  await sayNotDone(world, mutation);
  assert.deepEqual(world.events, { 1: 'pending' });
});

forEachStore('the call is over when its process is known dead', async (world) => {
  const { mutation } = await inFlight(world, { visibilityMs: 7 * SECONDS });
  await restart(world);
  world.is('mutations', mutation, { callEndedAt: world.clock.now() });
  world.clock.advance(7 * SECONDS);
  await sayNotDone(world, mutation);
});

forEachStore('the call is over 30 s after its deadline where its process cannot be asked', async (world) => {
  const { fence, mutation } = await inFlight(world, { visibilityMs: undefined });
  const sentAt = world.clock.now();
  world.is('mutations', mutation, { visibilityMs: VISIBILITY_MS_DEFAULT, callDeadline: sentAt + CALL.timeoutMs });
  world.clock.advance(45 * SECONDS);
  await world.manager.reapExecution(fence.execution, fence.epoch, { provenDead: false });
  world.is('mutations', mutation, { status: 'indeterminate', callEndedAt: null });
  const error = await world.refuses('too-early', () => sayNotDone(world, mutation), /may still go out/);
  assert.equal(error.notBefore, sentAt + CALL.timeoutMs + CALL_GRACE_MS + VISIBILITY_MS_DEFAULT);
  world.clock.advance(error.notBefore - world.clock.now());
  await sayNotDone(world, mutation);
});

forEachStore('a look-up waits as long as a person: its early "failed" means later again', async (world) => {
  const { mutation } = await unknown(world, { canReconcile: true });
  const error = await world.refuses('too-early', () => lookedUp(world, mutation, 'failure'));
  assert.equal(error.retryable, true);
  await world.manager.postponeReconcile(mutation, 30 * SECONDS);
  world.clock.advance(30 * SECONDS);
  await lookedUp(world, mutation, 'failure');
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'reconcile', resolvedByName: null });
  assert.deepEqual(world.events, { 1: 'pending' });
});

forEachStore('a look-up counts from when it began, not from when its answer came', async (world) => {
  const { mutation } = await unknown(world, { canReconcile: true });
  const shownAt = world.clock.now() + (CALL.visibilityMs ?? 0);
  const failed = (askedAt: number) =>
    world.manager.updateMutationResult(mutation, 'failure', { answer: { resolvedBy: 'reconcile', askedAt } });
  world.clock.advance(WAIT_MS);
  const early = await world.refuses('too-early', () => failed(shownAt - 1), /began before it could tell/);
  assert.deepEqual([early.notBefore, early.retryable], [shownAt, true]);
  await world.refuses('invalid', () => failed(Number.NaN));
  await failed(shownAt);
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'reconcile' });
});

forEachStore('it happened, skip and set aside do not wait', async (world) => {
  const first = await unknown(world, { canReconcile: true }, { events: ['1', '2'] });
  await world.manager.setAside(first.mutation, PERSON);
  await lookedUp(world, first.mutation, 'success');
  world.is('mutations', first.mutation, { status: 'applied', resolvedBy: 'reconcile', reconcileAt: null });
});

forEachStore('while the run is active every answer from outside is refused', async (world) => {
  const { manager } = world;
  const { fence, mutation } = await inFlight(world, { canReconcile: true });
  world.clock.advance(WAIT_MS);
  await world.refuses('busy', () => sayDone(world, mutation));
  await world.refuses('busy', () => sayNotDone(world, mutation));
  await world.refuses('busy', () => lookedUp(world, mutation, 'success'));
  await world.refuses('wrong-state', () => manager.skipMutation(mutation, PERSON), /under way/);
  await world.refuses('wrong-state', () => manager.setAside(mutation, PERSON));
  await world.refuses('wrong-state', () => manager.checkAgain(mutation, PERSON));
  // A person is outside even where somebody lends them the fence.
  const answer = { resolvedBy: 'user_assert_applied', by: PERSON } as const;
  await world.refuses('busy', () => manager.updateMutationResult(mutation, 'success', { fence, answer }));
});

forEachStore('the owner may reconcile before it stops, under the same wait', async (world) => {
  const { manager } = world;
  const { fence, run, mutation } = await inFlight(world, { canReconcile: true });
  const failed = () => manager.updateMutationResult(mutation, 'failure', { fence, answer: RECONCILE });
  await world.refuses('too-early', failed);
  world.clock.advance(CALL.timeoutMs + CALL_GRACE_MS + 30 * SECONDS);
  await failed();
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'reconcile' });
  world.is('runs', run, { status: 'paused:transient' });
});

forEachStore('the owner may reconcile before it stops: applied needs no wait', async (world) => {
  const { manager } = world;
  const { fence, run, mutation } = await inFlight(world, { canReconcile: true });
  await manager.updateMutationResult(mutation, 'success', { fence, answer: RECONCILE, result: '1' });
  world.is('runs', run, { status: 'active', phase: 'mutated' });
});

forEachStore("a provider's answer counts only through the run that awaits it", async (world) => {
  const { manager } = world;
  const { workflow, fence, mutation } = await inFlight(world);
  const answer = { resolvedBy: 'provider' } as const;
  await world.refuses('busy', () => manager.updateMutationResult(mutation, 'success', { answer }));
  await restart(world);
  const late = await world.refuses('not-active', () => manager.updateMutationResult(mutation, 'success', { answer }));
  assert.match(late.next[0]?.label ?? '', /evidence/);
  await world.refuses('fenced', () => manager.updateMutationResult(mutation, 'success', { fence, answer }));
  await manager.setAside(mutation, PERSON);
  await manager.publishEvents(workflow, [{ topic: 'order.placed', messageId: '2', payload: '{}' }], PERSON);
  const other = await freshRun(world, workflow);
  await world.refuses('not-active', () =>
    manager.updateMutationResult(mutation, 'success', { fence: other.fence, answer }),
  );
});

forEachStore('a worker answers for no run of another workflow', async (world) => {
  const { mutation } = await inFlight(world);
  const fence = await beginSession(world.manager, await deploy(world.manager, 'other'), world.self);
  const answer = { resolvedBy: 'provider' } as const;
  await world.refuses('not-active', () => world.manager.updateMutationResult(mutation, 'success', { fence, answer }));
});

forEachStore('answers that race: the first wins, whoever gives it', async (world) => {
  const { mutation } = await unknown(world, { canReconcile: true });
  world.clock.advance(WAIT_MS);
  const outcomes = await Promise.allSettled([
    sayDone(world, mutation, '{"by":"ada"}'),
    lookedUp(world, mutation, 'failure'),
    world.manager.skipMutation(mutation, PERSON),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  world.is('mutations', mutation, { status: 'applied', result: '{"by":"ada"}' });
});

forEachStore(
  'looking up: claimed by one worker at a time, then later again, and at last a person is asked',
  async (world) => {
    const { manager } = world;
    const { workflow, mutation } = await unknown(world, { canReconcile: true });
    world.is('mutations', mutation, { status: 'needs_reconcile', reconcileAt: world.clock.now(), reconcileCount: 0 });
    const { until } = await manager.claimReconcile(mutation, world.self, 10 * SECONDS);
    assert.equal(until, world.clock.now() + 10 * SECONDS);
    const taken = await world.refuses(
      'too-early',
      () => manager.claimReconcile(mutation, world.self, 1),
      /another worker/,
    );
    assert.equal(taken.notBefore, until);
    world.clock.advance(10 * SECONDS);
    await manager.claimReconcile(mutation, world.self, 10 * SECONDS);
    const { at } = await manager.postponeReconcile(mutation, 5 * SECONDS);
    assert.equal(at, world.clock.now() + 5 * SECONDS);
    world.is('mutations', mutation, { reconcileCount: 1, reconcileOwner: null, reconcileUntil: null });
    const early = await world.refuses('too-early', () => manager.claimReconcile(mutation, world.self, 1), /not come/);
    assert.equal(early.notBefore, at);
    for (let count = 2; count < RECONCILE_COUNT_MAX; count++) await manager.postponeReconcile(mutation, 0);
    assert.deepEqual(await manager.postponeReconcile(mutation, 0), { at: null });
    world.is('mutations', mutation, {
      status: 'indeterminate',
      reconcileAt: null,
      reconcileCount: RECONCILE_COUNT_MAX,
    });
    world.is('workflows', workflow, { holds: ['unknown'] });
    await world.refuses('wrong-state', () => manager.postponeReconcile(mutation, 0));
  },
);

forEachStore('looking up: a worker that ends lets go of what it had claimed', async (world) => {
  const { manager } = world;
  const { mutation } = await unknown(world, { canReconcile: true });
  const dead = world.ids.next('worker');
  await manager.registerWorker(dead, { name: 'dead', pool: 'default', leaseMs: 45 * SECONDS });
  const reconcileAt = world.clock.now();
  world.clock.advance(1);
  await manager.claimReconcile(mutation, dead, 60 * SECONDS);
  await manager.endWorker(dead);
  world.is('mutations', mutation, { reconcileAt, reconcileCount: 0, reconcileOwner: null, reconcileUntil: null });
  await manager.claimReconcile(mutation, world.self, 60 * SECONDS);
  await manager.registerWorker(world.ids.next('worker'), { name: 'other', pool: 'default', leaseMs: 1 });
  world.is('mutations', mutation, { reconcileOwner: world.self });
});

forEachStore('check again: only where the method can look it up', async (world) => {
  const { mutation } = await unknown(world);
  await world.refuses('wrong-state', () => world.manager.checkAgain(mutation, PERSON), /no way to look it up/);
});

forEachStore('check again: only what is unknown, and from then on it is being looked up', async (world) => {
  const { manager } = world;
  const { workflow, mutation } = await unknown(world, { canReconcile: true });
  await world.refuses('wrong-state', () => manager.checkAgain(mutation, PERSON), /only an unknown/);
  for (let count = 0; count < RECONCILE_COUNT_MAX; count++) await manager.postponeReconcile(mutation, 0);
  world.clock.advance(1);
  assert.deepEqual(await manager.checkAgain(mutation, PERSON), { reconcileAt: world.clock.now() });
  world.is('mutations', mutation, { status: 'needs_reconcile', reconcileCount: 0 });
  world.is('workflows', workflow, { holds: ['unknown'] });
});

forEachStore('a call that was never sent has no outcome', async (world) => {
  const { mutation } = await awaitingApproval(world);
  await world.refuses('wrong-state', () => sayDone(world, mutation), /never sent/);
  await world.refuses('wrong-state', () => world.manager.skipMutation(mutation, PERSON), /reject it instead/);
});
