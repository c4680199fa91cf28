import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { monotonicIds, systemClock } from '#base';
import { openPostgresReader, openPostgresStore } from '#store';
import { CuttingProxy } from '../support/cutting-proxy.ts';
import { beginSession, CALL, deploy, ORDERS, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { onPostgres } from '../support/postgres-world.ts';

async function open(
  t: TestContext,
  proxyOf: (folder: string) => Promise<{ url(name: string): string; close(): Promise<void> }>,
) {
  const server = await startOwnPostgres();
  await server.createDatabase('pawl');
  const proxy = await proxyOf(server.folder);
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
  const { manager } = follower;
  const worker = ids.next('worker');
  await manager.registerWorker(worker, { name: 'one', pool: 'default', leaseMs: 45_000 });
  const workflow = await deploy(manager, 'busy', { ...ORDERS, producers: [] });
  await manager.publishEvents(
    workflow,
    Array.from({ length: 30 }, (_, i) => placed(String(i))),
    PERSON,
  );
  const fence = await beginSession(manager, workflow, worker);
  const first = await manager.advanceSession(fence);
  assert.ok('run' in first);
  const o = { proxy, store, manager, workflow, fence, reader, run: first.run, at: 0 };
  for (let i = 0; i < 4; i++) await end(o, await call(o));
  return o;
}
type Opened = Awaited<ReturnType<typeof open>>;
const call = async (o: Pick<Opened, 'manager' | 'fence' | 'run' | 'at'>) => {
  const started = await prepareAndCall(o.manager, o.fence, o.run, reserve(String(o.at)), CALL);
  assert.ok('idempotencyKey' in started, JSON.stringify(started));
  return started.mutation;
};
async function end(o: Pick<Opened, 'manager' | 'fence' | 'run' | 'at'>, mutation: Awaited<ReturnType<typeof call>>) {
  const next = await o.manager.together((model) => {
    model.updateMutationResult(mutation, 'success', {
      fence: o.fence,
      answer: { resolvedBy: 'provider' },
      result: '1',
    });
    model.updateConsumerPhase(o.fence, o.run, 'emitting');
    model.commitConsumer(o.fence, o.run, { state: '1' });
    return model.advanceSession(o.fence);
  });
  assert.ok('run' in next);
  o.run = next.run;
  o.at += 1;
}

for (const cut of ['before', 'between', 'after'] as const) {
  onPostgres(`a remembered flight that is lost ${cut} the commit is done once`, async (t) => {
    const o = await open(t, (folder) => CuttingProxy.open(folder));
    for (const half of ['call', 'end'] as const) {
      const cutting = (o.proxy as CuttingProxy).cutNext(cut);
      const before = (await o.reader.table('mutations')).length;
      const [mutation] = await Promise.all([call(o), half === 'call' ? cutting : undefined]);
      assert.equal((await o.reader.table('mutations')).length, before + 1);
      await Promise.all([end(o, mutation), half === 'end' ? cutting : undefined]);
      for (let i = 0; i < 3; i++) await end(o, await call(o));
    }
    const runs = (await o.reader.table('handler_runs')).filter(({ status }) => status === 'active');
    assert.equal(runs.length, 1);
  });
}

/** Cuts the client off at its next COMMIT, and lets the server have what was sent only later. */
class LateProxy {
  readonly folder = mkdtempSync(join(tmpdir(), 'pawl-late-'));
  readonly sockets = new Set<Socket>();
  lateMs: number | 'asked' | undefined;
  #deliver: (() => void) | undefined;
  #isHeld = false;
  delivered: Promise<void> = Promise.resolve();
  readonly server = createServer((client) => {
    const up = createConnection(this.to);
    for (const s of [client, up]) {
      this.sockets.add(s);
      s.on('error', () => undefined);
    }
    up.on('data', (d) => client.destroyed || client.write(d));
    up.on('close', () => client.destroy());
    let isLate = false;
    // The one who asks what became of it; and the next one, who waits until the server has heard it.
    const deliver = this.#deliver;
    this.#deliver = undefined;
    if (deliver) {
      this.#isHeld = true;
      client.on('close', deliver);
    } else if (this.#isHeld) {
      client.pause();
      void this.delivered.then(() => client.resume());
    }
    client.on('data', (d) => {
      if (this.lateMs !== undefined && /B[\s\S]{4}\0\d+ commit\0/.test(d.toString('latin1'))) {
        const ms = this.lateMs;
        this.lateMs = undefined;
        isLate = true;
        this.delivered = new Promise((resolve) => {
          const deliver = () => {
            up.write(d);
            setTimeout(() => {
              up.destroy();
              this.#isHeld = false;
              resolve();
            }, 300);
          };
          if (ms === 'asked') this.#deliver = deliver;
          else setTimeout(deliver, ms);
        });
        client.destroy();
        return;
      }
      up.write(d);
    });
    client.on('close', () => isLate || up.destroy());
  });
  readonly to: string;
  constructor(to: string) {
    this.to = to;
  }
  static async open(folder: string) {
    const proxy = new LateProxy(join(folder, '.s.PGSQL.5432'));
    proxy.server.listen(join(proxy.folder, '.s.PGSQL.5432'));
    await once(proxy.server, 'listening');
    return proxy;
  }
  url(database: string) {
    return `postgres:///${database}?host=${encodeURIComponent(this.folder)}&user=pawl`;
  }
  async close() {
    for (const s of this.sockets) s.destroy();
    this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

for (const lateMs of ['asked', 200, 800, 1_500] as const) {
  onPostgres(
    `a remembered flight that the server hears late (${lateMs}), after its process gave it up, is done once`,
    async (t) => {
      const o = await open(t, (folder) => LateProxy.open(folder));
      const proxy = o.proxy as unknown as LateProxy;
      const before = (await o.reader.table('mutations')).length;
      proxy.lateMs = lateMs;
      const mutation = await call(o);
      await proxy.delivered;
      assert.equal(proxy.lateMs, undefined);
      assert.equal((await o.reader.table('mutations')).length, before + 1);
      await end(o, mutation);
      proxy.lateMs = lateMs;
      const next = await call(o);
      proxy.lateMs = lateMs;
      await end(o, next);
      await proxy.delivered;
      for (let i = 0; i < 3; i++) await end(o, await call(o));
      assert.equal((await o.reader.table('handler_runs')).filter(({ status }) => status === 'active').length, 1);
    },
  );
}

// The process gives up altogether: it told its caller that nothing was written.
onPostgres('a command that nobody will do again is not done later', async (t) => {
  const o = await open(t, (folder) => LateProxy.open(folder));
  const proxy = o.proxy as unknown as LateProxy;
  const times: string[] = [];
  proxy.lateMs = 400;
  const said = await o.manager
    .together((model) => {
      times.push('decided');
      // The second time it looks it has changed its mind: stands for whatever is decided by more than the workflow's rows.
      if (times.length > 1 && proxy.lateMs === undefined) throw new Error('not any more');
      model.updateConsumerPhase(o.fence, o.run, 'prepared', {
        reservations: reserve(String(o.at)),
        prepareResult: '1',
      });
      model.updateConsumerPhase(o.fence, o.run, 'mutating');
      return model.startMutation(o.fence, o.run, CALL);
    })
    .catch((error: Error) => error.message);
  const before = (await o.reader.table('mutations')).length;
  await proxy.delivered;
  assert.deepEqual([said, (await o.reader.table('mutations')).length - before], ['not any more', 0]);
});
