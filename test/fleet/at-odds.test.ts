import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Fleet, missingFor } from './fleet.ts';

// A worker whose config or key is not that of the others: it leaves what it cannot do to them, and is named for it.

const options = { timeout: 240_000, skip: missingFor() };
const KEY = '11'.repeat(32);
const OTHER_KEY = '22'.repeat(32);
let fleet: Fleet;
let executor: Awaited<ReturnType<Fleet['executor']>>;
before(async () => {
  if (missingFor() !== false) return;
  fleet = await Fleet.open({ masterKey: KEY, shop: { auth: { bearer: { secret: 'shop-token' } } } });
});
after(() => fleet?.close());

interface Shown {
  readonly items: readonly { readonly name: string; readonly lacks: readonly string[] }[];
}

const lacksOf = async (name: string) => {
  const { items } = (await fleet.must('workers', '--json')).json<Shown>();
  return items.find((item) => item.name === name)?.lacks ?? [];
};

/** What a process said in its log of what it leaves to others. */
const warned = (said: string): string[] =>
  said
    .split('\n')
    .filter((line) => line.includes('it takes nothing of'))
    .map((line) => String((JSON.parse(line) as { msg: string }).msg));

/** Nothing is wrong with any workflow or connection; the runs that stopped, of this one. */
const stoppedOf = async (workflow: string) => {
  const [workflows, connections, runs] = await Promise.all([
    fleet.reader.table('workflows'),
    fleet.reader.table('connections'),
    fleet.reader.table('handler_runs'),
  ]);
  for (const { name, holds, maintenance } of workflows) assert.deepEqual([name, holds, maintenance], [name, [], false]);
  assert.deepEqual(
    connections.filter(({ refusedAt }) => refusedAt !== null),
    [],
    'no connection was marked for everybody',
  );
  const id = workflows.find(({ name }) => name === workflow)?.id;
  return runs.filter(({ workflowId, status }) => workflowId === id && status !== 'committed');
};

test('what a run meets all the same is tried again by others, and nobody else is blamed', options, async () => {
  executor = await fleet.executor();
  await fleet.deploy('early');
  // It joins before there is a secret that it could not open.
  const late = await fleet.worker({ name: 'late', env: { PAWL_MASTER_KEY: OTHER_KEY } });
  assert.deepEqual(await lacksOf('late'), []);
  assert.equal((await fleet.typeWith('open sesame', 'secret', 'set', 'shop-token')).code, 0);
  await fleet.order('early', 'first');
  await fleet.until('it knows what it lacks', async () => (await lacksOf('late')).length > 0);
  const [run, ...more] = await stoppedOf('early');
  assert.deepEqual([run?.status, more], ['paused:transient', []]);
  assert.equal(
    run?.error,
    'worker late could not make the call: the secret "shop-token" cannot be opened: it was sealed with another master key',
  );
  const whole = await fleet.worker({ name: 'whole' });
  await fleet.settled(['first']);
  assert.equal((await stoppedOf('early')).length, 1, 'once');
  for (const worker of [late, whole]) assert.equal((await worker.end('SIGTERM')).code, 0, worker.said);
});

for (const { what, name, started, lack } of [
  {
    what: 'without a connection in its config',
    name: 'bare',
    started: { hasEmptyConfig: true },
    lack: 'has no connection "shop" in its config',
  },
  {
    what: 'with another master key',
    name: 'stranger',
    started: { env: { PAWL_MASTER_KEY: OTHER_KEY } },
    lack: 'cannot open the secret "shop-token" of connection "shop": it was sealed with another master key',
  },
]) {
  test(`a worker ${what} takes nothing of what needs it, and is named`, options, async (t) => {
    const { service } = fleet;
    if (name === 'bare') {
      assert.equal((await fleet.type('archive', 'early')).code, 0);
      await fleet.deploy('orders');
    }
    const odd = await fleet.worker({ name, ...started });

    await t.test('before there is work: in its log, in the list of workers, and by doctor', async () => {
      await fleet.until('it has said so', async () => (await lacksOf(name)).length > 0);
      const sentence = `${lack}: it takes nothing of orders`;
      assert.deepEqual(await lacksOf(name), [sentence]);
      assert.ok((await fleet.must('workers')).out.includes(`\n${name} ${sentence}\n`));
      const doctor = await fleet.type('doctor');
      assert.equal(doctor.code, 1, doctor.err);
      assert.ok(doctor.out.includes(`: worker ${name} ${sentence}\n`), doctor.out);
      assert.deepEqual(warned(odd.said), [`this worker ${lack}: it takes nothing of orders, and leaves it to others`]);
    });

    await t.test('what only it could take waits, unharmed, and says for whom', async () => {
      await fleet.order('orders', `${name}-waits`);
      await fleet.until('it is handed off', async () => (await fleet.reader.handOffs(10)).length > 0);
      await fleet.until('it is said why nobody takes it', async () => {
        return (await fleet.must('status')).out.includes(`: ${name} ${lack}`);
      });
      const { out } = await fleet.must('status');
      assert.match(out, /orders: waiting for a worker of pool default \(for /);
      assert.ok(out.includes(`give ${name} what is missing, and start it again`), out);
      assert.deepEqual(await stoppedOf('orders'), [], 'it began nothing');
      assert.equal(service.has('look', `${name}-waits`), false);
    });

    await t.test('others take it, and all that comes', async () => {
      const whole = await fleet.worker({ name: `beside-${name}` });
      const ids = [`${name}-waits`, ...[1, 2, 3, 4, 5].map((i) => `${name}-${i}`)];
      await fleet.order('orders', ...ids.slice(1));
      await fleet.settled(ids);
      assert.deepEqual(await stoppedOf('orders'), []);
      assert.equal(warned(odd.said).length, 1, 'it says so once');
      assert.equal((await whole.end('SIGTERM')).code, 0);
    });
    assert.equal((await odd.end('SIGTERM')).code, 0, odd.said);
  });
}

test(
  'a process that does all of it hands off what it cannot take itself, also where it is alone',
  options,
  async () => {
    assert.equal((await executor.end('SIGTERM')).code, 0);
    const alone = await fleet.both({ name: 'alone', hasEmptyConfig: true });
    await fleet.order('orders', 'alone-1');
    await fleet.until('it is said why nobody takes it', async () => {
      return (await fleet.must('status')).out.includes(': alone has no connection "shop" in its config');
    });
    assert.deepEqual(await stoppedOf('orders'), []);
    const whole = await fleet.worker({ name: 'beside-alone' });
    await fleet.settled(['alone-1']);
    assert.deepEqual(await stoppedOf('orders'), []);
    for (const each of [whole, alone]) assert.equal((await each.end('SIGTERM')).code, 0, each.said);
  },
);
