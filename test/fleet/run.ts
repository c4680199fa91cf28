// `npm run test:fleet [-- --rounds 500 --seed 7 --nats]`: chaos for as many rounds, with a word every ten.

import { parseArgs } from 'node:util';
import { Chaos } from './chaos.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string' }, seed: { type: 'string' }, nats: { type: 'boolean' } },
});
const rounds = Number(values.rounds ?? 500);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const over = values.nats === true ? 'NATS' : 'the database';
const say = (text: string) => process.stdout.write(`${text}\n`);

say(`${rounds} rounds with seed ${seed}, messages over ${over}`);
const chaos = await Chaos.open(seed, over);
try {
  for (let round = 1; round <= rounds; round++) {
    await chaos.round();
    if (round % 10 === 0) say(`${round} rounds, ${chaos.orders.length} orders`);
  }
  await chaos.end();
  say(
    `${chaos.orders.length} orders, each booked once; ${[...chaos.told].map(([fault, n]) => `${fault} ${n}`).join(', ')}`,
  );
  if (over === 'NATS') say(`${await chaos.taken()} handoffs came over NATS since it last came back with nothing`);
} finally {
  await chaos.close();
}
