import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { stat } from 'node:fs';
import { test } from 'node:test';
import { SandboxWorld } from './sandbox-world.ts';
import { held, stateOf, until } from './watch.ts';

// A child is sent more than it works on: what stands behind a request must not feel what becomes of that.

const ids = ['a', 'b', 'c'];

test('what stands behind a request that dies with its child is run by another one', async (t) => {
  const world = new SandboxWorld(t);
  await world.result({});
  const host = held();
  const first = world.failed({ body: 'await ctx.shop.get();', onCall: host.onCall });
  const behind = ids.map((id) => world.result({ scriptId: id, body: `return '${id}';` }));
  await host.called;
  const [pid = 0] = world.pool.pids;
  process.kill(pid, 'SIGKILL');
  assert.equal((await first).errorKind, 'crashed');
  assert.deepEqual(await Promise.all(behind), ids);
  assert.ok(!world.pool.pids.includes(pid));
});

test('what stands behind one that breaks its limit is run by another one, and is not charged for it', async (t) => {
  const world = new SandboxWorld(t, { limits: { cpuMs: 300, killAfterMs: 100 } });
  await world.result({});
  // The engine looks at nothing while it joins: only the host can end it.
  const first = world.failed({ body: "return Array(2 ** 30).join('').length;" });
  const behind = ids.map((id) => world.result({ scriptId: id, body: `return '${id}';` }));
  assert.equal((await first).errorKind, 'limit');
  assert.deepEqual(await Promise.all(behind), ids);
});

test('behind one that waits for its provider nobody waits for long', async (t) => {
  const world = new SandboxWorld(t, { children: 1, childrenMax: 2, longMs: 30 });
  await world.result({});
  const host = held();
  const first = world.result({ body: 'return await ctx.shop.get();', onCall: host.onCall });
  const behind = ids.map((id) => world.result({ scriptId: id, body: `return '${id}';` }));
  await host.called;
  assert.deepEqual(await Promise.all(behind), ids, 'while the first still waits');
  host.answer('"first"');
  assert.equal(await first, 'first');
  assert.equal(await world.result({}), 1);
});

test('one that was given up while it stood behind another is not run, and the others are', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1 });
  await world.result({});
  const host = held();
  const aborted = new AbortController();
  const first = world.result({ body: 'return await ctx.shop.get();', onCall: host.onCall });
  const given = world.failed({ body: 'ctx.log("ran");', signal: aborted.signal });
  const last = world.result({ body: 'return "last";' });
  await host.called;
  aborted.abort();
  assert.equal((await given).errorKind, 'cancelled');
  host.answer('1');
  assert.deepEqual(await Promise.all([first, last]), [1, 'last']);
  assert.deepEqual(world.calls, [], 'nothing it says is heard');
});

test('a script that the child has dropped is sent again, and nobody gets the answer of another', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1, imageBytesMax: 1 });
  const rounds = Array.from({ length: 40 }, (_, i) => `${i % 5}`);
  const given = rounds.map((id, i) => world.result({ scriptId: id, body: `return '${id}';`, runId: `run_${i}` }));
  assert.deepEqual(await Promise.all(given), rounds);
});

test('a pool that is closed tells everybody who stands in a line', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1 });
  await world.result({});
  const host = held();
  const all = [world.run({ body: 'await ctx.shop.get();', onCall: host.onCall }), world.run({}), world.run({})];
  const told = Promise.allSettled(all);
  await host.called;
  await world.pool.close();
  assert.deepEqual(
    (await told).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
});

/** The host does nothing else meanwhile, and hears nothing. */
function beBusy(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

test('one that was given up while another computes is not begun', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1, limits: { killAfterMs: 100 } });
  await world.result({});
  const aborted = new AbortController();
  // Everything lies before it when it goes on: whether it hears in time of what is said while it computes is not for a test to count on.
  const [pid = 0] = world.pool.pids;
  process.kill(pid, 'SIGSTOP');
  await until(() => stateOf(pid) === 'T');
  const first = world.result({ body: 'for (let i = 0; i < 500_000; i++); return 1;' });
  const given = world.failed({ body: 'for (;;);', signal: aborted.signal });
  const last = world.result({ body: 'return "last";' });
  aborted.abort();
  process.kill(pid, 'SIGCONT');
  assert.deepEqual([await first, (await given).errorKind, await last], [1, 'cancelled', 'last']);
  assert.deepEqual(world.pool.counts, { started: 1, lost: 0 });
});

