import assert from 'node:assert/strict';
import { StoreUnavailableError } from '#base';
import { joinFleet } from '#execution';
import { until } from '../kills/engine-process.ts';
import { OrdinaryUser } from '../support/ordinary-user.ts';
import { onPostgres } from '../support/postgres-world.ts';

/** As docs/operations.md says, and the error of a server that has none left. */
const OF_A_PROCESS = 5;

onPostgres('a process that finds too few connections says so, and keeps none of them', async (t) => {
  const user = await OrdinaryUser.make(t);
  const join = () => joinFleet({ url: user.url, role: 'both', name: 'one', pool: 'default' });
  // A server takes a moment to see that somebody has gone.
  const nobodyIsThere = () => until('no connection is kept', async () => (await user.connections()) === 0);
  for (let max = 1; max < OF_A_PROCESS; max++) {
    await nobodyIsThere();
    await user.mayConnect(max);
    await assert.rejects(join(), (error: unknown) => {
      assert.ok(error instanceof StoreUnavailableError, String(error));
      assert.equal(error.code, 'store-no-connection');
      assert.match(error.message, /has no connection left for us/);
      assert.match(error.why, /too many connections for role/);
      assert.match(error.next[0]?.label ?? '', new RegExp(`max_connections .* each process takes ${OF_A_PROCESS}`));
      return true;
    });
  }
  await nobodyIsThere();
  await user.mayConnect(OF_A_PROCESS);
  const { engine } = await join();
  assert.equal(await user.connections(), OF_A_PROCESS);
  await engine.close();
  await nobodyIsThere();
});
