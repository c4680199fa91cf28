import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { configFor, EngineProcess, ORDERS, Shop } from './running-engine.ts';
import { type } from './typed-terminal.ts';

const PAYLOAD = 'canary-7f3a';

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** An engine that has met an unknown outcome, and was then ended; what it said meanwhile. */
async function saidBy(t: TestContext, ...options: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-log-'));
  const shop = await Shop.open();
  const data = join(folder, 'data');
  const script = join(folder, 'orders.ts');
  writeFileSync(join(folder, 'pawl.config.ts'), configFor(shop));
  writeFileSync(script, ORDERS);
  const config = join(folder, 'pawl.config.ts');
  const engine = new EngineProcess(['--config', config, '--data', data, '--port', '0', ...options]);
  t.after(async () => {
    engine.child.kill('SIGKILL');
    await shop.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await engine.ready();
  const env = { PAWL_DATA: data, USER: 'ada' };
  shop.answer = 'books and hangs up';
  assert.equal((await type(['deploy', script], { env })).code, 0);
  const event = ['publish', 'orders', 'order.placed', JSON.stringify({ id: PAYLOAD }), '--message-id', 'm-1'];
  assert.equal((await type(event, { env })).code, 0);
  const deadline = Date.now() + 60_000;
  while ((await type(['needs'], { env })).code !== 6) {
    assert.ok(Date.now() < deadline, 'nobody was asked');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return (await engine.end()).err;
}

test('where nobody looks on, every line is JSON with ids, and has nothing of what was said or sent', async (t) => {
  const said = await saidBy(t, '--log-level', 'debug');
  const lines = said
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  for (const { level, time, msg } of lines) {
    assert.ok(['debug', 'info', 'warn', 'error'].includes(level));
    assert.ok(Number.isFinite(Date.parse(time)) && msg !== '');
  }
  const of = (msg: RegExp): Line => {
    const line = lines.find((each) => msg.test(each.msg));
    assert.ok(line, `${msg} is not in ${said}`);
    return line;
  };
  const call = of(/^nobody knows what came of a call/);
  assert.equal(call.level, 'warn');
  const stopped = of(/^a run stopped: paused:reconciliation$/);
  assert.match(String(call.mutation), /^m_|^mut/);
  assert.deepEqual([call.run, call.workflow], [stopped.run, stopped.workflow]);
  assert.deepEqual([call.connection, call.method, stopped.handler], ['shop', 'post', 'book']);
  assert.equal(of(/^a workflow is paused$/).workflow, call.workflow);
  assert.equal(of(/^a person acted$/).by, 'ada');
  assert.equal(of(/^a run began$/).level, 'debug');
  of(/^stopped: nothing is left active$/);
  for (const secret of [PAYLOAD, 'ref', '/bookings']) assert.ok(!said.includes(secret), `${secret} is in ${said}`);
});

test('a person is told of trouble in plain lines', async (t) => {
  const said = await saidBy(t, '--log', 'human');
  assert.match(said, /^pawl: nobody knows what came of a call, and .* \(.*workflow \S+, run \S+, mutation \S+/m);
  assert.match(said, /^pawl: stopped: nothing is left active$/m);
  assert.doesNotMatch(said, /a run began|\{/);
});

test('a word that is no format or level is refused before anything is opened', async () => {
  const { code, err } = await type(['start', '--data', '/nowhere'], { env: { PAWL_LOG: 'yaml' } });
  assert.equal(code, 2);
  assert.match(err, /PAWL_LOG is "yaml"\n {2}why: it is one of human, json/);
  assert.equal((await type(['start', '--log-level', 'loud'])).code, 2);
});
