import assert from 'node:assert/strict';
import type { MutationId } from '#base';
import { PERSON, placed, SECONDS } from '../support/fixture.ts';
import { applied, inFlight, nextRun, sayDone, sayNotDone, send, stop, unknown, WAIT_MS } from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// What keeps one effect one: evidence that comes late or early, and the key under which a call is sent again.

function lookedUp(world: World, mutation: MutationId, outcome: 'success' | 'failure') {
  return world.manager.updateMutationResult(mutation, outcome, { answer: { resolvedBy: 'reconcile' } });
}

const HAPPENED = { says: 'applied', detail: '{"ref":"b1"}', source: 'a late response' } as const;

async function denied(world: World) {
  const stage = await unknown(world);
  world.clock.advance(WAIT_MS);
  await sayNotDone(world, stage.mutation);
  return stage;
}

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

forEachStore('evidence about an event that was skipped meanwhile holds nobody', async (world) => {
  const { workflow, mutation } = await denied(world);
  await world.manager.skipEvents([world.event('1')], PERSON);
  assert.equal((await world.manager.recordEvidence(mutation, HAPPENED)).held, false);
  world.is('workflows', workflow, { holds: [] });
});

forEachStore('each call that evidence speaks for has a case of its own', async (world) => {
  const { manager } = world;
  const first = await unknown(world);
  await manager.setAside(first.mutation, PERSON);
  await manager.publishEvents(first.workflow, [placed('2')], PERSON);
  const second = await send(world, await nextRun(world, first.workflow), {}, { events: ['2'] });
  await stop(world, second, 'crashed', { callEnded: true });
  world.clock.advance(WAIT_MS);
  for (const { mutation } of [first, second]) await sayNotDone(world, mutation);
  for (const { mutation } of [first, second, first]) await manager.recordEvidence(mutation, HAPPENED);
  const cases = world.rows.tasks.values().map(({ runId, kind }) => [runId, kind]);
  assert.deepEqual(cases, [
    [first.run, 'evidence'],
    [second.run, 'evidence'],
  ]);
});
