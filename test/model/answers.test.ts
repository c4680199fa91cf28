import assert from 'node:assert/strict';
import type { MutationId } from '#base';
import { CALL_GRACE_MS, RECONCILE_COUNT_MAX, VISIBILITY_MS_DEFAULT } from '#model';
import { CALL, PERSON, SECONDS } from '../support/fixture.ts';
import {
  applied,
  awaitingApproval,
  freshRun,
  inFlight,
  nextRun,
  restart,
  sayDone,
  sayNotDone,
  send,
  stop,
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
  assert.equal(early.notBefore, shownAt);
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

forEachStore('a later answer is evidence and changes nothing', async (world) => {
  const { workflow, mutation } = await unknown(world);
  await sayDone(world, mutation);
  const says = { says: 'failed', detail: '404', source: 'a late response' } as const;
  const { evidence, held } = await world.manager.recordEvidence(mutation, says);
  assert.equal(held, false);
  world.is('evidence', evidence, { mutationId: mutation, ...says });
  world.is('workflows', workflow, { holds: [] });
  world.is('mutations', mutation, { status: 'applied' });
});

const HAPPENED = { says: 'applied', detail: '{"ref":"b1"}', source: 'a late response' } as const;

async function denied(world: World) {
  const stage = await unknown(world);
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, stage.mutation);
  return stage;
}

forEachStore(
  "evidence against a person's answer holds while the repeat is not sent, and names the event",
  async (world) => {
    const { workflow, run, mutation } = await denied(world);
    const { held } = await world.manager.recordEvidence(mutation, HAPPENED);
    assert.equal(held, true);
    world.is('workflows', workflow, { status: 'error', holds: ['error'], dueAt: null });
    const tasks = world.rows.tasks.values();
    assert.deepEqual(
      tasks.map(({ kind, status, runId }) => [kind, status, runId]),
      [['evidence', 'open', run]],
    );
    assert.match(tasks[0]?.detail ?? '', new RegExp(`${PERSON} said it had not: ${world.event('1')}`));
    await world.manager.recordEvidence(mutation, HAPPENED);
    assert.equal(world.rows.tasks.values().length, 1);
  },
);

forEachStore('evidence: skip the event, then resume, and nothing is sent again', async (world) => {
  const { workflow, mutation } = await denied(world);
  await world.manager.recordEvidence(mutation, HAPPENED);
  await world.manager.skipEvents([world.event('1')], PERSON);
  await world.manager.resumeWorkflow(workflow, PERSON);
  world.is('workflows', workflow, { status: 'active', holds: [], errorReason: null, dueAt: null });
  assert.equal(world.rows.tasks.values()[0]?.closedBy, PERSON);
});

forEachStore("evidence: resume means send again, in that person's name, under the same key", async (world) => {
  const { workflow, mutation } = await denied(world);
  await world.manager.recordEvidence(mutation, HAPPENED);
  await world.manager.resumeWorkflow(workflow, 'grace');
  assert.equal(world.rows.tasks.values()[0]?.closedBy, 'grace');
  const again = await send(world, await nextRun(world, workflow));
  const { idempotencyKey } = world.row('mutations', mutation);
  world.is('mutations', again.mutation, { status: 'in_flight', idempotencyKey });
});

forEachStore('evidence that comes after the repeat was sent is kept and holds nobody', async (world) => {
  const { workflow, mutation } = await denied(world);
  await send(world, await nextRun(world, workflow));
  const { held } = await world.manager.recordEvidence(mutation, HAPPENED);
  assert.equal(held, false);
  world.is('workflows', workflow, { holds: [] });
});

forEachStore('evidence while the repeat is prepared, or recorded for approval, still stops it', async (world) => {
  const { workflow, mutation } = await denied(world);
  const again = await nextRun(world, workflow);
  const { held } = await world.manager.recordEvidence(mutation, HAPPENED);
  assert.equal(held, true);
  await world.manager.resumeWorkflow(workflow, PERSON);
  await send(world, again, { needsApproval: true });
  assert.deepEqual(await world.manager.recordEvidence(mutation, HAPPENED).then(({ held: twice }) => twice), true);
  world.is('workflows', workflow, { holds: ['approval', 'error'] });
});

