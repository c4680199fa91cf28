import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type } from './typed-terminal.ts';

/** Nobody listens there. */
const NOWHERE = { PAWL_URL: 'http://127.0.0.1:9', USER: 'ada' };

test('the help names every command, and is no error', async () => {
  const { code, out, err } = await type(['--help']);
  assert.deepEqual([code, err], [0, '']);
  const commands =
    `start validate deploy rollback trigger|run publish pause resume cancel retry resolve skip park unpark redo
    finish set-aside archive status needs show workflows versions sessions runs events inputs outputs|mutations connections state
    logs explain backup restore doctor approve reject retention export import`.split(/\s+/);
  for (const command of commands) assert.match(out, new RegExp(`^  ${command.replace('|', '\\|')}\\b`, 'm'), command);
});

test('an unknown command is a usage error that says what was meant', async () => {
  const { code, out, err } = await type(['statsu']);
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /^pawl: unknown command 'statsu'\n {2}why: \(Did you mean status\?\)\n {2}next: .*: pawl help\n/);
});

test('an option before its command is answered with where it stands, and with help that there is', async () => {
  for (const argv of [
    ['--data', 'd1', 'workers'],
    ['--yes', 'workers', '--data', 'd1'],
  ]) {
    const { err } = await type(argv);
    assert.match(err, /^pawl: unknown option '--\w+'\n {2}why: options stand after the command\n/);
    assert.match(err, /\n {2}next: see how it is used: pawl help workers\n/);
  }
  assert.match((await type(['--data', 'd1'])).err, /\n {2}next: see the commands: pawl help\n/);
});

test('no command at all is a usage error', async () => {
  const { code, err } = await type([]);
  assert.equal(code, 2);
  assert.match(err, /pawl: say what to do/);
});

for (const argv of [
  ['resolve'],
  ['publish', 'orders'],
  ['publish', 'orders', 'placed'],
  ['start', '--port', 'many'],
  ['status', '--nonsense'],
  ['connections', 'mend', 'shop'],
  ['show', ''],
  ['explain', ''],
  ['trigger', ''],
  ['pause', ''],
  ['skip', 'evt_1', ''],
  ['state', 'orders', '--set', '1'],
  ['runs', 'orders', '--limit', 'abc'],
  ['runs', 'orders', '--limit', '0'],
  ['audit', '--limit', '99999'],
  ['migrate-store', '--back', '--data', 'd1', '--to', 'postgres://127.0.0.1:9/nothing', '--unchecked'],
  ['migrate-store', '--data', 'd1', '--to', 'postgres://127.0.0.1:9/nothing', '--unchecked'],
  ['--data', 'd1', 'workers'],
]) {
  test(`pawl ${argv.join(' ')} is a usage error`, async () => {
    const { code, err } = await type(argv, { env: NOWHERE });
    assert.equal(code, 2, err);
    assert.match(err, /^pawl: .+\n {2}why: .+\n {2}next: /);
  });
}

test('with --json an error is one JSON document with everything in it', async () => {
  const typed = await type(['needs', '--json'], { env: NOWHERE });
  assert.deepEqual([typed.code, typed.err], [7, '']);
  const { schema, error } = typed.json<{ schema: number; error: Record<string, unknown> }>();
  assert.equal(schema, 1);
  assert.deepEqual(Object.keys(error), ['code', 'message', 'why', 'retryable', 'ids', 'docs', 'next']);
  assert.deepEqual([error.code, error.retryable], ['engine-unreachable', true]);
});

test('an engine that is not there is its own exit code, with how to start one', async () => {
  const { code, err } = await type(['status'], { env: NOWHERE });
  assert.equal(code, 7);
  assert.match(err, /no engine answers at http:\/\/127\.0\.0\.1:9\n/);
  assert.match(err, /next: start one: pawl start\n/);
});

test('a server that is not Pawl is no engine, and is said to be none', async (t) => {
  const page = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<h1>hi</h1>'));
  const json = createServer((_request, response) => response.writeHead(404).end('{"error":"nothing here"}'));
  for (const server of [page, json]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const { code, err } = await type(['status'], { env: { PAWL_URL: `http://127.0.0.1:${port}` } });
    assert.equal(code, 7, err);
    assert.match(err, /no engine answers at .+\n {2}why: something else listens there: .+ no answer of Pawl\n/);
  }
});

test('a limit that is none says what it may be', async () => {
  const { err } = await type(['runs', 'orders', '--limit', '99999'], { env: NOWHERE });
  assert.match(err, /from 1 to 1000/);
});

test('an address that is none is a usage error', async () => {
  for (const [url, meant] of [
    ['here', 'http://127.0.0.1:7295'],
    ['localhost:7300', 'http://localhost:7300'],
  ] as const) {
    const { code, err } = await type(['status', '--url', url]);
    assert.equal(code, 2, err);
    assert.ok(err.includes(`  next: write it in full: pawl status --url ${meant}\n`), err);
  }
});

test('resolve wants exactly one answer, and says which there are', async () => {
  const none = await type(['resolve', 'mut_1'], { env: NOWHERE });
  assert.equal(none.code, 2);
  for (const answer of ['--happened', '--did-not-happen', '--skip']) {
    assert.ok(none.err.includes(`pawl resolve mut_1 ${answer}\n`), none.err);
  }
  assert.ok(!none.err.includes('--check-again'), 'nobody could say whether there is a look-up');
  assert.equal((await type(['resolve', 'mut_1', '--happened', '--skip'], { env: NOWHERE })).code, 2);
  assert.equal((await type(['resolve', 'mut_1', '--skip', '--result', '1'], { env: NOWHERE })).code, 2);
  const notJson = await type(['resolve', 'mut_1', '--happened', '--result', '{id:1}'], { env: NOWHERE });
  assert.equal(notJson.code, 2);
  assert.match(notJson.err, /the result is not JSON/);
});
