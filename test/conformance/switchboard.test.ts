import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Switchboard } from '#store';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { onPostgres } from '../support/postgres-world.ts';

/** Only it is connected to this database. */
const LINES = `SELECT count(*) FROM pg_stat_activity WHERE datname = 'pawl' AND pid <> pg_backend_pid()`;

onPostgres('however often a line is cut, there is one, and none when it is hung up', async (t) => {
  const server = await startOwnPostgres();
  await server.createDatabase('pawl');
  let missed = 0;
  const switchboard = await Switchboard.open({
    url: server.url('pawl'),
    hear: () => undefined,
    missed: () => {
      missed += 1;
    },
  });
  t.after(async () => {
    await switchboard.close();
    await server.stop();
  });
  const lines = async (): Promise<number> => Number((await server.query('pawl', LINES))[0]?.[0]);
  for (let cut = 1; cut <= 3; cut++) {
    const before = missed;
    // Whoever calls while there is no line, or while one is being opened, asks for one too.
    const calls = setInterval(() => switchboard.call('x').catch(() => undefined), 1);
    await server.kill('SIGKILL');
    await server.start();
    while (missed === before) await sleep(20);
    await sleep(300);
    clearInterval(calls);
    assert.equal(await lines(), 1, `after cut ${cut}`);
  }
  await switchboard.close();
  for (let looks = 0; looks < 1_000 && (await lines()) > 0; looks++) await sleep(20);
  assert.equal(await lines(), 0);
});
