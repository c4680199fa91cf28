import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { monotonicIds, systemClock, type WorkerId } from '#base';
import { type LaterReader, openPostgresReader, openPostgresStore } from '#store';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { beginSession, CALL, deploy, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { onPostgres } from '../support/postgres-world.ts';

interface Opened {
  readonly proxy: CuttingProxy;
  readonly manager: Follower['manager'];
  readonly self: WorkerId;
  readonly reader: LaterReader;
  readonly server: Awaited<ReturnType<typeof startOwnPostgres>>;
}

async function open(t: TestContext): Promise<Opened> {
  const server = await startOwnPostgres();
  await server.createDatabase('pawl');
  const proxy = await CuttingProxy.open(server.folder);
  const store = await openPostgresStore({ url: proxy.url('pawl') });
  const ids = monotonicIds(systemClock);
  const follower = new Follower(store, systemClock, ids);
  const reader = await openPostgresReader(server.url('pawl'));
  t.after(() =>
    closeAll(
      () => follower.close(),
      () => reader.close(),
      () => proxy.close(),
      () => server.stop(),
    ),
  );
  const self = ids.next('worker');
  await follower.manager.registerWorker(self, { name: 'one', pool: 'default', leaseMs: 45_000 });
  return { proxy, manager: follower.manager, self, reader, server };
}

for (const cut of ['before', 'between', 'after'] as const) {
  onPostgres(`a connection that is lost ${cut} the commit: the command is done, once`, async (t) => {
    const { proxy, manager, reader } = await open(t);
    const workflow = await deploy(manager, 'orders');
    const cutting = proxy.cutNext(cut);
    const publishing = manager.publishEvents(workflow, [placed('1')], PERSON);
    await cutting;
    const { published } = await publishing;
    const events = await reader.table('events');
    assert.deepEqual(
      events.map(({ id, messageId }) => ({ id, messageId })),
      [{ id: published[0], messageId: '1' }],
    );
    assert.equal((await reader.table('workflows'))[0]?.eventSeq, 1);
    await manager.pauseWorkflow(workflow, PERSON);
  });

  onPostgres(`nothing goes outside before it is known: a call whose record is lost ${cut} the commit`, async (t) => {
    const { proxy, manager, self, reader } = await open(t);
    const workflow = await deploy(manager, 'orders');
    await manager.publishEvents(workflow, [placed('1')], PERSON);
    const fence = await beginSession(manager, workflow, self);
    const { run } = await manager.startRun(fence, 'book');
    const cutting = proxy.cutNext(cut);
    const starting = prepareAndCall(manager, fence, run, reserve('1'), CALL);
    await cutting;
    const started = await starting;
    assert.ok('idempotencyKey' in started);
    const calls = await reader.table('mutations');
    assert.deepEqual(
      calls.map(({ id, status, idempotencyKey }) => ({ id, status, idempotencyKey })),
      [{ id: started.mutation, status: 'in_flight', idempotencyKey: started.idempotencyKey }],
    );
  });
}

onPostgres('a server that is killed at the commit and comes back says what became of it', async (t) => {
  const { proxy, manager, reader, server } = await open(t);
  const workflow = await deploy(manager, 'orders');
  const cutting = proxy.cutNext('after');
  const publishing = manager.publishEvents(workflow, [placed('1')], PERSON);
  await cutting;
  await server.kill('SIGKILL');
  await server.start();
  const { published } = await publishing;
  assert.deepEqual(
    (await reader.table('events')).map(({ id }) => id),
    published,
  );
});

onPostgres('a server that is restarted between two commands is found again', async (t) => {
  const { manager, server } = await open(t);
  const workflow = await deploy(manager, 'orders');
  await server.kill('SIGINT');
  await server.start();
  await manager.publishEvents(workflow, [placed('1')], PERSON);
});

onPostgres('while there is no server commands are turned away, and taken again when it is back', async (t) => {
  const { manager, server } = await open(t);
  const workflow = await deploy(manager, 'orders');
  await server.kill('SIGINT');
  await assert.rejects(manager.publishEvents(workflow, [placed('1')], PERSON), { code: 'store-unreachable' });
  await server.start();
  const published = await again(() => manager.publishEvents(workflow, [placed('1')], PERSON));
  assert.equal(published.published.length, 1);
});

const AGAIN_MAX = 200;

/** The queue looks by itself whether the store is back. */
async function again<T>(ask: () => Promise<T>): Promise<T> {
  for (let i = 0; ; i++) {
    try {
      return await ask();
    } catch (error) {
      if (i >= AGAIN_MAX || (error as { code?: string }).code !== 'store-unreachable') throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
