import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { StoreUnavailableError } from '#base';
import { joinFleet } from '#execution';
import { openPostgresStore } from '#store';
import { onPostgres, sharedServer } from '../support/postgres-world.ts';

/** As docs/operations.md says, and the error of a server that has none left. */
const OF_A_PROCESS = 5;

/** A database of an ordinary user's own: only such a one is held to a limit. */
async function ordinary(t: TestContext) {
  const server = await sharedServer();
  const user = `plain_${process.pid}`;
  await server.query('postgres', `CREATE ROLE ${user} LOGIN`);
  await server.createDatabase(user);
  await server.query('postgres', `ALTER DATABASE ${user} OWNER TO ${user}`);
  await server.query(user, `GRANT ALL ON SCHEMA public TO ${user}`);
  t.after(async () => {
    await server.dropDatabase(user);
    await server.query('postgres', `DROP ROLE ${user}`);
  });
  const url = server.url(user).replace(/user=\w+/, `user=${user}`);
  await (await openPostgresStore({ url })).close();
  const taken = async (): Promise<number> => {
    const [[count]] = (await server.query(
      'postgres',
      `SELECT count(*)::int FROM pg_stat_activity WHERE usename = '${user}'`,
    )) as [[number]];
    return count;
  };
  return {
    url,
    taken,
    limit: (max: number) => server.query('postgres', `ALTER ROLE ${user} CONNECTION LIMIT ${max}`),
    /** A server takes a moment to see that somebody has gone. */
    async untilNobodyIsThere() {
      const giveUpAt = performance.now() + 60_000;
      while ((await taken()) > 0) {
        assert.ok(performance.now() < giveUpAt, 'connections were kept');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

onPostgres('a process that finds too few connections says so, and keeps none of them', async (t) => {
  const { url, taken, limit, untilNobodyIsThere } = await ordinary(t);
  const join = () => joinFleet({ url, role: 'both', name: 'one', pool: 'default' });
  for (let max = 1; max < OF_A_PROCESS; max++) {
    await untilNobodyIsThere();
    await limit(max);
    await assert.rejects(join(), (error: unknown) => {
      assert.ok(error instanceof StoreUnavailableError, String(error));
      assert.equal(error.code, 'store-no-connection');
      assert.match(error.message, /has no connection left for us/);
      assert.match(error.why, /too many connections for role/);
      assert.match(error.next[0]?.label ?? '', new RegExp(`max_connections .* each process takes ${OF_A_PROCESS}`));
      return true;
    });
  }
  await untilNobodyIsThere();
  await limit(OF_A_PROCESS);
  const { engine } = await join();
  assert.equal(await taken(), OF_A_PROCESS);
  await engine.close();
  await untilNobodyIsThere();
});
