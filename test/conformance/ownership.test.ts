import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ExecutionId, monotonicIds, RefusedError, systemClock, type WorkflowId } from '#base';
import { joinFleet } from '#execution';
import { GuardError, openPostgresStore, Switchboard } from '#store';
import { deploy, PERSON, placed } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

// Who may write an execution, on the one database that several processes share.

/** As often as a race is run here; `RACES=100000` for more. */
const RACES = Number(process.env.RACES ?? 1_000);

async function open(t: TestContext, ...roles: readonly ('executor' | 'worker')[]) {
  const { database, reader, giveBack } = await borrowDatabase();
  const ids = monotonicIds(systemClock);
  const followers: Follower[] = [];
  for (const role of roles)
    followers.push(new Follower(await openPostgresStore({ url: database.url, role }), systemClock, ids));
  t.after(() => closeAll(...followers.map((follower) => () => follower.close()), giveBack));
  const worker = ids.next('worker');
  const managers = followers.map(({ manager }) => manager);
  await managers[0]?.registerWorker(worker, { name: 'w', pool: 'default', leaseMs: 45_000 });
  return { database, reader, managers, worker };
}

type Manager = Follower['manager'];

async function requested(executor: Manager, name: string): Promise<{ workflow: WorkflowId; execution: ExecutionId }> {
  const workflow = await deploy(executor, name);
  await executor.publishEvents(workflow, [placed('1')], PERSON);
  return { workflow, ...(await executor.requestExecution(workflow, 'event')) };
}

function handOff(executor: Manager, execution: ExecutionId): Promise<{ epoch: number }> {
  return executor.together((model) => {
    model.beginScheduling(execution);
    return model.handOff(execution);
  });
}

onPostgres('after the handoff the database refuses an executor every write but the wish to cancel', async (t) => {
  const { managers, worker, reader } = await open(t, 'executor', 'worker');
  const [executor, other] = managers as [Manager, Manager];
  const { execution } = await requested(executor, 'orders');
  const { epoch } = await handOff(executor, execution);
  await assert.rejects(executor.claimExecution(execution, epoch, worker), GuardError);
  await assert.rejects(executor.reapExecution(execution, epoch, { provenDead: true }), GuardError);
  assert.deepEqual(await executor.cancelExecution(execution, PERSON), { cancelled: false });
  assert.deepEqual(await other.claimExecution(execution, epoch, worker), { cancelled: true });
  assert.equal((await reader.fetch('execution', execution))[0]?.status, 'cancelled');
});

onPostgres(`a cancel that races the handoff, ${RACES} times, never ends as running`, async (t) => {
  const { managers, worker, reader } = await open(t, 'executor', 'executor', 'worker');
  const [executor, another, taker] = managers as [Manager, Manager, Manager];
  const ends = { before: 0, after: 0 };
  const workflow = await deploy(executor, 'orders');
  for (let race = 0; race < RACES; race++) {
    const { execution } = await executor.requestExecution(workflow, 'manual', PERSON);
    const [handed, cancelled] = await Promise.allSettled([
      handOff(executor, execution),
      another.cancelExecution(execution, PERSON),
    ]);
    assert.equal(cancelled.status, 'fulfilled');
    const isBefore = cancelled.status === 'fulfilled' && cancelled.value.cancelled;
    if (isBefore) {
      assert.ok(handed.status === 'rejected' && handed.reason instanceof RefusedError);
      ends.before++;
    } else {
      assert.ok(handed.status === 'fulfilled');
      const claimed = await taker.claimExecution(execution, handed.value.epoch, worker);
      assert.deepEqual(claimed, { cancelled: true });
      ends.after++;
    }
    assert.equal((await reader.fetch('execution', execution))[0]?.status, 'cancelled');
  }
  t.diagnostic(`cancelled before the handoff ${ends.before} times, after it ${ends.after} times`);
});

onPostgres(
  'a handoff told five times to three workers is taken once, and an old completion moves nothing',
  async (t) => {
    const { managers, worker, reader } = await open(t, 'executor', 'worker', 'worker', 'worker');
    const [executor, ...takers] = managers as [Manager, ...Manager[]];
    const { execution, workflow } = await requested(executor, 'orders');
    const { epoch } = await handOff(executor, execution);
    const told = takers.flatMap((taker) =>
      Array.from({ length: 5 }, () => taker.claimExecution(execution, epoch, worker)),
    );
    const taken = (await Promise.allSettled(told)).filter(({ status }) => status === 'fulfilled');
    assert.equal(taken.length, 1);
    assert.equal((await reader.table('script_runs')).length, 1);
    const [fence] = taken.map((each) =>
      each.status === 'fulfilled' && 'fence' in each.value ? each.value.fence : undefined,
    );
    assert.ok(fence);
    await takers[0]?.finishSession(fence);
    const before = await reader.fetch('execution', execution);
    // An hour late, twice: the one who hears it looks, and finds nothing to do but what is due anyway.
    for (let i = 0; i < 2; i++) await executor.scheduleDue(workflow);
    assert.deepEqual(await reader.fetch('execution', execution), before);
    assert.equal((await reader.fetch('openExecutions', workflow)).length, 1);
  },
);

onPostgres('a call is heard by the others, and what was missed is said', async (t) => {
  const { database, giveBack } = await borrowDatabase();
  t.after(giveBack);
  const heard: string[] = [];
  let missed = 0;
  const ears = { url: database.url, hear: (text: string) => heard.push(text), missed: () => missed++ };
  const [one, two] = await Promise.all([Switchboard.open(ears), Switchboard.open({ ...ears, hear: () => undefined })]);
  t.after(() =>
    closeAll(
      () => one.close(),
      () => two.close(),
    ),
  );
  await two.call('hello');
  await two.call('x'.repeat(10_000));
  while (heard.length === 0 || missed === 0) await sleep(10);
  assert.deepEqual(heard, ['hello']);
  const before = missed;
  await database.server.query(
    database.name,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
  );
  while (missed === before) await sleep(10);
  await two.call('again').catch(() => two.call('again'));
});

onPostgres('a member of a fleet tells the time of the database, and leaves nothing behind', async (t) => {
  const { database, reader, giveBack } = await borrowDatabase();
  t.after(giveBack);
  const member = await joinFleet({ url: database.url, role: 'worker', name: 'w', pool: 'heavy', leaseMs: 2_000 });
  assert.ok(Math.abs(member.clock.now() - Date.now()) < 1_000);
  const [worker] = await reader.unendedWorkers();
  assert.deepEqual([worker?.id, worker?.pool], [member.engine.self, 'heavy']);
  await member.engine.close();
  assert.deepEqual(await reader.unendedWorkers(), []);
});
