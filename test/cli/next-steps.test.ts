import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Api } from '../http/api.ts';
import { GIVEN } from '../http/scripts.ts';
import { EngineProcess } from './running-engine.ts';
import { type Typed, type } from './typed-terminal.ts';

interface Desk {
  readonly api: Api;
  pawl(...argv: string[]): Promise<Typed>;
  written(script: string): string;
}

async function openDesk(t: TestContext): Promise<Desk> {
  const api = await Api.open(t);
  await api.deploy(GIVEN);
  const env = { PAWL_DATA: join(api.stage.folder, 'data'), USER: 'ada' };
  return {
    api,
    pawl: (...argv) => type(argv, { env }),
    written(script) {
      const file = join(api.stage.folder, 'next.ts');
      writeFileSync(file, `import { defineWorkflow, topic } from 'pawl';\n${script}`);
      return file;
    },
  };
}

test('a deployment that is refused says the command that goes on, with its file and flags', async (t) => {
  const { api, pawl, written } = await openDesk(t);
  await api.ok(api.post('/api/workflows/orders/pause'));
  await api.publish('orders', 'o1');
  const file = written(GIVEN.replaceAll('placed', 'ordered'));
  const refused = await pawl('deploy', file, '--major');
  assert.equal(refused.code, 5, refused.err);
  assert.ok(refused.err.includes(`pawl deploy ${file} --major --skip-pending\n`), refused.err);
  const typed = (await pawl('deploy', file, '--json')).json<{ error: { next: { argv?: string[] }[] } }>();
  assert.deepEqual(typed.error.next.at(-1)?.argv, ['pawl', 'deploy', file, '--skip-pending']);
  assert.equal((await pawl('deploy', file, '--major', '--skip-pending')).code, 0);
});

test('a workflow that waits says in words what for, and what helps', async (t) => {
  const { pawl } = await openDesk(t);
  await pawl('pause', 'orders');
  const refused = await pawl('trigger', 'orders');
  assert.equal(refused.code, 5);
  assert.match(refused.err, /\n {2}why: paused by ada at .+\n {2}next: .+: pawl resume orders\n/);
});

test('a port that is taken is answered with the same command on another port', async (t) => {
  const { api } = await openDesk(t);
  const { port } = new URL(api.url);
  const config = join(api.stage.folder, 'pawl.config.ts');
  const data = join(api.stage.folder, 'other data');
  writeFileSync(config, 'export default { connections: {} };\n');
  const { code, err } = await new EngineProcess(['--config', config, '--data', data, '--port', port]).ended;
  assert.equal(code, 5, err);
  assert.ok(err.includes(`pawl start --config ${config} --data '${data}' --port 0\n`), err);
});

test('resolve without an answer offers a look-up only where there is one', async (t) => {
  const { api, pawl } = await openDesk(t);
  api.stage.outside.behave({ after: 'drop' });
  await api.publish('orders', 'o1');
  await api.stage.until('nobody knows', () => api.stage.workflow().holds.includes('unknown'));
  const { id, canReconcile } = api.stage.mutation();
  const { code, err } = await pawl('resolve', id);
  assert.equal(code, 2, err);
  assert.ok(err.includes(`pawl resolve ${id} --did-not-happen\n`), err);
  assert.equal(err.includes('--check-again'), canReconcile, err);
  const all = await pawl('resolve', '--connection', 'shop');
  assert.equal(all.code, 2);
  assert.ok(all.err.includes('pawl resolve --connection shop --happened\n'), all.err);
});

test('a handler or a connection that is not there ends with 4', async (t) => {
  const { pawl } = await openDesk(t);
  for (const argv of [
    ['state', 'orders', 'nosuch'],
    ['resolve', '--connection', 'nosuch', '--skip'],
  ]) {
    const { code, err } = await pawl(...argv);
    assert.equal(code, 4, `${argv}: ${err}`);
    assert.match(err, /"nosuch"\n {2}why: .+\n {2}next: /);
  }
  assert.equal((await pawl('state', 'orders', 'book')).code, 0);
  assert.equal((await pawl('resolve', '--connection', 'shop', '--skip')).code, 0);
});

test('a topic or a status that is not there is answered with those that are', async (t) => {
  const { pawl } = await openDesk(t);
  const topic = await pawl('publish', 'orders', 'nosuch', '{}');
  assert.equal(topic.code, 2, topic.err);
  assert.match(topic.err, /^pawl: workflow orders has no topic "nosuch"\n {2}why: its topics are placed, booked\n/);
  assert.match(topic.err, /\n {2}next: publish to one of them: pawl publish orders placed PAYLOAD\n/);
  const status = await pawl('runs', 'orders', '--status', 'bogus');
  assert.equal(status.code, 2, status.err);
  assert.match(status.err, /\n {2}next: give status as one of active, .+, crashed, .*committed\n/);
});

test('an event that is there already is said to be, and not to be published', async (t) => {
  const { api, pawl } = await openDesk(t);
  const publish = (payload: string, ...more: string[]) =>
    pawl('publish', 'orders', 'placed', payload, '--message-id', 'o1', ...more);
  assert.match((await pawl('publish', 'orders', 'placed')).err, /pawl publish orders placed '\{\}'\n/);
  await pawl('pause', 'orders');
  assert.match(
    (await pawl('publish', 'orders', 'placed', '{"id":"o10"}', '--message-id', 'o10')).out,
    /^published to /,
  );
  assert.match((await publish('{"id":"o1"}')).out, /^published to placed of orders\n/);
  assert.match((await publish('{"id":"o1","n":2}')).out, /^nothing new was published: .+ it has this payload now\n/);
  await pawl('resume', 'orders');
  await api.stage.quiet();
  assert.match((await publish('{"id":"o1"}')).out, /^nothing new was published: .+ it is consumed; /);
  const [known] = (await publish('{"id":"o1"}', '--json')).json().alreadyThere as [{ status: string }];
  assert.equal(known.status, 'consumed');
});
