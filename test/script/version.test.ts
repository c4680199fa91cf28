import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nextTick, nextVersion } from '#script';

describe('the next version', () => {
  const one = { major: 1, minor: 0, contentHash: 'a' };
  const two = { major: 1, minor: 9, contentHash: 'b' };
  const three = { major: 1, minor: 10, contentHash: 'c' };

  test('begins at 1.0', () => {
    assert.deepEqual(nextVersion([], { contentHash: 'a' }), { kind: 'new', version: { major: 1, minor: 0 } });
  });

  test('of other content is the next minor, or the next major when asked', () => {
    const next = { contentHash: 'd' };
    assert.deepEqual(nextVersion([three, one, two], next), { kind: 'new', version: { major: 1, minor: 11 } });
    assert.deepEqual(nextVersion([three, one], next, { major: true }), {
      kind: 'new',
      version: { major: 2, minor: 0 },
    });
  });

  test('of the same content is the same, even when it is not the newest or a major was asked for', () => {
    assert.deepEqual(nextVersion([one, two, three], { contentHash: 'b' }), { kind: 'known', version: two });
    assert.deepEqual(nextVersion([one], { contentHash: 'a' }, { major: true }), { kind: 'known', version: one });
    const again = { ...three, major: 2, minor: 0 };
    assert.equal(nextVersion([three, again], { contentHash: 'c' }).version, again);
  });
});

describe('the next tick', () => {
  const at = (text: string): number => new Date(text).getTime();

  test('of an interval comes when it has passed', () => {
    assert.equal(nextTick({ intervalMs: 5_000 }, 100), 5_100);
  });

  test('of a cron line is a time of day in its zone, whatever the clocks do', () => {
    const daily = { cron: '0 8 * * *', timeZone: 'Europe/Berlin' };
    assert.equal(nextTick(daily, at('2026-03-28T08:00:00Z')), at('2026-03-29T06:00:00Z'));
    assert.equal(nextTick(daily, at('2026-03-27T08:00:00Z')), at('2026-03-28T07:00:00Z'));
    assert.equal(nextTick(daily, at('2026-03-28T07:00:00Z')), at('2026-03-29T06:00:00Z'));
  });

  test('of a cron line that will not come again is none', () => {
    assert.equal(nextTick({ cron: '0 0 30 2 *', timeZone: 'UTC' }, 0), null);
  });
});
