import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { BOOT } from './child/boot.ts';
import { CHILD_FLAGS } from './start-process.ts';

/** What code that broke out of the engine would find: runs in a process started as the children are. */
function inChild(code: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, [...CHILD_FLAGS, '-e', code], {
    env: {},
    cwd: '/',
    encoding: 'utf8',
  });
  return `${stdout}${stderr}`.trim();
}

const refused: Readonly<Record<string, string>> = {
  'read a file': "require('node:fs').readFileSync('/etc/hosts')",
  'read its own environment': "require('node:fs').readFileSync('/proc/self/environ')",
  'list a folder': "require('node:fs').readdirSync('/')",
  'write a file': "require('node:fs').writeFileSync('/tmp/pawl-escaped', 'x')",
  'start a process': "require('node:child_process').execSync('id')",
  'start a thread': "new (require('node:worker_threads').Worker)('1', { eval: true })",
  'open a connection': "require('node:net').connect(80, '127.0.0.1')",
};

for (const [what, code] of Object.entries(refused)) {
  test(`a child may not ${what}`, () => {
    const said = inChild(`try { ${code}; console.log('done'); } catch (error) { console.log(error.code); }`);
    assert.match(said, /ERR_ACCESS_DENIED/);
  });
}

test('a child whose host is gone ends at once, without unwinding', () => {
  for (const input of ['', 'the beginning of a program']) {
    const { signal, status } = spawnSync(process.execPath, [...CHILD_FLAGS, '-e', BOOT], { env: {}, cwd: '/', input });
    assert.deepEqual([signal, status], ['SIGKILL', null]);
  }
});

test('a child has an empty environment', () => {
  assert.equal(inChild('console.log(JSON.stringify(process.env))'), '{}');
});
