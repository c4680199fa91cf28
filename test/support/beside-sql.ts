import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { monotonicIds, systemClock } from '#base';
import { openPostgresStore } from '#store';
import { closeAll, Follower } from './follower.ts';
import { borrowDatabase } from './postgres-world.ts';

/** A process at a database of its own, and beside it somebody with SQL. */
export async function besideSql(t: TestContext) {
  const { database, giveBack } = await borrowDatabase();
  const ids = monotonicIds(systemClock);
  const store = await openPostgresStore({ url: database.url });
  const follower = new Follower(store, systemClock, ids);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  t.after(() =>
    closeAll(
      () => client.end(),
      () => follower.close(),
      giveBack,
    ),
  );
  return { url: database.url, ids, store, client, manager: follower.manager };
}
