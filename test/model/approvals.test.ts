import assert from 'node:assert/strict';
import { APPROVAL_MS_MAX } from '#model';
import { CALL, PERSON } from '../support/fixture.ts';
import { applied, awaitingApproval, HOUR, mutating, nextRun, nothingFollows, restart } from '../support/stage.ts';
import { forEachStore } from '../support/world.ts';

// A call that needs approval is recorded, and waits; what a person then says decides whether it is ever sent.

forEachStore('a call that waits says why, in the words of whoever asked', async (world) => {
  const { fence, run } = await mutating(world);
  const approvalWhy = 'orders was not allowed shop.post on /x';
  await world.refuses('invalid', () =>
    world.manager.startMutation(fence, run, { ...CALL, needsApproval: true, approvalWhy: ' ' }),
  );
  const started = await world.manager.startMutation(fence, run, { ...CALL, needsApproval: true, approvalWhy });
  assert.equal('reason' in started ? started.reason : '', approvalWhy);
  assert.equal(world.row('runs', run).error, approvalWhy);
});

forEachStore('asking: the exact call is recorded and nothing is sent', async (world) => {
  const { workflow, run, mutation } = await awaitingApproval(world);
  world.is('mutations', mutation, {
    status: 'pending',
    params: CALL.params,
    preview: CALL.preview,
    uiTitle: CALL.title,
    callDeadline: null,
    approvalExpiresAt: world.clock.now() + APPROVAL_MS_MAX,
    approvedAt: null,
  });
  world.is('runs', run, { status: 'paused:approval', error: 'shop.post needs approval' });
  world.is('workflows', workflow, { status: 'error', holds: ['approval'], grantMissing: false });
  await nothingFollows(world, workflow);
});

forEachStore('approve: the recorded call is sent, byte for byte, by a run of the same chain', async (world) => {
  const { manager } = world;
  const { workflow, run, mutation } = await awaitingApproval(world);
  const recorded = world.row('mutations', mutation);
  world.clock.advance(HOUR);
  await manager.approveCall(mutation, PERSON);
  world.is('mutations', mutation, { status: 'pending', approvedAt: world.clock.now(), approvedBy: PERSON });
  world.is('workflows', workflow, { status: 'active', holds: [], pendingRetryRunId: run });

  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { phase: 'mutating', status: 'active', retryOf: run, prepareResult: '{"data":1}' });
  world.is('mutations', mutation, {
    status: 'in_flight',
    params: recorded.params,
    idempotencyKey: recorded.idempotencyKey,
    callDeadline: world.clock.now() + CALL.timeoutMs,
  });
  world.is('events', world.event('1'), { status: 'reserved', reservedByRunId: retry.run });
  world.is('workflows', workflow, { pendingRetryRunId: null });

  await applied(world, { ...retry, mutation });
  await manager.commitConsumer(retry.fence, retry.run);
  assert.deepEqual(world.events, { 1: 'consumed' });
});

forEachStore('approve: once, and only what waits', async (world) => {
  const { workflow, mutation } = await awaitingApproval(world);
  await world.manager.approveCall(mutation, PERSON);
  await world.refuses('wrong-state', () => world.manager.approveCall(mutation, PERSON), /ada approved it already/);
  await nextRun(world, workflow);
  await world.refuses('wrong-state', () => world.manager.approveCall(mutation, PERSON), /only a recorded call/);
});

forEachStore('approve: a retry is refused until somebody has', async (world) => {
  const { manager } = world;
  const { workflow, fence, run } = await awaitingApproval(world);
  await world.refuses('fenced', () => manager.createRetryRun(fence, run));
  world.is('workflows', workflow, { dueAt: null });
});

forEachStore('reject, skip, with next: the retry is told skipped and the events are skipped', async (world) => {
  const { manager } = world;
  const { workflow, run, mutation } = await awaitingApproval(world);
  assert.deepEqual(await manager.rejectCall(mutation, 'skip', PERSON), { run, status: 'paused:approval' });
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'user_skip', resolvedByName: PERSON });
  world.is('workflows', workflow, { status: 'active', holds: [], pendingRetryRunId: run });
  const retry = await nextRun(world, workflow);
  world.is('runs', retry.run, { phase: 'emitting', mutationOutcome: 'skipped' });
  await manager.commitConsumer(retry.fence, retry.run);
  assert.deepEqual(world.events, { 1: 'skipped' });
});