test('one that was given up before its child asks for its code is not sent again', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1, imageBytesMax: 1, limits: { killAfterMs: 100 } });
  const script = { phase: 'prepare', scriptId: 'known', body: 'if (first === "loop") for (;;); return 1;' } as const;
  await world.result(script);
  const aborted = new AbortController();
  const given = world.failed({ ...script, values: ['loop'], signal: aborted.signal });
  await new Promise((resolve) => setImmediate(resolve));
  beBusy(100);
  aborted.abort();
  assert.equal((await given).errorKind, 'cancelled');
  assert.equal(await world.result({}), 1);
  assert.deepEqual(world.pool.counts, { started: 1, lost: 0 });
});

test('what was to follow one that has returned is told when its child dies, whatever stands before it', async (t) => {
  const world = new SandboxWorld(t, { imageBytesMax: 1 });
  await world.result({});
  const code = `globalThis.__pawl_workflow = { name: 'w', uses: {}, topics: { in: {} }, consumers: { h: { subscribe: ['in'], publishes: [],
    async prepare() { return null; }, async next() { return { n: 1 }; } } } };`;
  const both = { code, scriptId: 'both', phase: 'next', values: [{}, {}] } as const;
  const onCall = () => Promise.resolve('null');
  const following = { ...both, phase: 'prepare', args: '[null]', handler: 'h', runId: 'run_2', startedAt: 0 } as const;
  const leader = world.returned({ ...both, following: { ...following, uses: ['shop'], onCall } });
  const host = held();
  const other = world.failed({ body: 'await ctx.shop.get();', onCall: host.onCall });
  const { following: behind } = await leader;
  await host.called;
  process.kill(world.pool.pids[0] ?? 0, 'SIGKILL');
  assert.equal((await other).errorKind, 'crashed');
  const outcome = await behind;
  assert.equal(outcome?.kind === 'failed' && outcome.errorKind, 'crashed');
});

test('a host that had no time hears what its child has done before it finds anything overdue', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1, limits: { cpuMs: 200, killAfterMs: 20 } });
  const loop = (turns: number) =>
    world.returned({ phase: 'prepare', body: 'for (let i = 0; i < first; i++); return 1;', values: [turns] });
  await loop(1_000_000);
  const { cpuMs } = await loop(1_000_000);
  const turns = Math.round((90 / cpuMs) * 1_000_000);
  const all = Array.from({ length: 4 }, () => loop(turns));
  // Busy with what it heard: its timers come before it hears more.
  await new Promise<void>((resolve) => stat('/', () => resolve(beBusy(700))));
  const took = (await Promise.all(all)).map((each) => each.cpuMs);
  assert.ok(took.reduce((sum, ms) => sum + ms) > 220, `that shows nothing: ${took}`);
});

test('whoever stood behind another for long and was given up there does not count as slow', async (t) => {
  const world = new SandboxWorld(t, { children: 1, childrenMax: 2, longMs: 30 });
  const wait = ({ onCall }: ReturnType<typeof held>, scriptId: string) =>
    world.result({ scriptId, body: 'return await ctx.shop.get();', onCall });
  const [one, two] = [held(), held()];
  const both = [wait(one, 'before')];
  await one.called;
  both.push(wait(two, 'before'));
  await two.called;
  one.answer('1');
  two.answer('2');
  await Promise.all(both);
  // Two children, no third may be started, and both wait.
  const [three, four] = [held(), held()];
  const aborted = new AbortController();
  const waits = [wait(three, 'waits'), wait(four, 'waits')];
  const given = world.failed({ scriptId: 'innocent', signal: aborted.signal });
  await Promise.all([three.called, four.called]);
  await new Promise((resolve) => setTimeout(resolve, 400));
  aborted.abort();
  assert.equal((await given).errorKind, 'cancelled');
  three.answer('3');
  four.answer('4');
  await Promise.all(waits);
  // Were it slow it would need a child of its own, and there is no room for one.
  const isAmongOthers = world.result({ scriptId: 'innocent' }).then(() => true);
  const late = new Promise((resolve) => setTimeout(resolve, 3_000).unref());
  assert.equal(await Promise.race([isAmongOthers, late]), true);
});

test('a script with many requests has a line at most before it is the turn of another', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1 });
  await world.result({});
  const order: string[] = [];
  const run = (scriptId: string) => world.result({ scriptId }).then(() => order.push(scriptId));
  await Promise.all([...Array.from({ length: 20 }, () => run('many')), run('one')]);
  assert.ok(order.indexOf('one') <= 5, order.join(' '));
});

test('a child that is ended because it computed for long runs nothing of what stood behind', () => {
  const isRoot = process.getuid?.() === 0;
  // Root may raise a priority again, so root lends it an account that may do nothing.
  const nobody = { uid: 65_534, gid: 65_534 };
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', `${import.meta.dirname}/processes/retiring-child.ts`],
    { encoding: 'utf8', ...(isRoot ? nobody : {}) },
  );
  assert.equal(stdout, JSON.stringify([1, 'cpu', false, true]), stderr);
});
