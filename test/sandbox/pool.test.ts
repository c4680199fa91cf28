import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { SandboxClosedError } from '#sandbox';
import { SandboxWorld } from './sandbox-world.ts';
import { held, stateOf, until } from './watch.ts';

function niceOf(pid: number | undefined): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16];
}

describe('a child that is lost is replaced', () => {
  test('killed in the middle of a run: that run crashed, the next one goes well', async (t) => {
    const world = new SandboxWorld(t);
    const host = held();
    const running = world.failed({ body: 'await ctx.shop.get();', onCall: host.onCall });
    await host.called;
    const [pid = 0] = world.pool.pids;
    process.kill(pid, 'SIGKILL');
    const { errorKind, message } = await running;
    assert.equal(errorKind, 'crashed');
    assert.match(message, /was ended by SIGKILL/);
    assert.equal(await world.result({}), 1);
    assert.notEqual(world.pool.pids[0], pid);
  });

  test('killed while it was idle: nobody notices', async (t) => {
    const world = new SandboxWorld(t);
    await world.result({});
    const [pid = 0] = world.pool.pids;
    process.kill(pid, 'SIGKILL');
    await until(() => !world.pool.pids.includes(pid));
    assert.equal(await world.result({}), 1);
  });

  test('frozen: ended by the host after the time without a host call', async (t) => {
    const world = new SandboxWorld(t, { limits: { wallMs: 1_500, killAfterMs: 500 } });
    await world.result({});
    const [pid = 0] = world.pool.pids;
    process.kill(pid, 'SIGSTOP');
    const { limit } = await world.failed({});
    assert.equal(limit, 'wall');
    await until(() => !existsSync(`/proc/${pid}`));
    assert.equal(await world.result({}), 1);
  });

  test('one that does not let go of a run given up is ended', async (t) => {
    const world = new SandboxWorld(t, { childrenMax: 1, limits: { killAfterMs: 200, cpuMs: 60_000 } });
    const aborted = new AbortController();
    const host = held();
    const body = "await ctx.shop.get(); return Array(2 ** 30).join('').length;";
    const running = world.failed({ body, signal: aborted.signal, onCall: host.onCall });
    await host.called;
    const [pid] = world.pool.pids;
    host.answer('null');
    await new Promise((resolve) => setImmediate(resolve));
    aborted.abort();
    assert.equal((await running).errorKind, 'cancelled');
    assert.equal(await world.result({}), 1);
    assert.notDeepEqual(world.pool.pids, [pid]);
  });
});

