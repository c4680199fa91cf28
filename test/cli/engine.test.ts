import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { configFor, EngineProcess, ORDERS, Shop } from './running-engine.ts';
import { type Typed, type } from './typed-terminal.ts';

let folder = '';
let data = '';
let config = '';
let script = '';
let shop: Shop;
let engine: EngineProcess;
let url = '';

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-cli-engine-'));
  data = join(folder, 'data');
  config = join(folder, 'pawl.config.ts');
  script = join(folder, 'orders.ts');
  shop = await Shop.open();
  writeFileSync(config, configFor(shop));
  writeFileSync(script, ORDERS);
  engine = new EngineProcess(['--config', config, '--data', data, '--port', '0']);
  url = await engine.ready();
});
after(async () => {
  await engine.end();
  await shop.close();
  rmSync(folder, { recursive: true, force: true });
});

function pawl(...argv: string[]): Promise<Typed> {
  return type(argv, { env: { PAWL_DATA: data, USER: 'ada' } });
}

interface List {
  readonly schema: number;
  readonly items: readonly Record<string, unknown>[];
}

async function items(...argv: string[]): Promise<List['items']> {
  const typed = await pawl(...argv, '--json');
  assert.equal(typed.code, 0, typed.out);
  const { schema, items: all } = typed.json<List>();
  assert.equal(schema, 1);
  return all;
}

/** The engine works by itself; this asks until what is awaited has come. */
async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    assert.ok(Date.now() < deadline, 'it never came');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function output(status: string): Promise<Record<string, unknown>> {
  return eventually(async () => (await items('outputs', 'orders')).find((row) => row.status === status));
}

