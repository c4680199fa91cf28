import assert from 'node:assert/strict';
import { closeAll } from '../../../test/support/follower.ts';
import { borrowDatabase, onPostgres } from '../../../test/support/postgres-world.ts';
import { PostgresConnection } from './connection.ts';

onPostgres('what fails each time it is prepared leaves nothing prepared', async (t) => {
  const { database, giveBack } = await borrowDatabase();
  const connection = await PostgresConnection.open(database.url, 'DATABASE_URL');
  t.after(() => closeAll(() => connection.close(), giveBack));
  const statement = { name: 'divide', text: 'SELECT 1 / $1::integer', values: [0] };
  for (let i = 0; i < 5; i++) await assert.rejects(connection.flight([statement]), /division by zero/);
  const [prepared] = await connection.flight([
    { text: `SELECT count(*) FROM pg_prepared_statements WHERE name LIKE '%divide'` },
  ]);
  assert.deepEqual(prepared?.rows, [[0]]);
});
