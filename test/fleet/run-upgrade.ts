// `npm run test:upgrade [-- --orders 50 --seed 7 --from COMMIT]`: a fleet of the version before the tables last changed, or of another,
// becomes one of this version.

import { parseArgs } from 'node:util';
import { bringOldVersion } from './old-version.ts';
import { Upgrade } from './upgrade.ts';

const { values } = parseArgs({
  options: { orders: { type: 'string' }, seed: { type: 'string' }, from: { type: 'string' } },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const ordersAStep = Number(values.orders ?? 50);
const say = (text: string) => process.stdout.write(`${text}\n`);

const old = bringOldVersion(values.from);
if (old === undefined) {
  say('there is no history here to take an old version from');
  process.exit(1);
}
say(`from ${old.commit} to what is here, ${ordersAStep} orders between two steps, seed ${seed}`);
let upgrade: Upgrade | undefined;
try {
  upgrade = await Upgrade.open(old, { seed, ordersAStep, say });
  await upgrade.run();
  say(`${upgrade.orders.length} orders, each booked once`);
} finally {
  await upgrade?.close();
  old.remove();
}