describe('an engine that runs', () => {
  test('leaves its address and its token in the data folder, the token for its owner only', () => {
    assert.equal(readFileSync(join(data, 'url'), 'utf8').trim(), url);
    assert.equal(statSync(join(data, 'token')).mode & 0o777, 0o600);
  });

  test('has no workflow at first, and says what to type', async () => {
    const { code, out } = await pawl('status');
    assert.deepEqual([code, out], [0, 'no workflow yet\n  next: deploy one: pawl deploy FILE\n']);
    assert.equal((await pawl('needs')).code, 0);
  });

  test('takes a deployment, says its ids, and the same content is the same version', async () => {
    const first = await pawl('deploy', script);
    assert.equal(first.code, 0, first.err);
    assert.match(first.out, /^orders 1\.0 is deployed, and active; the workflow is active\n/);
    assert.match(first.out, /workflow: wf_\w+\n {2}version: scr_\w+\n/);
    assert.match(first.err, /warning: .*note/);
    const again = await pawl('deploy', script);
    assert.match(again.out, /^orders 1\.0 was deployed before: its content is the same, and active/);
    assert.equal((await items('versions', 'orders')).length, 1);
  });

  test('runs it when triggered, and everything that happened can be listed, shown and explained', async () => {
    const triggered = await pawl('run', 'orders');
    assert.equal(triggered.code, 0, triggered.err);
    assert.match(triggered.out, /^orders is triggered/);
    const applied = await output('applied');
    assert.deepEqual(shop.bookings, ['{"id":"o-1"}']);
    const human = await pawl('outputs', 'orders');
    assert.match(human.out, /^WHEN +OUTPUT +CALL +BECAUSE OF +VERSION +STATUS +ID\n/);
    assert.match(human.out, /Book o-1 +POST .*\/bookings.* Order o-1 +1\.0 /);
    assert.deepEqual(await items('mutations'), await items('outputs', 'orders'));
    await eventually(async () => (await items('inputs')).find((row) => row.state === 'done'));
    for (const noun of ['workflows', 'versions', 'sessions', 'runs', 'events', 'inputs', 'logs']) {
      const { code, out } = noun === 'workflows' ? await pawl(noun) : await pawl(noun, 'orders');
      assert.equal(code, 0, noun);
      assert.ok(out.split('\n').length > 2, `${noun}: ${out}`);
      for (const cell of out.split('\n')[1]?.split(/ {2,}/) ?? []) assert.notEqual(cell, 'undefined', noun);
    }
    assert.match((await pawl('logs')).out, /found one/);
    assert.match((await pawl('state', 'orders')).out, /^remember: \{"count":1\}$/m);
    const id = String(applied.id);
    assert.match((await pawl('explain', id)).out, /Order o-1/);
    assert.match((await pawl('show', id)).out, /^output\n|^mutation\n/);
    assert.equal((await pawl('show', id, '--json')).json().schema, 1);
  });

  test('a handler’s state can be replaced', async () => {
    const { code, err } = await pawl('state', 'orders', 'remember', '--set', '{"count":41}');
    assert.equal(code, 0, err);
    assert.equal((await pawl('state', 'orders', 'remember')).out, 'remember: {"count":41}\n');
  });

  test('what does not exist ends with 4, what cannot be with 5, what is malformed with 2', async () => {
    for (const argv of [
      ['pause', 'nobody'],
      ['explain', 'evt_000'],
      ['rollback', 'nobody'],
      ['events', 'nobody'],
    ]) {
      const { code, err } = await pawl(...argv);
      assert.equal(code, 4, `${argv}: ${err}`);
      assert.match(err, /\n {2}why: .+\n {2}next: /);
    }
    const { id } = await output('applied');
    assert.equal((await pawl('resolve', String(id), '--skip')).code, 5);
    assert.equal((await pawl('rollback', 'orders')).code, 4);
    assert.equal((await pawl('finish', 'what')).code, 2);
    assert.equal((await pawl('events', 'orders', '--limit', 'many')).code, 2);
  });

  test('a pause holds, a resume lets go', async () => {
    assert.match((await pawl('pause', 'orders')).out, /^orders is paused; the workflow is paused/);
    assert.match((await pawl('status')).out, /^orders: paused by ada/);
    const published = await pawl('publish', 'orders', 'order.placed', '{"id":"o-2"}', '--message-id', 'o-2');
    assert.equal(published.code, 0, published.err);
    const [event] = await items('events', 'orders', '--topic', 'order.placed', '--status', 'pending');
    assert.equal(event?.messageId, 'o-2');
    const id = String(event?.id);
    for (const [verb, status] of [
      ['park', 'parked'],
      ['unpark', 'pending'],
      ['skip', 'skipped'],
    ] as const) {
      const { code, err } = await pawl(verb, id);
      assert.equal(code, 0, `${verb}: ${err}`);
      assert.equal((await items('events', 'orders', '--status', status)).at(-1)?.id, id);
    }
    const redone = await pawl('redo', id);
    assert.equal(redone.code, 0, redone.err);
    assert.match(redone.out, /evt_/);
    assert.match((await pawl('resume', 'orders')).out, /^orders is resumed; the workflow is active/);
    await eventually(async () => (shop.bookings.length === 2 ? true : undefined));
  });

  test('status of one workflow shows that one alone, and an unknown name says what there is', async () => {
    const all = await items('status');
    const [one] = await items('status', 'orders');
    assert.deepEqual([one?.name, one?.workflow], ['orders', all.find(({ name }) => name === 'orders')?.workflow]);
    assert.match((await pawl('status', 'orders')).out, /^orders: /);
    assert.match((await pawl('status', String(one?.workflow))).out, /^orders: /);
    const { code, out, err } = await pawl('status', 'order');
    assert.deepEqual([code, out], [4, '']);
    assert.match(err, /^pawl: there is no workflow "order"\n {2}why: there is orders\n {2}next: .*: pawl status\n/);
  });

  test('an unknown outcome is asked of a person, with the commands to type, and the answer is taken', async () => {
    shop.answer = 'books and hangs up';
    await pawl('publish', 'orders', 'order.placed', '{"id":"o-3"}', '--message-id', 'o-3');
    const { id } = await output('indeterminate');
    const needs = await eventually(async () => {
      const typed = await pawl('needs');
      return typed.code === 6 ? typed : undefined;
    });
    assert.match(needs.out, /^orders: /);
    assert.ok(needs.out.includes(`pawl resolve ${id} --happened`), needs.out);
    assert.equal((await pawl('resume', 'orders')).code, 5);
    shop.answer = 'books';
    const resolved = await pawl('resolve', String(id), '--happened');
    assert.equal(resolved.code, 0, resolved.err);
    assert.match(resolved.out, /is recorded as done/);
    assert.equal((await pawl('needs')).code, 0);
    assert.equal(shop.bookings.filter((body) => body.includes('o-3')).length, 1);
  });

  test('a connection whose credentials are refused says so, and goes on when it is cured', async () => {
    shop.answer = 'knows nobody';
    await pawl('publish', 'orders', 'order.placed', '{"id":"o-4"}', '--message-id', 'o-4');
    const asked = await eventually(async () => {
      const typed = await pawl('needs');
      return typed.code === 6 ? typed : undefined;
    });
    assert.match(asked.out, /pawl connections (test|cure) shop/);
    const listed = await pawl('connections');
    assert.match(listed.out, /^CONNECTION +TYPE/);
    assert.match(listed.out, /^shop +http/m);
    shop.answer = 'books';
    const cured = await pawl('connections', 'cure', 'shop');
    assert.equal(cured.code, 0, cured.err);
    await eventually(async () => (shop.bookings.some((body) => body.includes('o-4')) ? true : undefined));
    assert.equal((await pawl('connections', 'test', 'shop')).code, 0);
  });

  test('a new version takes over, and the version before comes back', async () => {
    writeFileSync(script, ORDERS.replace('found one', 'found another'));
    const refused = await pawl('deploy', script, '--base', '9.9');
    assert.notEqual(refused.code, 0);
    const kept = await pawl('deploy', script, '--no-activate');
    assert.match(kept.out, /^orders 1\.1 is deployed, and waits to be activated/);
    const second = await pawl('deploy', script, '--base', '1.0');
    assert.match(second.out, /undo: pawl rollback orders/);
    const back = await pawl('rollback', 'orders');
    assert.equal(back.code, 0, back.err);
    assert.match(back.out, /^orders runs 1\.0 again/);
    assert.deepEqual(
      (await items('versions', 'orders')).map(({ version, active }) => [version, active]),
      [
        ['1.1', false],
        ['1.0', true],
      ],
    );
  });

  test('everything that must be true is', async () => {
    const { code, out } = await pawl('doctor');
    const symptoms = ['stuck in scheduled', 'children not following', 'duplicate updates', 'cancelled but not shown'];
    const [held, looked, ...found] = out.trimEnd().split('\n');
    assert.equal(code, 0, out);
    assert.match(held ?? '', /^\d+ invariants hold$/);
    assert.equal(looked, 'looked for, and found well:');
    assert.deepEqual(
      found.map((line) => line.trim().split(': ')[0]),
      [...symptoms, 'workers at odds', 'queue warnings', 'nobody at work'],
    );
  });

  test('the engine is found by its address alone, and not without its token', async () => {
    assert.equal((await type(['workflows'], { env: { PAWL_URL: url } })).code, 0);
    const wrong = await type(['workflows'], { env: { PAWL_URL: url, PAWL_TOKEN: 'not-it' } });
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /token/);
  });

  test('a second engine on the same folder is refused, and says who has it', async () => {
    const second = await new EngineProcess(['--config', config, '--data', data, '--port', '0']).ended;
    assert.deepEqual([second.code, second.out], [5, '']);
    assert.match(second.err, new RegExp(`is in use by process ${engine.child.pid}`));
  });

  test('a port that is taken is refused, and the folder is let go', async () => {
    const other = join(folder, 'other');
    const { port } = new URL(url);
    const refused = await new EngineProcess(['--config', config, '--data', other, '--port', port]).ended;
    assert.deepEqual([refused.code, refused.out], [5, '']);
    assert.match(refused.err, new RegExp(`port ${port}`));
    assert.equal((await type(['doctor', '--data', other])).code, 0);
  });

  test('a backup that is put back starts on hold, and says what to do', async () => {
    const file = join(folder, 'backup.db');
    const written = await pawl('backup', file);
    assert.equal(written.code, 0, written.err);
    assert.equal((await pawl('backup', file)).code, 5);
    const again = join(folder, 'again');
    const restored = await type(['restore', file, '--data', again]);
    assert.equal(restored.code, 0, restored.err);
    assert.match(restored.out, /pawl start --data /);
    assert.equal((await type(['restore', file, '--data', again])).code, 5);
    assert.match((await type(['doctor', '--data', again])).out, /invariants hold/);
    const second = new EngineProcess(['--config', config, '--data', again, '--port', '0']);
    await second.ready();
    const at = { env: { PAWL_DATA: again } };
    const status = await type(['status'], at);
    assert.match(status.out, /put back from a backup/);
    assert.match(status.out, /pawl resume orders/);
    assert.equal((await type(['needs'], at)).code, 6);
    assert.equal((await type(['resume', 'orders'], at)).code, 0);
    assert.equal((await type(['needs'], at)).code, 0);
    await second.end();
  });

  test('archives when it is told to; only a person at a terminal is asked', async () => {
    const env = { PAWL_DATA: data };
    const declined = await type(['archive', 'orders'], { env, answers: false });
    assert.deepEqual([declined.code, declined.out], [1, '']);
    assert.equal((await items('workflows'))[0]?.status, 'active');
    assert.match((await pawl('archive', 'orders')).out, /^orders is archived/);
  });
});