describe('one script does not hold up the others', () => {
  test('while one loops to its limit, another keeps its pace', async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 2, longMs: 50, limits: { cpuMs: 1_500 } });
    // Both children are started before: how long that takes is not what is asked.
    const host = held();
    const first = world.result({ body: 'return await ctx.shop.get();', onCall: host.onCall });
    await host.called;
    await world.result({ scriptId: 'good' });
    host.answer('1');
    await first;
    const looping = world.failed({ body: 'for (;;);', scriptId: 'bad' });
    let count = 0;
    let isOver = false;
    void looping.then(() => {
      isOver = true;
    });
    for (; !isOver; count++) await world.result({ scriptId: 'good' });
    assert.equal((await looping).limit, 'cpu');
    assert.ok(count > 50, `${count} runs beside it`);
  });

  test('one that computes for long gives way to the others, and its child comes back to its place', async (t) => {
    const world = new SandboxWorld(t);
    const nice = () => niceOf(world.pool.pids[0]);
    await world.result({});
    assert.equal(nice(), '10');
    const looping = world.failed({ body: 'for (;;);' });
    await until(() => nice() === '19');
    assert.equal((await looping).limit, 'cpu');
    assert.equal(await world.result({}), 1);
    assert.equal(nice(), '10');
  });

  test('requests take turns by script', async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 1 });
    const order: string[] = [];
    const host = held();
    const first = world.run({ body: 'await ctx.shop.get();', onCall: host.onCall });
    const run = (scriptId: string, runId: string) =>
      world.run({ scriptId, runId }).then(() => {
        order.push(runId);
      });
    const all = ['a1', 'a2', 'a3'].map((id) => run('a', id));
    all.push(run('b', 'b1'), run('c', 'c1'));
    await host.called;
    host.answer('null');
    await Promise.all([first, ...all]);
    assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  test('however many scripts known as slow wait for an answer, the others find a place', async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 3, longMs: 10, limits: { totalMs: 10_000 } });
    const slow = Array.from({ length: 6 }, (_, i) => `slow ${i}`);
    const body = 'return await ctx.shop.get();';
    const onCall = () => new Promise<string>((resolve) => setTimeout(() => resolve('2'), 150));
    await Promise.all(slow.map((scriptId) => world.result({ scriptId, body, onCall })));
    const host = held();
    const waits = slow.map((scriptId) => world.result({ scriptId, body, onCall: host.onCall }));
    await host.called;
    for (let i = 0; i < 20; i++) assert.equal(await world.result({ scriptId: 'good' }), 1);
    host.answer('2');
    assert.deepEqual(await Promise.all(waits), Array(6).fill(2));
  });

  test('a script that computed much runs apart from then on, at the lowest priority, and takes no child of others along', async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 2, limits: { cpuMs: 300 } });
    await world.result({ scriptId: 'good' });
    await world.result({ scriptId: 'other' });
    const [pid = 0] = world.pool.pids;
    const looping = () => world.failed({ body: 'for (;;);', scriptId: 'bad' });
    await looping();
    const again = looping();
    await until(() => world.pool.pids.length === 2);
    const [, apart = 0] = world.pool.pids;
    await until(() => niceOf(apart) === '19');
    process.kill(apart, 'SIGKILL');
    assert.equal((await again).errorKind, 'crashed');
    assert.equal(await world.result({ scriptId: 'good' }), 1);
    assert.deepEqual([world.pool.pids, niceOf(pid)], [[pid], '10']);
  });

  test('a script that runs apart stands still beside a short phase, but not for long', async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 2, limits: { cpuMs: 800 } });
    await world.result({ scriptId: 'good' });
    await world.result({ scriptId: 'other' });
    const bad = { body: 'await ctx.shop.get(); for (;;);', scriptId: 'bad' };
    await world.failed(bad);
    // The child it runs apart in has started when it asks, and all was quiet meanwhile.
    const begun = held();
    const again = world.failed({ ...bad, onCall: begun.onCall });
    await begun.called;
    const [, apart = 0] = world.pool.pids;
    begun.answer('null');
    await until(() => stateOf(apart) === 'R');
    const host = held();
    const short = world.result({ scriptId: 'good', body: 'return await ctx.shop.get();', onCall: host.onCall });
    await host.called;
    await until(() => stateOf(apart) === 'T');
    // The other still waits for its answer.
    await until(() => stateOf(apart) === 'R');
    host.answer('2');
    assert.equal(await short, 2);
    assert.equal((await again).limit, 'cpu');
  });

  test('an engine that dies while it holds a child leaves none behind', async () => {
    const { stdout, signal } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', `${import.meta.dirname}/dying-holder.ts`],
      { encoding: 'utf8' },
    );
    assert.equal(signal, 'SIGKILL');
    const pids = JSON.parse(stdout) as number[];
    assert.equal(pids.length, 2);
    await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)));
  });

  test('a child that stands apart and idle is lent to the others rather than have them wait', async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 2, longMs: 50 });
    const slow = () => new Promise<string>((resolve) => setTimeout(() => resolve('2'), 600));
    await world.result({ scriptId: 'slow' });
    await world.result({ scriptId: 'slow', body: 'return await ctx.shop.get();', onCall: slow });
    const [pid = 0] = world.pool.pids;
    await until(() => niceOf(pid) === '19');
    await world.result({ scriptId: 'good' });
    const host = held();
    const holding = world.result({ body: 'return await ctx.shop.get() + 1;', onCall: host.onCall });
    await host.called;
    assert.equal(await world.result({ scriptId: 'good' }), 1);
    assert.deepEqual([world.pool.pids.length, niceOf(pid)], [2, '10']);
    host.answer('1');
    assert.equal(await holding, 2);
  });

  test('a child that the others can do without is set apart rather than have a script wait for one', {
    timeout: 30_000,
  }, async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 2 });
    await world.result({ scriptId: 'good' });
    const host = held();
    const holding = world.result({ body: 'return await ctx.shop.get();', onCall: host.onCall });
    await host.called;
    assert.equal(await world.result({ scriptId: 'other' }), 1);
    host.answer('2');
    assert.equal(await holding, 2);
    const { pids } = world.pool;
    assert.deepEqual(pids.map(niceOf), ['10', '10']);
    const body = 'for (let i = 0; i < first; i++); return 1;';
    const asked = (count: number) => ({ body, scriptId: 'bad', phase: 'prepare', values: [count] }) as const;
    await world.result(asked(1));
    await world.result(asked(2_000_000));
    assert.equal(await world.result(asked(1)), 1);
    assert.deepEqual([world.pool.pids, pids.map(niceOf).toSorted()], [pids, ['10', '19']]);
    assert.equal(await world.result({ scriptId: 'good' }), 1);
  });

  test('one that has stopped computing much is back among the others', async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 2 });
    await world.result({ scriptId: 'good' });
    const body = 'for (let i = 0; i < first; i++); return 1;';
    const asked = (count: number) => ({ body, scriptId: 'moody', phase: 'prepare', values: [count] }) as const;
    assert.equal(await world.result(asked(1)), 1);
    assert.equal(await world.result(asked(2_000_000)), 1);
    assert.equal(world.pool.pids.length, 1);
    for (let turn = 0; turn < 5; turn++) assert.equal(await world.result(asked(1)), 1);
    assert.equal(world.pool.pids.length, 2);
    const [, apart = 0] = world.pool.pids;
    process.kill(apart, 'SIGKILL');
    await until(() => world.pool.pids.length === 1);
    assert.equal(await world.result(asked(1)), 1);
    assert.equal(world.pool.pids.length, 1);
  });

  test('a script that waits for a slow answer does not keep its child from being added to', async (t) => {
    const world = new SandboxWorld(t, { children: 1, childrenMax: 2, longMs: 20 });
    const host = held();
    const slow = world.result({ body: 'return await ctx.shop.get();', onCall: host.onCall });
    await host.called;
    assert.equal(await world.result({}), 1);
    assert.equal(world.pool.pids.length, 2);
    host.answer('"at last"');
    assert.equal(await slow, 'at last');
  });
});

