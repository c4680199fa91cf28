import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { onKillPoint } from '#base';
import { besideSql } from '../support/beside-sql.ts';
import { deploy, ORDERS, PERSON, placed } from '../support/fixture.ts';
import { onPostgres } from '../support/postgres-world.ts';

// Somebody who is none of us holds the row of one workflow: the others go on.

async function open(t: TestContext) {
  const { client, store, manager } = await besideSql(t);
  const held = await deploy(manager, 'held', { ...ORDERS, producers: [] });
  const free = await deploy(manager, 'free', { ...ORDERS, producers: [] });
  return { client, store, manager, held, free };
}

onPostgres('a workflow in other hands keeps nobody else waiting, and its own commands keep their order', async (t) => {
  const { client, store, manager, held, free } = await open(t);
  const order: string[] = [];
  const publish = async (workflow: typeof held, id: string): Promise<void> => {
    await manager.publishEvents(workflow, [placed(id)], PERSON);
    order.push(id);
  };
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM workflows WHERE id = $1 FOR UPDATE', [held]);
  const waiting = Array.from({ length: 100 }, (_, i) => publish(held, `held ${i}`));
  await sleep(300);
  const trips = store.roundTrips;
  const startedAt = performance.now();
  for (let i = 0; i < 10; i++) await publish(free, `free ${i}`);
  const ms = performance.now() - startedAt;
  assert.ok(ms < 8_000, `ten that had nothing to do with it took ${ms} ms`);
  assert.equal(order.length, 10, 'nothing of the other was written');
  assert.ok(store.roundTrips - trips < 200, 'and nobody asked all the time');
  await client.query('ROLLBACK');
  await Promise.all(waiting);
  assert.deepEqual(
    order.slice(10),
    Array.from({ length: 100 }, (_, i) => `held ${i}`),
  );
});

onPostgres('what stays in other hands is refused by itself, and goes well when it is asked for again', async (t) => {
  const { client, manager, held, free } = await open(t);
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM workflows WHERE id = $1 FOR UPDATE', [held]);
  const startedAt = performance.now();
  await assert.rejects(manager.publishEvents(held, [placed('1')], PERSON), { code: 'store-busy', retryable: true });
  const seconds = (performance.now() - startedAt) / 1_000;
  assert.ok(seconds > 14 && seconds < 30, `given up after ${seconds} s`);
  await manager.publishEvents(free, [placed('1')], PERSON);
  await client.query('ROLLBACK');
  await manager.publishEvents(held, [placed('1')], PERSON);
});

onPostgres(
  'where a batch is gone through one by one, those in other hands keep their order and nobody else waiting',
  async (t) => {
    const { client, store, manager, held, free } = await open(t);
    const order: string[] = [];
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM workflows WHERE id = $1 FOR UPDATE', [held]);
    const ids = Array.from({ length: 50 }, (_, i) => `held ${i}`);
    const startedAt = performance.now();
    const first = new Promise<void>((resolve) => onKillPoint((point) => point === 'after-commit' && resolve()));
    const others = manager.publishEvents(free, [placed('free')], PERSON);
    const waiting = ids.map((id) => manager.publishEvents(held, [placed(id)], PERSON).then(() => order.push(id)));
    // The database refuses the second of one name, so that each is tried by itself.
    const twins = Promise.allSettled([manager.createWorkflow('twin', PERSON), manager.createWorkflow('twin', PERSON)]);
    await first;
    onKillPoint(undefined);
    // Some of those that are held have been tried, the others have not.
    for (const trips = store.roundTrips; store.roundTrips < trips + 6; )
      await new Promise((resolve) => setImmediate(resolve));
    await client.query('ROLLBACK');
    assert.deepEqual(
      (await twins).map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
    await others;
    const ms = performance.now() - startedAt;
    assert.ok(ms < 5_000, `those who had nothing to do with it took ${ms} ms`);
    await Promise.all(waiting);
    assert.deepEqual(order, ids);
  },
);
