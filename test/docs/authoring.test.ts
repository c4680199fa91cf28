import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findingsOf, written } from '../script/written.ts';

const root = join(import.meta.dirname, '..', '..');
const text = readFileSync(join(root, 'docs/authoring.md'), 'utf8');

/** The whole workflows among the examples; a part of one is no script. */
const EXAMPLES: Readonly<Record<string, string>> = Object.fromEntries(
  [...text.matchAll(/^```ts\n(import .*?)^```$/gms)].map(([, script = ''], index) => [
    `example-${index + 1}.ts`,
    script,
  ]),
);

test('every workflow in the docs compiles, and can be deployed', async (t) => {
  assert.ok(Object.keys(EXAMPLES).length >= 3, 'the docs have examples');
  const folder = written(t, { ...EXAMPLES, 'package.json': JSON.stringify({ type: 'module' }) });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const compilerOptions = { types: [], paths: { pawl: [join(root, 'src/sdk/index.ts')] } };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: Object.keys(EXAMPLES) }),
  );
  const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
    cwd: folder,
  });
  assert.deepEqual([stdout, status], ['', 0]);
  for (const name of Object.keys(EXAMPLES)) {
    const errors = (await findingsOf(join(folder, name))).filter(({ severity }) => severity === 'error');
    assert.deepEqual(errors, [], name);
  }
});
