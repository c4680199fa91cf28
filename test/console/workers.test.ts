import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type App, startApp } from '#app';
import { serve } from '#http';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { violations } from './violations.ts';
import { Visitor } from './visitor.ts';

const LEASE_MS = 2_000;

test('where one process does everything, the page says how it could be more', async (t) => {
  const api = await Api.open(t);
  const visitor = await Visitor.open(api.stage.data, { path: '/workers' });
  await visitor.seesTitle('Workers');
  await visitor.sees('One process does everything here');
  await visitor.sees('pawl worker');
  await visitor.sees('0 of at most 64 sessions');
  assert.equal(await visitor.button(/Cordon|Drain/).count(), 0);
  await visitor.page.keyboard.press('Control+k');
  await visitor.page.keyboard.type('workers');
  await visitor.page.getByRole('option', { name: /^Workers/ }).waitFor();
});

test('a workflow that nobody takes waits for a worker of its pool, and is found by that', async (t) => {
  const config = { fleet: { pools: { heavy: ['orders'] } } };
  const api = await Api.open(t, {}, { config, isShared: true });
  const { workflow } = await api.deploy(GIVEN);
  await api.stage.quiet();
  await api.stage.manager.together((model) => {
    const { execution } = model.requestExecution(workflow, 'event');
    model.beginScheduling(execution);
    model.handOff(execution);
  });
  const visitor = await Visitor.open(api.stage.data, { path: '/workflows?kind=worker' });
  await visitor.page.getByText('waiting for a worker', { exact: true }).waitFor();
  await visitor.sees(/^Waiting for a worker of pool heavy/);
});

/** An executor with its API, and a worker beside it, on one database. */
async function openFleet(t: TestContext) {
  const database = await freshDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'pawl-workers-'));
  const asked = Promise.withResolvers<void>();
  const apps: App[] = [];
  // As the command line makes it, for the token and the address of this process.
  mkdirSync(join(folder, 'desk'));
  const start = async (role: 'executor' | 'worker', name: string, options: { onDrain?: () => void } = {}) => {
    const app = await startApp({
      dataDir: join(folder, name),
      config: { fleet: { leaseMs: LEASE_MS } },
      fleet: { url: database.url, role, name, concurrency: 4 },
      ...options,
    });
    apps.push(app);
    return app;
  };
  const executor = await start('executor', 'desk');
  const worker = await start('worker', 'hand-1', { onDrain: asked.resolve });
  const served = await serve(executor, { port: 0, dataDir: join(folder, 'desk') });
  t.after(async () => {
    await served.close();
    for (const app of apps) await app.stop().catch(() => undefined);
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { served, worker, drainAsked: asked.promise, folder };
}

onPostgres(
  'a worker is cordoned, opened again and drained from the page, which says before what that will do',
  async (t) => {
    const { served, worker, drainAsked } = await openFleet(t);
    const visitor = await Visitor.byLink(served.loginUrl('ada'));
    await visitor.go('/workers');
    await visitor.sees('hand-1');
    await visitor.sees('0 of at most 4 sessions');
    await visitor.sees('takes no sessions itself');
    assert.equal(await visitor.button('Cordon desk').count(), 0, 'whoever takes nothing cannot be cordoned');

    await visitor.button('Cordon hand-1').click();
    await visitor.sees('hand-1 claims nothing new until it is uncordoned, or started again. It has nothing under way.');
    assert.deepEqual(await violations(visitor.page), []);
    await visitor.button('Yes: cordon it').click();
    await visitor.sees('hand-1 is cordoned');
    await visitor.button('Uncordon hand-1').click();
    await visitor.button('Yes: uncordon it').click();
    await visitor.sees('hand-1 is open');

    await visitor.button('Drain hand-1').click();
    await visitor.sees(/whether it is started again is up to its machine/);
    await visitor.button('Yes: drain it').click();
    await visitor.sees('hand-1 is draining');
    await drainAsked;
    await worker.stop();
    await visitor.page.getByRole('article', { name: 'hand-1' }).waitFor({ state: 'detached' });
    await visitor.go('/audit');
    await visitor.sees('ada asked a worker to finish and end (hand-1)');
  },
);

onPostgres('a worker at odds with the others is marked, and says what it lacks and what it leaves', async (t) => {
  const { served, worker } = await openFleet(t);
  const { manager, self } = worker.engine;
  const why = 'has no connection "shop" in its config';
  await manager.noteLacks(self, [{ workflow: 'orders', connection: 'shop', why }]);
  const visitor = await Visitor.byLink(served.loginUrl('ada'));
  await visitor.go('/workers');
  await visitor.sees(`It ${why}: it takes nothing of orders.`);
  await visitor.sees('at odds');
  assert.deepEqual(await violations(visitor.page), []);
});

onPostgres('whoever may answer may cordon, and only whoever may do everything may drain', async (t) => {
  const { served, folder } = await openFleet(t);
  const owner = readFileSync(join(folder, 'desk', 'token'), 'utf8').trim();
  for (const [scope, offered] of [
    ['read', []],
    ['operate', ['Cordon hand-1']],
  ] as const) {
    const answer = await fetch(`${served.url}/api/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner}`, 'x-pawl-by': 'ada', 'content-type': 'application/json' },
      body: JSON.stringify({ name: scope, scopes: [scope] }),
    });
    const { secret } = (await answer.json()) as { secret: string };
    const visitor = await Visitor.withToken(served.url, secret, { path: '/workers' });
    await visitor.sees('hand-1');
    const buttons = await visitor.button(/Cordon|Drain/).allTextContents();
    assert.deepEqual(buttons, offered, scope);
  }
});
