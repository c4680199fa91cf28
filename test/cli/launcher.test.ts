import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const ROOT = dirname(dirname(import.meta.dirname));
const PAWL = join(ROOT, 'bin', 'pawl.js');
const MAIN = join(ROOT, 'src', 'main.ts');

test('the launcher runs the sources with any Node, and hands on what comes back', () => {
  const version = spawnSync(process.execPath, [PAWL, '--version'], { encoding: 'utf8' });
  assert.deepEqual([version.status, version.stdout, version.stderr], [0, '0.1.0\n', '']);
  const wrong = spawnSync(process.execPath, [PAWL, 'nonsense'], { encoding: 'utf8' });
  assert.equal(wrong.status, 2);
});

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
