import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { DEFINITION } from 'pawl';
import { bare, config, good, literal } from './good-uses.ts';
import { wrong } from './wrong-uses.ts';

const repository = dirname(dirname(import.meta.dirname));

test('good and wrong uses are definitions that load', () => {
  assert.deepEqual(Object.keys(literal[DEFINITION].producers), ['poll', 'hook']);
  assert.equal(Object.keys(good[DEFINITION].consumers).length, 10);
  assert.equal(bare[DEFINITION].name, 'bare');
  assert.equal(wrong[DEFINITION].name, 'wrong');
  assert.deepEqual(config.connections.team, { type: 'slack', token: { secret: 'SLACK' } });
});

test('every wrong use fails to compile where it says so, and nowhere else', (t) => {
  const lines = readFileSync(join(import.meta.dirname, 'wrong-uses.ts'), 'utf8').split('\n');
  const expected = lines.flatMap((line, index) => (line.includes('// @ts-expect-error') ? [index + 2] : []));
  assert.ok(expected.length > 30);
  const bareText = lines.map((line) => line.replace('@ts-expect-error', 'wrong:')).join('\n');
  assert.deepEqual(linesWithErrors(t, bareText), expected);
});

test('an expectation that holds nothing back fails to compile', (t) => {
  const text =
    "import { defineWorkflow } from 'pawl';\n// @ts-expect-error\nexport default defineWorkflow({ name: 'x' });\n";
  assert.deepEqual(linesWithErrors(t, text), [2]);
});

/** The lines the type checker complains about when `wrong-uses.ts` reads like this. */
function linesWithErrors(t: { after(done: () => void): void }, text: string): number[] {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-compile-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const here = (name: string): string => join(import.meta.dirname, name);
  writeFileSync(
    join(folder, 'wrong.ts'),
    text
      .replace("'./more-connectors.ts'", `'${here('more-connectors.ts')}'`)
      .replace("'./same-type.ts'", `'${here('same-type.ts')}'`),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(repository, 'tsconfig.json'),
      compilerOptions: { types: [], paths: { pawl: [join(repository, 'src/sdk/index.ts')] } },
      include: ['wrong.ts'],
    }),
  );
  const { stdout } = spawnSync(join(repository, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
    cwd: folder,
  });
  const places = [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error/gm)];
  assert.ok(
    places.every(([, file]) => file === 'wrong.ts'),
    stdout,
  );
  return [...new Set(places.map(([, , line]) => Number(line)))].sort((a, b) => a - b);
}
