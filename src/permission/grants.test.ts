import assert from 'node:assert/strict';
import { test } from 'node:test';
import { covers, isCovered, merged, missingFrom } from './grants.ts';
import { askSentence, grantSentence } from './words.ts';

test('a pattern takes in what is written, with any text for each star', () => {
  const within: [string, string][] = [
    ['*', ''],
    ['*', '/anything/at?all'],
    ['/a', '/a'],
    ['/a*', '/a'],
    ['/a*', '/a/b'],
    ['*.csv', 'x.csv'],
    ['/a*c', '/abc'],
    ['/a*b*c', '/a1b2b3c'],
    ['a*a', 'aa'],
    ['**', 'x'],
    ['/orders/*/refund', '/orders/7/refund'],
  ];
  for (const [pattern, target] of within) assert.ok(covers(pattern, target), `${pattern} takes in ${target}`);
  const outside: [string, string][] = [
    ['/a', '/ab'],
    ['/a', '/A'],
    ['/a*', '/b/a'],
    ['a*a', 'a'],
    ['/a*c', '/ab'],
    ['/a*b*c', '/acb'],
    ['ab*ba', 'aba'],
    ['', 'x'],
    ['/orders/*/refund', '/orders/refund'],
  ];
  for (const [pattern, target] of outside) assert.ok(!covers(pattern, target), `${pattern} does not take in ${target}`);
});

test('a pattern takes in another one only if it takes in all of it', () => {
  assert.ok(covers('/a*', '/a/b*'));
  assert.ok(covers('*', '/a*'));
  assert.ok(!covers('/a/b*', '/a*'));
  assert.ok(!covers('/a*c', '/a*'));
});

const grant = (method: string, targets: string[], capPerHour: number | null = null) => ({
  connection: 'shop',
  method,
  targets,
  capPerHour,
});
const ask = (method: string, ...targets: string[]) => ({ connection: 'shop', method, targets });

test('what is missing is only what is missing', () => {
  const grants = [grant('post', ['/a*', '/b']), grant('get', ['*'])];
  assert.deepEqual(missingFrom(grants, [ask('post', '/a/1', '/b'), ask('get', '/x*')]), []);
  assert.deepEqual(missingFrom(grants, [ask('post', '/a/1', '/c'), ask('put', '*')]), [
    ask('post', '/c'),
    ask('put', '*'),
  ]);
  assert.ok(isCovered(grants, ask('post', '/a/1')));
  assert.ok(!isCovered(grants, ask('post', '/a/1', '/c')));
  assert.ok(!isCovered(grants, ask('patch', '/a')));
  assert.ok(!isCovered([], ask('get', '/a')));
});

test('what was allowed stays, with its cap, and what another pattern takes in is left out', () => {
  const grants = [grant('post', ['/a', '/b'], 10)];
  assert.deepEqual(merged(grants, [ask('post', '/c')]), [grant('post', ['/a', '/b', '/c'], 10)]);
  assert.deepEqual(merged(grants, [ask('post', '*')]), [grant('post', ['*'], 10)]);
  assert.deepEqual(merged([], [ask('get', '/x', '/x')]), [grant('get', ['/x'])]);
});

test('a person reads it as a sentence', () => {
  assert.equal(
    grantSentence(grant('post', ['/bookings', '/refunds'], 1_000), 'change'),
    'may change things at shop (post): /bookings, /refunds, at most 1,000 an hour',
  );
  assert.equal(grantSentence(grant('get', ['*']), 'read'), 'may read from shop (get): anything there');
  assert.equal(askSentence(ask('put', '/x*'), 'change'), 'wants to change things at shop (put): /x*');
});
