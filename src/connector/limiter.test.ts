import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLimiter } from './limiter.ts';

const never = new AbortController().signal;
const clock = { now: () => Date.now() };

test('a rate is kept: a burst goes at once, the rest as the bucket fills', async () => {
  const limiter = createLimiter({ concurrency: 100, ratePerSecond: 50, burst: 3, clock });
  const startedAt = performance.now();
  for (let i = 0; i < 3; i++) (await limiter.acquire(never)).release();
  const burstMs = performance.now() - startedAt;
  for (let i = 0; i < 5; i++) (await limiter.acquire(never)).release();
  const allMs = performance.now() - startedAt;
  assert.ok(burstMs < 50, `${burstMs}`);
  assert.ok(allMs >= 90, `${allMs}`);
});

test('a clock that steps back neither blocks the connection nor opens it', async () => {
  let now = 1_000_000;
  const limiter = createLimiter({ concurrency: 1, ratePerSecond: 100, burst: 1, clock: { now: () => now } });
  (await limiter.acquire(never)).release();
  now -= 500_000;
  const next = limiter.acquire(never);
  now += 20;
  (await next).release();
});

test('releasing a slot twice frees one place, not two', async () => {
  const limiter = createLimiter({ concurrency: 1, ratePerSecond: undefined, burst: 1, clock });
  const slot = await limiter.acquire(never);
  slot.release();
  slot.release();
  await limiter.acquire(never);
  const stop = new AbortController();
  const third = limiter.acquire(stop.signal);
  stop.abort();
  await assert.rejects(third, /stopped while it waited/);
});

test('without waiting there is a place only where nobody waits, none is missing and the rate allows it', async () => {
  let now = 0;
  const limiter = createLimiter({ concurrency: 2, ratePerSecond: 1, burst: 3, clock: { now: () => now } });
  const first = limiter.acquireNow();
  const second = limiter.acquireNow();
  assert.ok(first && second);
  assert.equal(limiter.acquireNow(), undefined, 'both places are taken');
  first.release();
  const third = limiter.acquireNow();
  assert.ok(third);
  third.release();
  assert.equal(limiter.acquireNow(), undefined, 'the burst is used up');
  now += 1_000;
  assert.ok(limiter.acquireNow());
});

test('a place for a call that was never made does not count for the rate', () => {
  const limiter = createLimiter({ concurrency: 1, ratePerSecond: 1, burst: 1, clock: { now: () => 0 } });
  for (let i = 0; i < 3; i++) {
    const slot = limiter.acquireNow();
    assert.ok(slot);
    slot.giveBack();
    slot.giveBack();
  }
  limiter.acquireNow()?.release();
  assert.equal(limiter.acquireNow(), undefined);
});
