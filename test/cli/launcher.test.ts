import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const ROOT = dirname(dirname(import.meta.dirname));
const PAWL = join(ROOT, 'bin', 'pawl.js');
const MAIN = join(ROOT, 'src', 'main.ts');

test('a signal to the launcher drains the engine behind it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-launcher-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const child = spawn(process.execPath, [PAWL, 'start', '--data', join(folder, 'data'), '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (part) => {
    err += part;
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGTERM');
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 0, err);
  assert.match(err, /there is no pawl\.config\.ts here/);
  assert.match(err, /stopped: nothing is left active/);
});

/** As a Node behaves that cannot put another program into its own place. */
const WITHOUT_EXECVE = ['--import', 'data:text/javascript,delete process.execve'];
const LAUNCHERS = [
  { node: 'a Node that can become another program', flags: [] },
  { node: 'an older Node', flags: WITHOUT_EXECVE },
] as const;

for (const { node, flags } of LAUNCHERS) {
  test(`an engine ends with its launcher, however that ends, on ${node}`, { timeout: 60_000 }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-launcher-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const told = 'console.error("MALLOC_ARENA_MAX", process.env.MALLOC_ARENA_MAX); export default {};';
    writeFileSync(join(folder, 'pawl.config.ts'), told);
    const argv = [...flags, PAWL, 'start', '--data', join(folder, 'data'), '--port', '0'];
    const child = spawn(process.execPath, argv, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let err = '';
    child.stderr.on('data', (part) => {
      err += part;
    });
    // Closed when the last process that could write to them has ended: the launcher, and the engine behind it.
    const closed = new Promise((resolve) => child.once('close', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    assert.match(err, /MALLOC_ARENA_MAX 1/);
    child.kill('SIGKILL');
    await closed;
    if (flags.length > 0) assert.match(err, /stopped: nothing is left active/);
  });

  test(`the launcher hands on what comes back, on ${node}`, () => {
    const run = (...argv: string[]) =>
      spawnSync(process.execPath, [...flags, PAWL, ...argv], { encoding: 'utf8', input: 'read by nobody' });
    const version = run('--version');
    assert.deepEqual([version.status, version.stdout, version.stderr], [0, '0.1.0\n', '']);
    assert.equal(run('nonsense').status, 2);
  });
}

test('an engine that is to end with its input ends before, when it cannot start', { timeout: 60_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-launcher-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'data'), 'this is no folder');
  const argv = [MAIN, 'start', '--data', join(folder, 'data'), '--port', '0', '--until-input-ends'];
  const child = spawn(process.execPath, argv, { cwd: folder, stdio: ['pipe', 'ignore', 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  const code = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(code, 1);
});
