import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { monotonicIds, systemClock } from '#base';
import { openPostgresReader, openPostgresStore } from '#store';
import { beginSession, CALL, deploy, ORDERS, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { findPostgres } from '../support/postgres-server.ts';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';

async function cycles(url: string, count: number, between: (i: number) => void = () => undefined) {
  const store = await openPostgresStore({ url });
  const ids = monotonicIds(systemClock);
  const follower = new Follower(store, systemClock, ids);
  const { manager } = follower;
  const worker = ids.next('worker');
  await manager.registerWorker(worker, { name: 'w', pool: 'default', leaseMs: 45_000 });
  const workflow = await deploy(manager, `f${ids.next('run')}`, { ...ORDERS, producers: [] });
  await manager.publishEvents(
    workflow,
    Array.from({ length: count + 5 }, (_, i) => placed(String(i))),
    PERSON,
  );
  const fence = await beginSession(manager, workflow, worker);
  let next = await manager.advanceSession(fence);
  const taken: number[] = [];
  for (let i = 0; i < count; i++) {
    between(i);
    assert.ok('run' in next);
    const { run } = next;
    const before = store.roundTrips;
    const started = await prepareAndCall(manager, fence, run, reserve(String(i)), CALL);
    assert.ok('idempotencyKey' in started);
    next = await manager.together((model) => {
      model.updateMutationResult(started.mutation, 'success', {
        fence,
        answer: { resolvedBy: 'provider' },
        result: '1',
      });
      model.updateConsumerPhase(fence, run, 'emitting');
      model.commitConsumer(fence, run, { state: '1' });
      return model.advanceSession(fence);
    });
    taken.push(store.roundTrips - before);
  }
  await follower.close();
  return taken;
}

onPostgres('a dump that was put back into another database works, and is remembered', async (t) => {
  const bin = findPostgres() ?? '';
  const from = await freshDatabase();
  const to = await from.server.createDatabase('restored').then(() => from.server.url('restored'));
  t.after(() =>
    closeAll(
      () => from.server.dropDatabase('restored'),
      () => from.drop(),
    ),
  );
  await cycles(from.url, 5);
  const dump = execFileSync(join(bin, 'pg_dump'), [from.url.replace('postgres:///', 'postgresql:///')]);
  execFileSync(join(bin, 'psql'), ['-v', 'ON_ERROR_STOP=1', '-q', to.replace('postgres:///', 'postgresql:///')], {
    input: dump,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const taken = await cycles(to, 8);
  t.diagnostic(taken.join(' '));
  assert.equal(taken.at(-1), 2);
});

for (const jump of [10_000, -10_000, 900, -900]) {
  onPostgres(`a wall clock that is set by ${jump} ms: everything goes on, by the database's time`, async (t) => {
    const db = await freshDatabase();
    const { now } = Date;
    t.after(() => {
      Date.now = now;
    });
    let off = 0;
    const taken = await cycles(db.url, 12, (i) => {
      if (i === 6) off = jump;
      Date.now = () => now() + off;
    });
    Date.now = now;
    const reader = await openPostgresReader(db.url);
    const runs = await reader.table('handler_runs');
    const calls = await reader.table('mutations');
    await reader.close();
    t.diagnostic(taken.join(' '));
    const off1 = Math.max(...calls.map(({ createdAt }) => Math.abs(createdAt - now())), 0);
    assert.ok(off1 < 6_000, `a call is off by ${off1}`);
    const back = runs.filter(
      ({ endTimestamp, startTimestamp }) => endTimestamp !== null && endTimestamp < startTimestamp,
    );
    t.diagnostic(`${back.length} runs end before they begin`);
    await db.drop();
  });
}
