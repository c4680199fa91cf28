import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Collector } from './collector.ts';

function heard(url: string) {
  const lines: string[] = [];
  const collector = new Collector(url, 'spans', {
    say: (text) => lines.push(`info ${text}`),
    warn: (text) => lines.push(`warn ${text}`),
  });
  return { collector, lines };
}

test('a collector that is away is told of once with its address, and once when it is back', () => {
  const { collector, lines } = heard('http://127.0.0.1:4318/v1/traces?key=hunter2');
  collector.answered(true);
  const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:4318') });
  for (let times = 0; times < 3; times++) collector.failed(refused);
  collector.answered(true);
  collector.answered(true);
  assert.deepEqual(lines, [
    'warn spans cannot be sent to http://127.0.0.1:4318/v1/traces: connect ECONNREFUSED 127.0.0.1:4318',
    'info the collector is back: spans are sent again',
  ]);
});

test('an address with a password, or that is none, is not told again', () => {
  for (const [url, says] of [
    ['http://ada:hunter2@127.0.0.1:4318/', /to http:\/\/127\.0\.0\.1:4318\/: its address has a user and a password/],
    ['hunter2 is no address', /to the collector: that is no URL$/],
  ] as const) {
    const { collector, lines } = heard(url);
    collector.failed(new TypeError(`cannot be fetched: ${url}`));
    assert.match(lines.join(), says);
    assert.doesNotMatch(lines.join(), /hunter2/);
  }
});
