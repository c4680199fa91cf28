import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { lengthOffences, nameOffences, openingOffences } from './shape-rules.ts';
import { temporaryTree } from './temporary-tree.ts';

const repository = dirname(dirname(import.meta.dirname));
const lines = (count: number): string => 'x();\n'.repeat(count);

test('every room opens by saying what it is', () => {
  assert.deepEqual(openingOffences(repository), []);
});

test('no source file is longer than 400 lines', () => {
  assert.deepEqual(lengthOffences(repository), []);
});

test('no file has a name that says nothing', () => {
  assert.deepEqual(nameOffences(repository), []);
});

test('the rule about openings bites', (t) => {
  const tree = temporaryTree(t, {
    'src/base/index.ts': '// What it is for.\n// What it never does.\n// Where to start.\nexport {};\n',
    'src/model/index.ts': '/**\n * One.\n * Two.\n * Three.\n */\nexport {};\n',
    'src/store/index.ts': '// What it is for.\n//\n// Where to start.\nexport {};\n',
    'src/execution/index.ts': 'export {};\n// One.\n// Two.\n// Three.\n',
    'src/ledger/row.ts': 'export {};\n',
  });
  assert.deepEqual(
    openingOffences(tree).map((offence) => offence.split(':')[0]),
    [
      'src/execution/index.ts opens with 0 lines of comment',
      'src/ledger/index.ts is missing',
      'src/store/index.ts opens with 2 lines of comment',
    ],
  );
});

test('the rule about length bites', (t) => {
  const tree = temporaryTree(t, { 'src/model/a.ts': lines(401), 'src/model/b.ts': lines(400) });
  assert.deepEqual(lengthOffences(tree), ['src/model/a.ts has 401 lines, more than 400: split it by meaning']);
});

test('the rule about names bites', (t) => {
  const offending = ['src/base/utils.ts', 'src/model/types.ts', 'src/store/helpers/row.ts', 'test/common.test.ts'];
  const honest = ['src/base/ids.ts', 'src/model/utility-bill.ts'];
  const tree = temporaryTree(t, Object.fromEntries([...offending, ...honest].map((path) => [path, ''])));
  assert.deepEqual(
    nameOffences(tree).map((offence) => offence.split(' ')[0]),
    offending,
  );
});
