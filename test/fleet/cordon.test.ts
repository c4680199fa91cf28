import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet, LEASE_MS, missingFor } from './fleet.ts';

// What people ask of real processes: nothing new for now, or finish and end.

const options = { timeout: 240_000, skip: missingFor() };
let fleet: Fleet;
before(async () => {
  if (missingFor() === false) fleet = await Fleet.open({ callMs: 30_000 });
});
after(() => fleet?.close());

interface Shown {
  readonly items: readonly { readonly id: string; readonly name: string; readonly [key: string]: unknown }[];
}

const shown = async (name: string) => {
  const { out } = await fleet.must('workers', '--json');
  return (JSON.parse(out) as Shown).items.find((item) => item.name === name);
};

const mustShow = async (name: string) => {
  const item = await shown(name);
  assert.ok(item, `${name} is listed`);
  return item;
};

const ownerOf = async (id: string) => {
  const event = (await fleet.reader.table('events')).find(({ messageId }) => messageId === id);
  const executions = await fleet.reader.table('executions');
  return executions.findLast(({ workflowId }) => workflowId === event?.workflowId)?.owner;
};

test('workers are cordoned and drained', options, async (t) => {
  const { service } = fleet;
  await fleet.executor();
  const names = ['one', 'two', 'three', 'four'];
  for (const name of names) await fleet.deploy(name);
  const first = await fleet.worker({ name: 'first' });

  await t.test('the list says what each is, what it does and what it takes', async () => {
    const { version, concurrency, state, status, load } = await mustShow('first');
    assert.deepEqual([concurrency, state, status, load], [8, 'alive', 'open', 0]);
    assert.match(String(version), /^\d+\.\d+\.\d+/);
    const { out } = await fleet.must('workers');
    assert.match(out, /first +default +\S+ +alive +0\/8/);
  });

  await t.test('a cordoned worker takes nothing, and others do', async () => {
    const second = await fleet.worker({ name: 'second' });
    const secondId = (await shown('second'))?.id;
    assert.match(
      (await fleet.must('cordon', 'first')).out,
      /first is cordoned: it finishes what it has, and claims nothing/,
    );
    for (const [i, name] of names.entries()) await fleet.order(name, `c${i}`);
    await fleet.settled(names.map((_, i) => `c${i}`));
    for (const [i] of names.entries()) assert.equal(await ownerOf(`c${i}`), secondId, `c${i}`);
    assert.equal((await second.end('SIGTERM')).code, 0);
  });

  await t.test('what nobody may take waits, and is taken when it is opened again', async () => {
    await fleet.order('one', 'waits');
    await fleet.until('it is handed off', async () => (await fleet.reader.handOffs(10)).length > 0);
    await sleep(LEASE_MS);
    assert.equal((await fleet.reader.handOffs(10)).length, 1, 'a cordoned worker left it where it is');
    const { id } = await mustShow('first');
    const { out } = await fleet.must('status');
    assert.match(out, /one: waiting for a worker of pool default \(for \d+ s\): each is cordoned/);
    assert.ok(out.includes(`next: pawl uncordon ${id}   (let first take work again)`), out);
    assert.match((await fleet.type('trigger', 'one')).err, /is running already/);
    await fleet.must('uncordon', id);
    await fleet.settled(['waits']);
  });

  await t.test('a draining worker finishes its call though that outlasts its lease, and ends', async () => {
    service.treatments.set('d1', 'hold');
    await fleet.order('two', 'd1');
    await fleet.until('it is called', () => service.has('call', 'd1'));
    await fleet.worker({ name: 'other' });
    await fleet.must('drain', 'first');
    await sleep(LEASE_MS * 2);
    const { state, status, load } = await mustShow('first');
    assert.deepEqual([state, status, load], ['alive', 'draining', 1]);
    assert.equal(first.isOver, false, first.said);
    service.release('d1');
    assert.equal((await first.ended).code, 0, first.said);
    await fleet.settled(['d1']);
    const ends = (await fleet.reader.table('executions')).map(({ status: end }) => end);
    assert.equal(ends.includes('abandoned'), false);
    assert.equal(await shown('first'), undefined);
  });

  await t.test('what is not there, is not one, or only hands off, is refused in words', async () => {
    const nobody = await fleet.type('drain', 'nobody');
    assert.notEqual(nobody.code, 0);
    assert.match(nobody.err, /there is no worker "nobody"/);
    await fleet.worker({ name: 'twin' });
    await fleet.worker({ name: 'twin' });
    assert.match((await fleet.type('cordon', 'twin')).err, /2 workers are called "twin"/);
    assert.match((await fleet.type('cordon', 'executor-1')).err, /it only hands work off/);
  });
});
