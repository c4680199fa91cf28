import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Fleet, missingFor } from './fleet.ts';

// How much may be under way at once, over real processes.

const MAX = 2;
const NAMES = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox'];
const options = { timeout: 240_000, skip: missingFor() };
let fleet: Fleet;
before(async () => {
  if (missingFor() === false) fleet = await Fleet.open({ callMs: 60_000, limits: { connections: { shop: MAX } } });
});
after(() => fleet?.close());

test(
  'no more sessions use a connection at once than the config allows, and nobody is forgotten',
  options,
  async (t) => {
    const { service } = fleet;
    await fleet.executor();
    await fleet.executor();
    for (const name of NAMES) await fleet.deploy(name);
    await fleet.worker();
    await fleet.worker();
    for (const name of NAMES) service.heldLooks.add(name);
    const looking = () => NAMES.filter((name) => service.has('look', name));

    await t.test('two are under way, the others say what they wait for', async () => {
      for (const name of NAMES) await fleet.order(name, name);
      await fleet.until('two are looking', () => looking().length === MAX);
      await fleet.until('the others wait', async () => {
        const open = await fleet.reader.table('executions');
        return open.filter(({ waitsFor }) => waitsFor === 'connection:shop').length === NAMES.length - MAX;
      });
      assert.equal(looking().length, MAX);
      const { out } = await fleet.must('status');
      assert.match(out, /waiting for room: 2 of at most 2 sessions that use shop are under way/);
      const doctor = JSON.parse((await fleet.must('doctor', '--json')).out) as {
        warnings: { about: string; says: string }[];
      };
      const [warning] = doctor.warnings.filter(({ about }) => about === 'limit connection:shop');
      assert.match(warning?.says ?? '', /2 of at most 2 sessions that use shop are under way; 4 workflows wait/);
    });

    await t.test('each that ends lets the next one in, at once', async () => {
      for (let done = 0; done < NAMES.length; done++) {
        assert.ok(looking().length <= done + MAX, `${looking().length} have begun when ${done} are done`);
        const next = looking().find((name) => service.heldLooks.has(name));
        assert.ok(next);
        service.release(next);
        const began = Date.now();
        const expected = Math.min(NAMES.length, done + 1 + MAX);
        await fleet.until('the next one begins', () => looking().length >= expected);
        t.diagnostic(`the next one began after ${Date.now() - began} ms`);
      }
      await fleet.settled(NAMES);
      assert.equal(await fleet.reader.slotsTaken('connection:shop'), 0);
    });
  },
);
