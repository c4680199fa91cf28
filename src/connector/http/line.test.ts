import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLinePool } from './line.ts';

const ORIGIN = 'http://127.0.0.1:9';

test('lines that nobody may take any more are ended, not kept', (t) => {
  let now = 0;
  const pool = createLinePool({
    clock: { now: () => now },
    isTrusted: () => true,
    lookup: () => assert.fail('nothing is looked up'),
    ca: undefined,
  });
  t.after(() => pool.close());
  const old = [pool.take(ORIGIN, 'read'), pool.take(ORIGIN, 'read'), pool.take(ORIGIN, 'read')];
  for (const line of old) pool.giveBack(line);
  now = 1_000;
  const used = pool.take(ORIGIN, 'read');
  assert.ok(old.includes(used), 'one that was idle for a second is taken again');
  now = 2_500;
  pool.giveBack(used);
  assert.deepEqual(
    old.map((line) => [line === used, line.client.destroyed]).sort(),
    [
      [false, true],
      [false, true],
      [true, false],
    ],
    'all but the one that was in use',
  );
});
