import assert from 'node:assert/strict';
import { joinFleet } from '#execution';
import { Switchboard } from '#store';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

onPostgres('whatever anybody calls on our channel, a process looks at its rows and goes on', async (t) => {
  const { database, giveBack } = await borrowDatabase();
  const member = await joinFleet({ url: database.url, role: 'both', name: 'one', pool: 'default' });
  const stranger = await Switchboard.open({ url: database.url, hear: () => undefined, missed: () => undefined });
  t.after(async () => {
    await stranger.close();
    await member.engine.close();
    await giveBack();
  });
  for (const call of ['garbage', 'null', '[]', '"text"', '{"from":7}', '{"from":"other","changes":"all"}']) {
    const looked = new Promise<void>((resolve) => {
      const stop = member.engine.listenDue(() => {
        stop();
        resolve();
      });
    });
    await stranger.call(call);
    await looked;
  }
  assert.equal((await member.engine.reader.unendedWorkers()).length, 1);
});
