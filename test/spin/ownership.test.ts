// Who owns an execution, checked by Spin in every interleaving, where Spin and a C compiler are installed (Debian: spin, gcc).
// A model that holds proves little if it would hold without its guards too: each of them is taken away once, and must be missed.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const MODEL = join(import.meta.dirname, 'ownership.pml');
const isInstalled = [
  ['spin', '-V'],
  ['gcc', '--version'],
].every(([tool = '', version = '']) => spawnSync(tool, [version]).status === 0);
const missing = isInstalled ? false : 'Spin or a C compiler is not installed';

interface Verdict {
  readonly errors: number;
  readonly states: number;
  readonly broken: string | undefined;
}

function verdict(without?: string): Verdict {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-spin-'));
  try {
    const run = (command: string, ...args: string[]): string => {
      const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', timeout: 60_000 });
      assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
      return stdout;
    };
    run('spin', ...(without === undefined ? [] : [`-D${without}`]), '-a', MODEL);
    run('gcc', '-O2', '-DSAFETY', '-DNOREDUCE', '-o', 'pan', 'pan.c');
    const said = run(join(folder, 'pan'), '-E', '-m200000');
    const [, errors] = /errors: (\d+)/.exec(said) ?? [];
    const [, states] = /(\d+) states, stored/.exec(said) ?? [];
    const [, broken] = /assertion violated (.*) \(at depth/.exec(said) ?? [];
    assert.ok(!said.includes('max search depth too small'), said);
    return { errors: Number(errors), states: Number(states), broken };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('whoever dies or stalls, one effect, and the work comes to its end', { skip: missing }, (t) => {
  const { errors, states, broken } = verdict();
  assert.equal(broken, undefined);
  assert.equal(errors, 0);
  t.diagnostic(`${states} states`);
});

for (const [without, broken] of [
  ['NO_OUTBOX', /completed|effects==1/],
  ['NO_FENCE', /status!=|effects<=1/],
  ['REQUEUE', /effects<=1/],
  ['NO_DEADLINE', /effects<=1/],
] as const) {
  test(`it fails with ${without}`, { skip: missing }, () => {
    const found = verdict(without);
    assert.equal(found.errors, 1);
    assert.match(found.broken ?? '', broken);
  });
}
