import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { DatabaseClock } from './database-clock.ts';

const AHEAD_MS = 600_000;

/** A database ahead of this machine, asked over a way whose answers wait for so long before they are heard. */
function asked(t: { after(end: () => void): void }, waitsMs: number[]) {
  mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 });
  let steady = 5_000;
  const performed = mock.method(performance, 'now', () => steady);
  t.after(() => {
    mock.timers.reset();
    performed.mock.restore();
  });
  const pass = (ms: number): void => {
    steady += ms;
    mock.timers.setTime(Date.now() + ms);
  };
  const truth = () => Date.now() + AHEAD_MS;
  const clock = new DatabaseClock({
    now: () => {
      pass(2);
      const at = truth();
      pass(waitsMs.shift() ?? 2);
      return Promise.resolve(at);
    },
  });
  return { clock, truth, pass };
}

test('the time of the database is told between two questions', async (t) => {
  const { clock, truth, pass } = asked(t, []);
  await clock.set();
  assert.ok(Math.abs(clock.now() - truth()) <= 2);
  pass(5_000);
  assert.ok(Math.abs(clock.now() - truth()) <= 2);
});

test('a process that stood still before it heard the answer asks again', async (t) => {
  const { clock, truth } = asked(t, [90_000]);
  await clock.set();
  assert.ok(Math.abs(clock.now() - truth()) <= 2, `off by ${clock.now() - truth()} ms`);
});

test('where every answer is long on its way the clock is never behind: what is over does not seem to have time left', async (t) => {
  const { clock, truth } = asked(t, [3_000, 3_000, 3_000, 3_000]);
  await clock.set();
  const aheadMs = clock.now() - truth();
  assert.ok(aheadMs >= 0 && aheadMs <= 3_002, `off by ${aheadMs} ms`);
});
