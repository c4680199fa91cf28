import assert from 'node:assert/strict';
import { type AuditEntry, chained } from '#model';
import { CALL, deploy, PERSON, placed } from '../support/fixture.ts';
import { awaitingApproval, preparing, sayDone, sayNotDone, unknown, WAIT_MS } from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// Every act of a person, in the same transaction, each entry bound to the one before.

function entries(world: World): AuditEntry[] {
  return world.rows.audit.values().sort((a, b) => a.seq - b.seq);
}

/** What was added to the log while something was done. */
async function saidBy(world: World, act: () => Promise<unknown>): Promise<string[]> {
  const before = entries(world).length;
  await act();
  return entries(world)
    .slice(before)
    .map(({ actor, act: done, subject, detail }) => [actor, done, subject, detail].join(' ').trim());
}

forEachStore('the log is a chain: each entry hashes the one before, from the first', async (world) => {
  const workflow = await deploy(world.manager);
  await world.manager.pauseWorkflow(workflow, PERSON);
  await world.manager.resumeWorkflow(workflow, 'grace');
  const log = entries(world);
  assert.deepEqual(
    log.map(({ seq }) => seq),
    log.map((_, position) => position + 1),
  );
  assert.equal(log[0]?.previousHash, '0'.repeat(64));
  for (const [position, entry] of log.entries()) {
    const { at, actor, act, subject, detail } = entry;
    const again = chained(log[position - 1], { set: 'audit.appended', at, actor, act, subject, detail });
    assert.deepEqual(again, entry);
    const forged = chained(log[position - 1], { set: 'audit.appended', at, actor: 'mallory', act, subject, detail });
    assert.notEqual(forged.hash, entry.hash);
  }
});

forEachStore('a refused act says nothing', async (world) => {
  const { workflow } = await unknown(world);
  assert.deepEqual(
    await saidBy(world, () => world.manager.resumeWorkflow(workflow, PERSON).catch(() => undefined)),
    [],
  );
});

forEachStore('acts on a workflow', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  const said = await saidBy(world, async () => {
    await manager.pauseWorkflow(workflow, PERSON);
    await manager.resumeWorkflow(workflow, PERSON);
    await manager.setHandlerState(workflow, 'book', '{}', PERSON);
    const { execution } = await manager.requestExecution(workflow, 'manual', PERSON);
    await manager.cancelExecution(execution, PERSON);
    await manager.publishEvents(workflow, [placed('1'), placed('2')], PERSON);
    await manager.cureConnection('shop', PERSON);
  });
  assert.deepEqual(said, [
    `ada pause ${workflow}`,
    `ada resume ${workflow}`,
    `ada set state ${workflow} book`,
    `ada run now ${workflow}`,
    'ada cancel exe_00001',
    `ada publish ${workflow} 2 events`,
    'ada cure connection shop',
  ]);
});

forEachStore('acts on events, one entry each', async (world) => {
  const { manager } = world;
  const workflow = await deploy(manager);
  await manager.publishEvents(workflow, [placed('1'), placed('2')], PERSON);
  const [one, two] = [world.event('1'), world.event('2')];
  const said = await saidBy(world, async () => {
    await manager.parkEvents([one, two], PERSON);
    await manager.unparkEvents([one], PERSON);
    await manager.skipEvents([one], PERSON);
    await manager.redoEvents([one], PERSON);
    await manager.archiveWorkflow(workflow, PERSON);
  });
  assert.deepEqual(said, [
    `ada park ${one}`,
    `ada park ${two}`,
    `ada unpark ${one}`,
    `ada skip ${one}`,
    `ada redo ${one}`,
    `ada archive ${workflow}`,
  ]);
});

forEachStore('answers for calls carry the name of who gave them', async (world) => {
  const { manager } = world;
  const { mutation } = await unknown(world, { canReconcile: true });
  for (let count = 0; count < 12; count++) await manager.postponeReconcile(mutation, 0);
  const said = await saidBy(world, async () => {
    await manager.checkAgain(mutation, PERSON);
    await manager.setAside(mutation, PERSON);
    await sayDone(world, mutation);
    await manager.finishWithoutNext(world.row('mutations', mutation).handlerRunId, PERSON);
  });
  assert.deepEqual(said, [
    `ada check again ${mutation}`,
    `ada set aside ${mutation}`,
    `ada user_assert_applied ${mutation}`,
    'ada finish without next run_00001',
  ]);
});

forEachStore('a person who denies is named; a look-up is not a person', async (world) => {
  const { mutation } = await unknown(world);
  world.clock.advance(WAIT_MS);
  assert.deepEqual(await saidBy(world, () => sayNotDone(world, mutation)), [`ada user_assert_failed ${mutation}`]);
});

forEachStore('approvals and rejections', async (world) => {
  const { manager } = world;
  const { mutation } = await awaitingApproval(world);
  const said = await saidBy(world, async () => {
    await manager.approveCall(mutation, PERSON);
    await manager.rejectCall(mutation, 'skip', PERSON);
  });
  assert.deepEqual(said, [`ada approve ${mutation}`, `ada reject ${mutation}`]);
});

forEachStore('what a worker does is no act of a person', async (world) => {
  const said = await saidBy(world, async () => {
    const { fence, run } = await preparing(world);
    await world.manager.updateConsumerPhase(fence, run, 'prepared', {
      reservations: [{ topic: 'order.placed', ids: ['1'] }],
    });
    await world.manager.updateConsumerPhase(fence, run, 'mutating');
    await world.manager.startMutation(fence, run, CALL);
  });
  assert.deepEqual(said, [
    'ada create wf_00001',
    'ada add version scr_00001 1.0',
    'ada activate scr_00001 1.0',
    'ada publish wf_00001 1 event',
  ]);
});
