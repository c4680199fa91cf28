import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineProcess } from '../kills/engine-process.ts';
import { CommitTrap } from './commit-trap.ts';
import { Fleet, LEASE_MS, missingFor, TRANSPORTS, type Transport } from './fleet.ts';

// Deaths around the handoff and the claim, and several who would take over at once; whichever way messages go.

/** Transactions that have written and stand open, not those that are on their way. */
const WRITING = `SELECT count(*)::int FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname = 'fleet'
  AND xact_start < now() - interval '150 ms'`;

for (const over of TRANSPORTS)
  test(
    `over ${over}: who dies around the handoff loses nothing, and nobody takes over twice`,
    { timeout: 300_000, skip: missingFor(over) },
    (t) => aroundTheHandoff(t, over),
  );

async function aroundTheHandoff(t: TestContext, over: Transport): Promise<void> {
  const fleet = await Fleet.open({ callMs: 60_000, over });
  t.after(() => fleet.close());
  const { service } = fleet;
  const writing = async () => (await fleet.server.query('fleet', WRITING))[0]?.[0];
  const executions = async () => fleet.reader.table('executions');
  const trap = await CommitTrap.open(fleet.server.folder, 'execution.scheduled');
  t.after(() => trap.close());
  const first = await fleet.executor({ url: trap.url('fleet') });
  let second: EngineProcess | undefined;
  for (const name of ['inside', 'after', 'claimed', 'reaped', 'renamed']) await fleet.deploy(name);

  await t.test('an executor dies inside the handoff: its writes are in the database, its COMMIT is not', async () => {
    const sprung = trap.spring('before');
    await fleet.order('inside', 'inside');
    await sprung;
    assert.equal(await writing(), 1, 'the transaction is open, and has written');
    assert.deepEqual(await executions(), [], 'and nobody sees it');
    await first.end('SIGKILL');
    await sleep(LEASE_MS / 4);
    assert.deepEqual(await executions(), [], 'nothing of it stays');
    second = await fleet.executor({ url: trap.url('fleet') }, 1);
    await fleet.worker({ name: 'one' });
    await fleet.settled(['inside']);
    assert.equal((await executions()).length, 1);
  });

  await t.test('an executor dies just after the handoff: a worker has it all the same', async () => {
    service.heldLooks.add('after');
    const sprung = trap.spring('after');
    await fleet.order('after', 'after');
    await sprung;
    await second?.end('SIGKILL');
    await fleet.until('a worker looks', () => service.has('look', 'after'));
    service.release('after');
    await fleet.executor({}, 1);
    await fleet.settled(['after']);
  });

  await t.test('a worker dies after its claim, with nothing done yet', async () => {
    await fleet.type('drain', 'one');
    await fleet.until('nobody is left to take it', async () => {
      return (await fleet.reader.unendedWorkers()).every(({ name }) => name !== 'one');
    });
    await fleet.order('claimed', 'claimed');
    await fleet.until('it is handed off', async () => (await fleet.reader.handOffs(10)).length > 0);
    const worker = await fleet.worker({ diesAt: { point: 'after-commit', nth: 2 } });
    assert.equal((await worker.ended).signal, 'SIGKILL');
    assert.ok(
      (await executions()).some(({ status }) => status === 'running'),
      'it was claimed',
    );
    await fleet.worker({ name: 'two' });
    await fleet.settled(['claimed']);
  });

  await t.test('two executors and two reapers with one of each frozen: one takes over, once', async () => {
    const frozen = [await fleet.executor()];
    service.treatments.set('reaped', 'hold');
    await fleet.order('reaped', 'reaped');
    await fleet.until('it is called', () => service.has('call', 'reaped'));
    const [owner] = (await executions()).filter(({ status }) => status === 'running');
    frozen.push(await fleet.worker({ name: 'three' }));
    const four = await fleet.worker({ name: 'four' });
    for (const each of frozen) each.signal('SIGSTOP');
    const dead = (await fleet.reader.unendedWorkers()).find(({ id }) => id === owner?.owner);
    assert.ok(dead);
    await fleet.killNamed(dead.name);
    await fleet.until('it is taken over', async () =>
      (await executions()).some(({ id, status }) => id === owner?.id && status === 'abandoned'),
    );
    service.release('reaped');
    for (const each of frozen) each.signal('SIGCONT');
    await fleet.settled(['reaped']);
    const abandoned = (await executions()).filter(({ status }) => status === 'abandoned');
    assert.deepEqual(
      abandoned.filter(({ id }) => id === owner?.id).map(({ epoch }) => epoch),
      [(owner?.epoch ?? 0) + 1],
      'the epoch was raised once',
    );
    for (const each of [four, ...frozen]) assert.equal((await each.end('SIGTERM')).code, 0, each.said);
  });

  await t.test('a worker that starts again under its name takes nothing of its forerunner for its own', async () => {
    const old = await fleet.worker({ name: 'phoenix' });
    service.heldLooks.add('renamed');
    await fleet.order('renamed', 'renamed');
    await fleet.until('it is looked at', () => service.has('look', 'renamed'));
    await old.end('SIGKILL');
    await fleet.worker({ name: 'phoenix' });
    service.release('renamed');
    await fleet.settled(['renamed']);
    const [running] = (await executions()).filter(({ status }) => status === 'running');
    assert.equal(running, undefined, 'the old one is not left running for ever');
    const phoenixes = (await fleet.reader.table('workers')).filter(({ name }) => name === 'phoenix');
    assert.equal(new Set(phoenixes.map(({ id }) => id)).size, 2);
  });
}
