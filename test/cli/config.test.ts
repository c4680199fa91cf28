import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type } from './typed-terminal.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starting with this config; none of these gets as far as running. */
async function startedWith(text: string | undefined): Promise<{ code: number; out: string; err: string }> {
  const file = join(folder, 'pawl.config.ts');
  if (text !== undefined) writeFileSync(file, text);
  return type(['start', '--config', file, '--data', join(folder, 'data'), '--port', '0']);
}

const BAD: Readonly<Record<string, readonly [text: string | undefined, says: RegExp]>> = {
  'a config that is not there': [undefined, /there is no config file .*pawl\.config\.ts/],
  'a config that exports nothing': ['export const connections = {};', /exports no config\n {2}why: .*missing/],
  'a config that exports a number': ['export default 5;', /exports no config\n {2}why: .*not an object/],
  'a config that is no script': ['export default {', /pawl\.config\.ts cannot be read: /],
  'a config that throws': [
    "\nthrow new Error('no token here');",
    /cannot be read: no token here\n {2}why: it was thrown at .*pawl\.config\.ts:2:\d+\n/,
  ],
  'a config that imports what is not there': ["import 'nowhere'; export default {};", /Cannot find package 'nowhere'/],
  'a connection of an unknown type': [
    "import { defineConfig } from 'pawl'; export default defineConfig({ connections: { shop: { type: 'htp' } } } as never);",
    /connections\.shop: unknown type "htp"; did you mean "http"\?/,
  ],
};

for (const [name, [text, says]] of Object.entries(BAD)) {
  test(`${name} is refused, saying what is wrong`, async () => {
    const { code, out, err } = await startedWith(text);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, says);
    assert.match(err, /\n {2}next: /);
  });
}