test('an engine prints one line, and drains at a signal with nothing left active', async (t) => {
  const own = join(folder, 'own');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const one = new EngineProcess(['--config', config, '--data', own, '--port', '0']);
    t.after(() => one.child.kill('SIGKILL'));
    const address = await one.ready();
    const { code, out, err } = await one.end(signal);
    assert.deepEqual([code, out], [0, `pawl ready ${address}\n`], err);
    assert.match(err, /stopped: nothing is left active/);
  }
  const { code, err } = await type(['status', '--data', own]);
  assert.equal(code, 7, err);
  assert.match(err, /no engine runs on this data folder\n {2}next: start one: pawl start --data /);
});

test('a call under way is awaited and recorded before the engine ends', async (t) => {
  const own = join(folder, 'draining');
  const at = { env: { PAWL_DATA: own } };
  const start = ['--config', config, '--data', own, '--port', '0'];
  const first = new EngineProcess(start);
  t.after(() => first.child.kill('SIGKILL'));
  await first.ready();
  writeFileSync(script, ORDERS);
  await type(['deploy', script], at);
  shop.answer = 'books when it is told to';
  await type(['publish', 'orders', 'order.placed', '{"id":"o-9"}', '--message-id', 'o-9'], at);
  await eventually(async () => (shop.held.length > 0 ? true : undefined));
  first.child.kill('SIGTERM');
  shop.answer = 'books';
  for (const answer of shop.held.splice(0)) answer();
  const { code, err } = await first.ended;
  assert.equal(code, 0, err);
  const second = new EngineProcess(start);
  t.after(() => second.child.kill('SIGKILL'));
  await second.ready();
  await eventually(async () => {
    const { items: all } = (await type(['inputs', 'orders', '--json'], at)).json<List>();
    const { items: outputs } = (await type(['outputs', 'orders', '--json'], at)).json<List>();
    const { items: pending } = (await type(['events', 'orders', '--status', 'pending', '--json'], at)).json<List>();
    return all.length === 0 && outputs[0]?.status === 'applied' && pending.length === 0 ? true : undefined;
  });
  assert.doesNotMatch((await second.end()).err, /recovered/);
  assert.equal(shop.bookings.filter((body) => body.includes('o-9')).length, 1);
});
