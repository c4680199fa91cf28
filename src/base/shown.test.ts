import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut, shownLine, shownText } from './shown.ts';

test('control and bidi characters and halves of letters are seen to have been there, and do nothing', () => {
  assert.equal(shownText('a\u0000\u001b[2J\u009b\u202eb\u2066\ud800'), 'a��[2J��b��');
  assert.equal(shownText('Zeile 1\n\tZeile 2: ä €😀'), 'Zeile 1\n\tZeile 2: ä €😀');
});

test('a line stays one line', () => {
  assert.equal(shownLine('Pay\r\n\u2028now\t!'), 'Pay now !');
});

test('what is cut is counted', () => {
  assert.equal(cut('short', 5), 'short');
  assert.equal(cut('too long', 3), 'too… (5 more characters)');
});
