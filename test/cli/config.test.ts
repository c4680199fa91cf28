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
  'a workflow in two pools': [
    "export default { fleet: { pools: { heavy: ['a', 'b'], light: ['b'] } } };",
    /fleet\.pools\.light of the config cannot be used\n {2}why: the workflow "b" is in the pool heavy already\n/,
  ],
  'a pool that nobody could type': [
    "export default { fleet: { pools: { 'very heavy': ['a'] } } };",
    /fleet\.pools\.very heavy of the config cannot be used\n {2}why: .+ no spaces/,
  ],
  'a fleet of another shape': [
    'export default { fleet: { nats: {} } };',
    /next: write fleet: \{ leaseMs, pools: .*, timeoutMs: .*, limits: \{ pools: .*, connections: .* \}, nats: \{ servers: .*, prefix, replicas, token: /,
  ],
  'a part of a config that there is not': [
    'export default { connections: {}, retenton: { keepDays: 90 } };',
    /pawl\.config\.ts has "retenton", which is no part of a config\n {2}why: did you mean "retention"\?\n/,
  ],
  'a part of a config that is like none': [
    'export default { plugins: [] };',
    /has "plugins", which .*\n {2}why: its parts are connections, http, fleet, retention, notify, secrets\n/,
  ],
  'a NATS server of another scheme': [
    "export default { fleet: { nats: { servers: ['nats://127.0.0.1:4222', 'http://127.0.0.1:4222'] } } };",
    /fleet\.nats\.servers.* of the config cannot be used\n {2}why: it is nats:\/\/HOST:4222, tls:/,
  ],
  'a NATS server with a password in its address': [
    "export default { fleet: { nats: { servers: 'nats://ada:hunter2@127.0.0.1:4222' } } };",
    /fleet\.nats\.servers of the config cannot be used\n {2}why: it is nats:\/\/HOST:4222, tls:/,
  ],
  'a limit on a connection that is not there': [
    "export default { connections: { shop: { type: 'http', baseUrl: 'http://127.0.0.1:9' } }, fleet: { limits: { connections: { nosuch: 2 } } } };",
    /fleet\.limits\.connections\.nosuch of the config cannot be used\n {2}why: the config has no connection "nosuch", only shop\n/,
  ],
  'a limit on a pool that is not there': [
    "export default { fleet: { pools: { heavy: ['a'] }, limits: { pools: { heavy: 2, default: 2, hevy: 2 } } } };",
    /fleet\.limits\.pools\.hevy of the config cannot be used\n {2}why: fleet\.pools names no pool "hevy"\n/,
  ],
};

for (const [name, [text, says]] of Object.entries(BAD)) {
  test(`${name} is refused, saying what is wrong`, async () => {
    const { code, out, err } = await startedWith(text);
    assert.deepEqual([code, out], [text === undefined ? 4 : 1, '']);
    assert.match(err, says);
    assert.doesNotMatch(err, /hunter2/);
    assert.match(err, /\n {2}next: /);
  });
}