describe('a late answer', () => {
  test('to a call nobody waited for goes nowhere', async (t) => {
    const world = new SandboxWorld(t);
    const host = held();
    await world.result({ body: 'ctx.shop.get(); return 1;', onCall: host.onCall });
    const next = world.result({ body: 'return await ctx.shop.get();', onCall: () => Promise.resolve('"mine"') });
    host.answer('"late"');
    assert.equal(await next, 'mine');
  });

  test('after the run was given up goes nowhere, and its child works on', async (t) => {
    const world = new SandboxWorld(t, { childrenMax: 1, limits: { totalMs: 1_000 } });
    await world.result({});
    const [pid] = world.pool.pids;
    const host = held();
    const { limit } = await world.failed({ body: 'return await ctx.shop.get();', onCall: host.onCall });
    host.answer('"late"');
    assert.equal(limit, 'total');
    assert.equal(
      await world.result({ body: 'return await ctx.shop.get();', onCall: () => Promise.resolve('"mine"') }),
      'mine',
    );
    assert.deepEqual(world.pool.pids, [pid]);
  });
});

test('children without work are ended', async (t) => {
  const world = new SandboxWorld(t, { idleMs: 100 });
  await world.result({});
  const [pid] = world.pool.pids;
  await until(() => world.pool.pids.length === 0);
  await until(() => !existsSync(`/proc/${pid}`));
  assert.equal(await world.result({}), 1);
});

test('a script whose image was dropped is sent again', async (t) => {
  const world = new SandboxWorld(t, { imageBytesMax: 1 });
  for (let i = 0; i < 3; i++) {
    assert.equal(await world.result({ body: "return 'a';" }), 'a');
    assert.equal(await world.result({ body: "return 'b';" }), 'b');
  }
});

test('other code under the same id is not mixed up with what was loaded before', async (t) => {
  const world = new SandboxWorld(t);
  assert.equal(await world.result({ scriptId: 's', body: 'return 1;' }), 1);
  assert.equal(await world.result({ scriptId: 's', body: 'return 2;' }), 2);
});

test('a cancelled request ends, whether it runs or waits', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1 });
  const aborted = new AbortController();
  const host = held();
  const body = 'await ctx.shop.get();';
  const runs = world.failed({ body, onCall: host.onCall, signal: aborted.signal });
  const waits = world.failed({ signal: aborted.signal });
  await host.called;
  aborted.abort();
  assert.deepEqual([(await runs).errorKind, (await waits).errorKind], ['cancelled', 'cancelled']);
  assert.equal((await world.failed({ signal: aborted.signal })).errorKind, 'cancelled');
  assert.equal(await world.result({}), 1);
});

test('closing ends every child and refuses what runs, waits or comes', async (t) => {
  const world = new SandboxWorld(t, { childrenMax: 1 });
  const host = held();
  const runs = world.run({ body: 'await ctx.shop.get();', onCall: host.onCall });
  const waits = world.run({});
  const refused = [assert.rejects(runs, SandboxClosedError), assert.rejects(waits, SandboxClosedError)];
  await host.called;
  const [pid] = world.pool.pids;
  await world.pool.close();
  await Promise.all(refused);
  await assert.rejects(world.run({}), SandboxClosedError);
  assert.ok(!existsSync(`/proc/${pid}`));
});

test("a child's memory returns after a script that took all it could", async (t) => {
  const world = new SandboxWorld(t);
  await world.result({});
  const rss = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${world.pool.pids[0]}/status`, 'utf8'))?.[1]) / 1_024;
  const before = rss();
  for (let i = 0; i < 5; i++)
    await world.failed({ body: 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));' });
  await world.result({});
  // The memory is given back by a thread of its own.
  await until(() => rss() < before + 25);
});
