import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DroppingProxy } from './dropping-proxy.ts';
import { Fleet, missingFor } from './fleet.ts';

// Processes whose clocks are twenty minutes apart, and one that is cut off from the database while its call is out.

const TEN_MINUTES = 600_000;
const options = { timeout: 240_000, skip: missingFor() };
let fleet: Fleet;
before(async () => {
  if (missingFor() === false) fleet = await Fleet.open();
});
after(() => fleet?.close());

test('clocks and networks that are apart', options, async (t) => {
  const { service } = fleet;
  await fleet.executor({ clockMs: TEN_MINUTES });
  for (const name of ['clocks', 'network', 'mid']) await fleet.deploy(name);

  await t.test('an executor ten minutes ahead and a worker ten minutes behind work together at once', async () => {
    const worker = await fleet.worker({ clockMs: -TEN_MINUTES });
    await fleet.order('clocks', 'c1', 'c2');
    await fleet.settled(['c1', 'c2']);
    assert.equal(
      (await fleet.reader.table('executions')).some(({ status }) => status === 'abandoned'),
      false,
    );
    assert.equal((await worker.end('SIGTERM')).code, 0);
  });

  await t.test('a worker cut off from the database while its call is out: taken over, and booked once', async () => {
    const proxy = await DroppingProxy.ofDatabase(fleet.server.folder);
    t.after(() => proxy.close());
    const cutOff = await fleet.worker({ url: proxy.databaseUrl('fleet') });
    service.treatments.set('n1', 'hold');
    await fleet.order('network', 'n1');
    await fleet.until('it is called', () => service.has('call', 'n1'));
    proxy.drop();
    service.release('n1');
    await fleet.worker();
    await fleet.settled(['n1']);
    proxy.heal();
    await fleet.order('network', 'n2');
    await fleet.settled(['n2']);
    assert.equal(cutOff.isOver, false, cutOff.said);
  });

  await t.test('a cancel in mid-mutation awaits the answer, keeps it, and books nothing again', async () => {
    service.treatments.set('m1', 'hold');
    await fleet.order('mid', 'm1');
    await fleet.until('it is called', () => service.has('call', 'm1'));
    await fleet.must('cancel', 'mid');
    service.release('m1');
    await fleet.until('it is cancelled', async () => {
      return (await fleet.reader.table('executions')).some(({ status }) => status === 'cancelled');
    });
    await fleet.must('run', 'mid');
    await fleet.settled(['m1']);
  });
});