forEachStore('reject, skip, without next: done at once', async (world) => {
  const { run, mutation } = await awaitingApproval(world, { handler: 'ship' });
  assert.deepEqual(await world.manager.rejectCall(mutation, 'skip', PERSON), { run, status: 'committed' });
  assert.deepEqual(world.events, { 1: 'skipped' });
});

forEachStore('reject, park: the events wait for a person, the workflow goes on', async (world) => {
  const { workflow, run, mutation } = await awaitingApproval(world, { events: ['1', '2'] });
  assert.deepEqual(await world.manager.rejectCall(mutation, 'park', PERSON), { run, status: 'paused:approval' });
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'user_reject', error: `rejected by ${PERSON}` });
  world.is('runs', run, { status: 'paused:approval', mutationOutcome: 'failure' });
  world.is('events', world.event('1'), { status: 'parked', reservedByRunId: null });
  assert.deepEqual(world.events, { 1: 'parked', 2: 'parked' });
  world.is('workflows', workflow, { status: 'active', holds: [], pendingRetryRunId: null, dueAt: null });
});

forEachStore('reject is possible until it is sent, also after an approval', async (world) => {
  const { workflow, mutation } = await awaitingApproval(world);
  await world.manager.approveCall(mutation, PERSON);
  await world.manager.rejectCall(mutation, 'park', 'grace');
  assert.deepEqual(world.events, { 1: 'parked' });
  world.is('workflows', workflow, { pendingRetryRunId: null, dueAt: null });
  await world.refuses('wrong-state', () => world.manager.rejectCall(mutation, 'skip', PERSON), /not sent/);
});

forEachStore('reject is refused once it is sent', async (world) => {
  const { workflow, mutation } = await awaitingApproval(world);
  await world.manager.approveCall(mutation, PERSON);
  await nextRun(world, workflow);
  await world.refuses('wrong-state', () => world.manager.rejectCall(mutation, 'park', PERSON), /is in_flight/);
});

forEachStore('expire: after 7 days it is parked, not a moment before', async (world) => {
  const { workflow, run, mutation } = await awaitingApproval(world);
  const expiresAt = world.clock.now() + APPROVAL_MS_MAX;
  world.clock.advance(APPROVAL_MS_MAX - 1);
  const early = await world.refuses('too-early', () => world.manager.expireCall(mutation));
  assert.equal(early.notBefore, expiresAt);
  world.clock.advance(1);
  assert.deepEqual(await world.manager.expireCall(mutation), { run, status: 'paused:approval' });
  world.is('mutations', mutation, { status: 'failed', resolvedBy: 'expired', resolvedByName: null });
  assert.deepEqual(world.events, { 1: 'parked' });
  world.is('workflows', workflow, { status: 'active', holds: [] });
  await world.refuses('wrong-state', () => world.manager.expireCall(mutation), /expire/);
});

forEachStore('approve is refused once its time ran out, also before it is parked', async (world) => {
  const { mutation } = await awaitingApproval(world);
  world.clock.advance(APPROVAL_MS_MAX);
  await world.refuses('wrong-state', () => world.manager.approveCall(mutation, PERSON), /ran out/);
});

forEachStore('expire: what was approved in time does not', async (world) => {
  const { mutation } = await awaitingApproval(world);
  await world.manager.approveCall(mutation, PERSON);
  world.clock.advance(APPROVAL_MS_MAX);
  await world.refuses('too-early', () => world.manager.expireCall(mutation), /ada approved it/);
});

forEachStore('a crash while it waits changes nothing', async (world) => {
  const { workflow, mutation } = await awaitingApproval(world);
  await restart(world);
  world.is('mutations', mutation, { status: 'pending' });
  world.is('workflows', workflow, { holds: ['approval'] });
});
