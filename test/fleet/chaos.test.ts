import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chaos } from './chaos.ts';
import { missingFor, TRANSPORTS } from './fleet.ts';

const SEED = 20_261_116;
const ROUNDS = 10;

for (const over of TRANSPORTS)
  test(`two executors and three workers in chaos, over ${over}: every order is booked once, and nothing is stuck`, {
    timeout: 300_000,
    skip: missingFor(over),
  }, async (t) => {
    const chaos = await Chaos.open(SEED, over);
    t.after(() => chaos.close());
    for (let i = 0; i < ROUNDS; i++) await chaos.round();
    await chaos.end();
    if (over === 'NATS') assert.ok((await chaos.taken()) > 0, 'nothing went over NATS');
  });