forEachStore(
  'evidence against a look-up counts the same; evidence of uncertainty counts for nothing',
  async (world) => {
    const { workflow, mutation } = await unknown(world, { canReconcile: true });
    world.clock.advance(WAIT_MS);
    await lookedUp(world, mutation, 'failure');
    const uncertain = { says: 'uncertain', detail: '?', source: 'x' } as const;
    assert.equal((await world.manager.recordEvidence(mutation, uncertain)).held, false);
    assert.equal((await world.manager.recordEvidence(mutation, HAPPENED)).held, true);
    assert.match(world.row('workflows', workflow).errorReason ?? '', /a look-up said it had not/);
  },
);

forEachStore('the idempotency key: the same after an unknown that nobody saw happen', async (world) => {
  const { workflow, mutation } = await denied(world);
  const again = await send(world, await nextRun(world, workflow));
  const first = world.row('mutations', mutation);
  world.is('mutations', again.mutation, { idempotencyKey: first.idempotencyKey, effectHash: first.effectHash });
});

forEachStore("the idempotency key: another after each of the provider's own refusals", async (world) => {
  const { manager } = world;
  const keys = new Set<string>();
  let stage = await inFlight(world);
  for (let refusals = 0; refusals < 3; refusals++) {
    keys.add(world.row('mutations', stage.mutation).idempotencyKey);
    const { fence, mutation } = stage;
    const answer = { resolvedBy: 'provider' } as const;
    await manager.updateMutationResult(mutation, 'failure', { fence, answer, errorClass: 'transient' });
    world.clock.advance(60 * SECONDS);
    stage = await send(world, await nextRun(world, stage.workflow));
  }
  assert.equal(keys.size, 3);
});

forEachStore('the idempotency key: another for another call, or other events', async (world) => {
  const { workflow, mutation, ...stage } = await inFlight(world, {}, { events: ['1', '2'] });
  await stop(world, { workflow, ...stage }, 'crashed', { callEnded: true });
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, mutation);
  const other = await send(world, await nextRun(world, workflow), { params: '{"path":"/other"}' });
  assert.notEqual(
    world.row('mutations', other.mutation).idempotencyKey,
    world.row('mutations', mutation).idempotencyKey,
  );
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

forEachStore('evidence that comes after the repeat was committed holds nobody', async (world) => {
  const { workflow, mutation } = await denied(world);
  const again = await send(world, await nextRun(world, workflow));
  await applied(world, again);
  await world.manager.commitConsumer(again.fence, again.run);
  assert.equal((await world.manager.recordEvidence(mutation, HAPPENED)).held, false);
});

forEachStore('the ledger names the events of a call oldest first, however they were reserved', async (world) => {
  const { mutation } = await inFlight(world, {}, { events: ['1', '2', '3'] });
  const [one, two, three] = ['1', '2', '3'].map((messageId) => world.event(messageId));
  assert.ok(one && two && three);
  world.is('mutations', mutation, { eventIds: [one, two, three], firstEventId: one });
});

forEachStore('the idempotency key does not depend on the order of the reservations', async (world) => {
  const { workflow, mutation, ...stage } = await inFlight(world, {}, { events: ['1', '2'] });
  await stop(world, { workflow, ...stage }, 'crashed', { callEnded: true });
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, mutation);
  const again = await send(world, await nextRun(world, workflow), {}, { events: ['2', '1'] });
  const { idempotencyKey } = world.row('mutations', mutation);
  world.is('mutations', again.mutation, { idempotencyKey, firstEventId: world.event('1') });
});

forEachStore('evidence that came before the denial holds the repeat all the same; the answer stands', async (world) => {
  const { workflow, mutation } = await unknown(world);
  await world.manager.recordEvidence(mutation, HAPPENED);
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, mutation);
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'user_assert_failed' });
  world.is('workflows', workflow, { holds: ['error'], dueAt: null });
  assert.deepEqual(world.events, { 1: 'pending' });
  assert.deepEqual(
    world.rows.tasks.values().map(({ kind, status }) => [kind, status]),
    [['evidence', 'open']],
  );
});

forEachStore('evidence of uncertainty before the denial holds nobody', async (world) => {
  const { workflow, mutation } = await unknown(world);
  await world.manager.recordEvidence(mutation, { says: 'uncertain', detail: '?', source: 'x' });
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, mutation);
  world.is('workflows', workflow, { holds: [], dueAt: world.clock.now() });
});
