import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOf } from '../problems.ts';
import { mutationArguments } from './arguments.ts';

function parsed(json: unknown): unknown {
  const result = mutationArguments.safeParse({ path: '/a', json });
  return result.success ? result.data.json : problemsOf(result.error);
}

test('JSON of a text is taken as it is', () => {
  for (const text of ['null', '[]', '"a"', '0', 'true', '{"a":[1,{"b":null}],"c":"d"}']) {
    assert.equal(JSON.stringify(parsed(JSON.parse(text))), text);
  }
});

test('so is what is nested deep', () => {
  const text = `${'['.repeat(90)}${']'.repeat(90)}`;
  assert.equal(JSON.stringify(parsed(JSON.parse(text))), text);
});

test('a prototype does not come with it', () => {
  assert.deepEqual(parsed(JSON.parse('{"a":1,"__proto__":{"b":2}}')), { a: 1 });
});

test('what no JSON can hold is refused, wherever it stands', () => {
  const wrong: [unknown, string][] = [
    [Number.NaN, 'json'],
    [{ a: Number.POSITIVE_INFINITY }, 'json.a'],
    [[undefined], 'json.0'],
    [{ a: { b: [1, 2n] } }, 'json.a.b.1'],
    [new Date(0), 'json'],
    [() => 1, 'json'],
  ];
  for (const [value, place] of wrong) assert.deepEqual(parsed(value), [`${place}: Invalid input`]);
  assert.equal(parsed(undefined), undefined);
});
