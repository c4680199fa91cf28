import { test } from 'node:test';
import { findPostgres } from '../support/postgres-server.ts';
import { Chaos } from './chaos.ts';

const SEED = 20_261_116;
const ROUNDS = 10;
const options = { timeout: 300_000, skip: findPostgres() === undefined ? 'there is no PostgreSQL here' : false };

test(
  'two executors and three workers in chaos: every order is booked once, and nothing is stuck',
  options,
  async (t) => {
    const chaos = await Chaos.open(SEED);
    t.after(() => chaos.close());
    for (let i = 0; i < ROUNDS; i++) await chaos.round();
    await chaos.end();
  },
);
