import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { purityOffences, switchOffences } from './model-rules.ts';
import { temporaryTree } from './temporary-tree.ts';

const repository = dirname(dirname(import.meta.dirname));

test('the model touches no clock, chance, input, output or promise', () => {
  assert.deepEqual(purityOffences(repository), []);
});

test('no switch of the model has a default', () => {
  assert.deepEqual(switchOffences(repository), []);
});

describe('the rule of purity bites', () => {
  const offending: Readonly<Record<string, RegExp>> = {
    'const now = Date.now();': /reads a clock: Date\.now/,
    'const now = new Date();': /reads a clock/,
    'const now = performance.now();': /reads a clock/,
    'const chance = Math.random();': /draws at random/,
    'setTimeout(go, 1);': /waits/,
    'const home = process.env;': /touches the world/,
    'const text = `${process.cwd()}`;': /touches the world/,
    'async function f() {}': /is asynchronous: async/,
    'export type Later = Promise<void>;': /is asynchronous: Promise/,
    "import { readFileSync } from 'node:fs';": /imports more than base: node:fs/,
    "import fc from 'fast-check';": /imports more than base/,
    "import { assert, systemClock } from '#base';": /not pure from base: systemClock/,
    "import * as base from '#base';": /not pure from base/,
  };
  for (const [text, says] of Object.entries(offending)) {
    test(text, (t) => {
      const offences = purityOffences(temporaryTree(t, { 'src/model/decide/a.ts': `\n${text}` }));
      const [offence = ''] = offences;
      assert.equal(offences.length, 1, offences.join('\n'));
      assert.match(offence, says);
      assert.ok(offence.startsWith('src/model/decide/a.ts:2 '), offence);
    });
  }
});

test('the rule of purity lets words, tests and other rooms pass', (t) => {
  const tree = temporaryTree(t, {
    'src/model/a.ts': "// await Date.now()\nconst why = 'a Promise, by process.env';\nconst ok = call.async;\n",
    'src/model/b.ts': "import { assert, type Clock } from '#base';\nimport { reach } from './reach.ts';\n",
    'src/model/a.test.ts': "import { test } from 'node:test';\ntest('later', async () => {});\n",
    'src/base/clock.ts': 'export const now = () => Date.now();',
  });
  assert.deepEqual(purityOffences(tree), []);
});

test('the rule about defaults bites, and knows a switch from an object', (t) => {
  const tree = temporaryTree(t, {
    'src/model/a.ts': 'switch (f(x)) {\n  case 1: {\n    return 1;\n  }\n  default:\n    return 2;\n}\n',
    'src/model/b.ts': 'const table = { default: 1 };\nswitch (x) {\n  case 1:\n    return { default: 2 };\n}\n',
  });
  assert.deepEqual(switchOffences(tree), ['src/model/a.ts:5 has a default in a switch']);
});
