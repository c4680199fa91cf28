import { test } from 'node:test';
import { findPostgres } from '../support/postgres-server.ts';
import { bringOldVersion } from './old-version.ts';
import { Upgrade } from './upgrade.ts';

const SEED = 20_261_116;

test('a fleet is upgraded process by process under load: nothing is lost, nothing is done twice', {
  timeout: 300_000,
  skip: findPostgres() === undefined ? 'there is no PostgreSQL here' : false,
}, async (t) => {
  const old = bringOldVersion();
  if (old === undefined) return t.skip('there is no history here to take an old version from');
  t.after(() => old.remove());
  const upgrade = await Upgrade.open(old, { seed: SEED, ordersAStep: 4, say: (text) => t.diagnostic(text) });
  t.after(() => upgrade.close());
  await upgrade.run();
  t.diagnostic(`${upgrade.orders.length} orders over an upgrade from ${old.commit.slice(0, 9)}, each booked once`);
});
