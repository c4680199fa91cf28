import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, type TestContext, test } from 'node:test';
import { freshDatabase, onPostgres } from '../support/postgres-world.ts';
import { type Typed, type } from './typed-terminal.ts';

/** Nobody answers there: what is refused is refused before anybody is asked. */
const NOWHERE = 'postgres://nobody@127.0.0.1:9/nothing';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-fleet-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function pawl(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Typed> {
  const [command = '', ...flags] = argv;
  return type([command, '--data', join(folder, 'data'), ...flags], { env: { DATABASE_URL: NOWHERE, ...env } });
}

test('an executor and a worker without a database say what to set', async () => {
  for (const [role, says] of [
    ['executor', 'an executor needs a database'],
    ['worker', 'a worker needs a database'],
  ] as const) {
    const { code, err } = await pawl([role], { DATABASE_URL: '' });
    assert.equal(code, 2, err);
    assert.ok(err.startsWith(`pawl: ${says}\n`), err);
    assert.ok(err.includes(`next: set it: DATABASE_URL=postgres://user@host/database pawl ${role}\n`), err);
  }
});

for (const [name, env] of [
  ['is too long', { PAWL_NAME: 'x'.repeat(201) }],
  ['is blank', { PAWL_NAME: '  ' }],
  ['cannot be typed', { PAWL_NAME: 'a\u0007b' }],
] as const) {
  test(`a PAWL_NAME that ${name} is a usage error of every process`, async () => {
    for (const role of ['start', 'executor', 'worker']) {
      const { code, err } = await pawl([role], env);
      assert.equal(code, 2, err);
      assert.match(err, /^pawl: PAWL_NAME is no name for a process\n {2}why: it is .+\n {2}next: set another/);
    }
  });
}

test('a pool that nobody could name in a config is a usage error', async () => {
  for (const pool of ['', ' ', 'a b', 'a\nb', 'a\u0007', 'x'.repeat(201)]) {
    const { code, err } = await pawl(['worker', '--pool', pool]);
    assert.equal(code, 2, err);
    assert.match(err, /is no name of a pool\n {2}why: .+\n {2}next: .+: pawl worker\n/);
  }
});

test('probes that are to listen somewhere need a port', async () => {
  const { code, err } = await pawl(['worker', '--pool', 'heavy', '--probe-listen', '127.0.0.1']);
  assert.equal(code, 2, err);
  assert.match(err, /^pawl: --probe-listen needs --probe-port\n/);
  const argv = `pawl worker --data ${join(folder, 'data')} --pool heavy --probe-port 0 --probe-listen 127.0.0.1\n`;
  assert.ok(err.includes(argv), err);
});

test('a data folder that is a file is said to be one, by every process that keeps something there', async () => {
  writeFileSync(join(folder, 'data'), 'not a folder');
  for (const argv of [['executor'], ['start']]) {
    const { code, err } = await pawl(argv);
    assert.equal(code, 1, err);
    assert.match(
      err,
      /is not a folder, so no data can be kept there\n {2}why: there is a file .+\n {2}next: name another data folder/,
    );
  }
});

test('a start for others than this machine is answered with the same command for this machine', async () => {
  const { code, err } = await pawl(['start', '--port', '0', '--listen', '0.0.0.0'], { DATABASE_URL: '' });
  assert.equal(code, 1, err);
  assert.ok(err.includes(`reaches it: pawl start --data ${join(folder, 'data')} --port 0\n`), err);
});

/** A port that somebody else has. */
async function takenPort(t: TestContext): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return String((server.address() as AddressInfo).port);
}

onPostgres('whoever cannot listen hears of what it is, and which command goes on', async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const env = { DATABASE_URL: database.url };
  const data = join(folder, 'data');
  const port = await takenPort(t);

  const probes = await pawl(['worker', '--probe-port', port], env);
  assert.equal(probes.code, 5, probes.err);
  assert.match(
    probes.err,
    /"msg":"the probes of this worker cannot listen|^pawl: the probes of this worker cannot listen/m,
  );
  assert.ok(probes.err.includes(`next: take any free port: pawl worker --data ${data} --probe-port 0\n`), probes.err);

  const address = await pawl(['worker', '--probe-port', '0', '--probe-listen', '9.9.9.9'], env);
  assert.equal(address.code, 1, address.err);
  assert.match(address.err, /the probes of this worker cannot listen on 9\.9\.9\.9\n {2}why: this machine has no such/);
  assert.ok(address.err.includes(`this machine only: pawl worker --data ${data} --probe-port 0\n`), address.err);

  const api = await pawl(['executor', '--port', port], env);
  assert.equal(api.code, 5, api.err);
  assert.match(api.err, /^pawl: the API cannot listen on port/m);
  assert.ok(api.err.includes(`next: take any free port: pawl executor --data ${data} --port 0\n`), api.err);

  const open = await pawl(['executor', '--listen', '0.0.0.0'], env);
  assert.equal(open.code, 1, open.err);
  assert.ok(open.err.includes(`only this machine reaches it: pawl executor --data ${data}\n`), open.err);
});

onPostgres('a worker of a pool that no workflow is in is warned, and one of a pool that is named is not', async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const config = join(folder, 'pawl.config.ts');
  writeFileSync(config, "export default { fleet: { pools: { heavy: ['crunch'] } } };\n");
  const port = await takenPort(t);
  for (const [pool, isWarned] of [
    ['nosuch', true],
    ['heavy', false],
    ['default', false],
  ] as const) {
    // It ends by the port that is taken.
    const argv = ['worker', '--config', config, '--pool', pool, '--probe-port', port];
    const { code, err } = await pawl(argv, { DATABASE_URL: database.url });
    assert.equal(code, 5, err);
    assert.equal(/"level":"warn".+no workflow of this config is in the pool/.test(err), isWarned, err);
    if (isWarned) assert.match(err, /its pools are default, heavy/);
  }
});
