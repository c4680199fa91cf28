import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PawlError, StoreUnavailableError } from '#base';
import { Outage } from './outage.ts';

const away = new StoreUnavailableError({ code: 'store-unreachable', message: 'it is away', why: '', next: [] });

class Place {
  readonly said: string[] = [];
  now = 0;
  isUp = true;
  readonly outage: Outage;
  readonly #timers: TestContext['mock']['timers'];

  constructor(t: TestContext) {
    t.mock.timers.enable({ apis: ['setInterval'] });
    this.#timers = t.mock.timers;
    const log = {
      error: (error: unknown) => void this.said.push(error instanceof Error ? error.message : String(error)),
      say: (text: string) => void this.said.push(text),
    };
    this.outage = new Outage(log, () => this.now);
    this.outage.watch(() => this.isUp);
    t.after(() => this.outage.close());
  }

  /** So many seconds, with an error in each if it is asked for. */
  pass(seconds: number, error?: unknown): void {
    for (let second = 0; second < seconds; second++) {
      if (error !== undefined) this.outage.error(error);
      this.now += 1_000;
      this.#timers.tick(1_000);
    }
  }

  told(): string[] {
    return this.said.splice(0);
  }
}

test('an outage is told when it begins, once a minute, and when it is over', (t) => {
  const place = new Place(t);
  place.isUp = false;
  place.pass(60, away);
  assert.deepEqual(place.told(), ['it is away']);
  place.pass(61, away);
  assert.deepEqual(place.told(), ['it is away', 'it is away']);
  place.isUp = true;
  place.pass(2);
  assert.deepEqual(place.told(), [
    'the store takes writes again, after 2 min; 118 errors like the first were left out',
  ]);
  place.isUp = false;
  place.pass(3, away);
  assert.deepEqual(place.told(), ['it is away'], 'the next one is another');
  place.isUp = true;
  place.pass(5);
  assert.deepEqual(place.told(), ['the store takes writes again, after 4 s; 2 errors like the first were left out']);
  place.pass(5);
  assert.deepEqual(place.told(), []);
});

test('it is not over while anybody still fails, and what never was an outage is not told to be over', (t) => {
  const place = new Place(t);
  place.isUp = false;
  place.pass(2, away);
  place.told();
  place.isUp = true;
  for (let i = 0; i < 10; i++) {
    place.now += 500;
    place.outage.error(away);
  }
  assert.deepEqual(place.told(), []);
  place.pass(2);
  assert.equal(place.told().length, 1);
  for (let i = 0; i < 10; i++) {
    place.outage.error(away);
    place.pass(5);
  }
  assert.deepEqual(place.told(), ['it is away'], 'the engine had its store all the time');
});

test('every other error is told as it comes', (t) => {
  const place = new Place(t);
  const other = new PawlError({ code: 'nats-away', message: 'NATS is away', why: '', next: [] });
  place.isUp = false;
  place.pass(2, away);
  for (const error of [other, new Error('a bug'), other]) place.outage.error(error);
  assert.deepEqual(place.told(), ['it is away', 'NATS is away', 'a bug', 'NATS is away']);
});
