import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Moment, within } from './within.ts';

const never = new Promise<string>(() => undefined);

test('what comes in time is handed on, and what does not is left out', async () => {
  assert.equal(await within(60_000, Promise.resolve('here')), 'here');
  assert.equal(await within(0, never), undefined);
});

test('several things share a moment: what is awaited when it is over is not waited for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const moment = new Moment(25);
  t.after(() => moment.end());
  assert.equal(await moment.within(Promise.resolve('here')), 'here');
  const late = moment.within(never);
  t.mock.timers.tick(25);
  assert.equal(await late, undefined);
  assert.equal(await moment.within(never), undefined);
});
