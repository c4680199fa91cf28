import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scan } from './scan.ts';

const code = (text: string): string => scan(text).code.replaceAll(/\s+/g, ' ').trim();
const literals = (text: string): string[] => scan(text).literals.map((literal) => literal.text);

test('comments are blanked and keep their lines', () => {
  assert.equal(scan('a(); // await\nb();').code, 'a();         \nb();');
  assert.equal(scan('a /* x\ny */ b').code, 'a     \n     b');
  assert.equal(code('/**/ await'), 'await');
});

test('the insides of strings are blanked and handed out', () => {
  assert.equal(code(`f('await // no', "it's");`), 'f(\' \', " ");');
  assert.deepEqual(literals(`f('a\\'b', "c");`), ["a\\'b", 'c']);
});

test('code inside a template stays code, also when nested', () => {
  assert.equal(code('x = `await ${run(`inner ${Date.now()}`)} more`;'), 'x = ` (run(` (Date.now())`)) `;');
  assert.deepEqual(literals('`a ${ { b: 1 }.b } c`'), ['a ${} c']);
});

test('a slash begins a regular expression only where a value may stand', () => {
  assert.equal(code('x = /[\'"`]/.test(y); await z;'), 'x = / /.test(y); await z;');
  assert.equal(code('return /[/]"/;'), 'return / /;');
  assert.equal(code("a = b / c; d = '/';"), "a = b / c; d = ' ';");
  assert.equal(code("(a + b) / 2; e = 'x';"), "(a + b) / 2; e = ' ';");
  assert.equal(code("list[0] / 2; e = 'x';"), "list[0] / 2; e = ' ';");
});

test('any text at all keeps its length and its lines', () => {
  const fragment = fc.constantFrom(
    '/',
    '*',
    '//',
    '/*',
    '*/',
    "'",
    '"',
    '`',
    '${',
    '{',
    '}',
    '\\',
    '[',
    ']',
    '\n',
    'a',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 40 }), (fragments) => {
      const text = fragments.join('');
      const scanned = scan(text);
      assert.equal(scanned.code.length, text.length);
      assert.deepEqual(lineEndsOf(scanned.code), lineEndsOf(text));
      for (const { start, end } of scanned.literals) assert.ok(start >= 0 && start < end);
    }),
    { numRuns: 1000 },
  );
});

function lineEndsOf(text: string): number[] {
  return [...text.matchAll(/\n/g)].map((match) => match.index);
}
