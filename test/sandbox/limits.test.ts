import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { LIMITS, type LimitName, type Limits } from '#sandbox';
import { type Asked, SandboxWorld } from './sandbox-world.ts';

const never = () => new Promise<string>(() => undefined);

test('the limits are those of the design', () => {
  const MIB = 1_024 * 1_024;
  const { stackBytes, inputs, logs, logChars, callChars, inputChars, sentBytes, answerChars, ...designed } = LIMITS;
  assert.deepEqual(designed, {
    memoryBytes: 64 * MIB,
    cpuMs: 2_000,
    wallMs: 30_000,
    totalMs: 300_000,
    killAfterMs: 1_000,
    resultChars: MIB,
    eventChars: MIB / 4,
    publishes: 1_000,
    hostCalls: 1_000,
    titleChars: 200,
    reservations: 1_000,
  });
  assert.ok([stackBytes, inputs, logs, logChars, callChars, inputChars, sentBytes, answerChars].every((l) => l > 0));
});

describe('each limit has its own error, which names it', () => {
  const flood = (call: string) => `for (let i = 0; i < 1001; i++) ${call};`;
  const cases: Readonly<Record<string, readonly [LimitName, Asked, Partial<Limits>?]>> = {
    'memory in one piece': ['memory', { body: 'return new Uint8Array(65 * 1024 * 1024).length;' }],
    'memory in many pieces': ['memory', { body: 'const all = []; for (;;) all.push({ n: all.length });' }],
    'memory in strings': ['memory', { body: "let s = 'x'; for (;;) s += s;" }],
    'memory held by what stays': [
      'memory',
      { body: 'for (;;) globalThis.all.push(new Array(1000).fill(1));', top: 'var all = [];' },
    ],
    'processor time in a loop': ['cpu', { body: 'for (;;);' }, { cpuMs: 200 }],
    'processor time in a storm of jobs': [
      'cpu',
      { body: 'const f = () => Promise.resolve().then(f); await f();' },
      { cpuMs: 200 },
    ],
    'processor time in a regular expression': [
      'cpu',
      { body: "return /^(a+)+$/.test('a'.repeat(40) + 'b');" },
      { cpuMs: 200 },
    ],
    'processor time in catch': [
      'cpu',
      { body: 'for (;;) { try { for (;;); } catch { for (;;); } finally { for (;;); } }' },
      { cpuMs: 200 },
    ],
    'processor time in toJSON of the result': ['cpu', { body: 'return { toJSON() { for (;;); } };' }, { cpuMs: 200 }],
    'processor time at the top level': ['cpu', { top: 'for (;;);' }, { cpuMs: 200 }],
    'processor time where the engine never looks up': [
      'cpu',
      { body: "return Array(2 ** 30).join('').length;" },
      { cpuMs: 200, killAfterMs: 300 },
    ],
    'time without a host call': ['wall', { body: 'for (;;);' }, { wallMs: 1_000, cpuMs: 60_000 }],
    'time in all, waiting for the host': [
      'total',
      { body: 'await ctx.shop.get();', onCall: never },
      { totalMs: 1_000 },
    ],
    'time in all, computing': ['total', { body: 'for (;;);' }, { totalMs: 1_000, cpuMs: 60_000 }],
    'the stack': ['stack', { body: 'const f = () => f() + 1; return f();' }],
    'the stack, in data': ['stack', { body: "return JSON.parse('['.repeat(100000) + ']'.repeat(100000));" }],
    'the result': ['result', { body: "return 'x'.repeat(1024 * 1024);" }],
    'an event': ['event', { body: "ctx.publish('out', { messageId: '1', payload: 'x'.repeat(256 * 1024) });" }],
    publishes: ['publishes', { body: flood("ctx.publish('out', { messageId: String(i), payload: i })") }],
    'host calls': ['hostCalls', { body: flood('ctx.shop.get()') }],
    'host calls, one by one': ['hostCalls', { body: flood('await ctx.shop.get()') }],
    inputs: ['inputs', { body: flood("ctx.registerInput({ source: 's', type: 't', id: String(i), title: 'x' })") }],
    'log lines': ['logs', { body: flood('ctx.log(i)') }],
    'one log line': ['log', { body: "ctx.log('x'.repeat(65536));" }],
    'the arguments of a read': ['call', { body: "await ctx.shop.get({ x: 'x'.repeat(1024 * 1024) });" }],
    'the arguments of a mutation': [
      'call',
      { phase: 'mutate', body: "return ctx.shop.post({ x: 'x'.repeat(1024 * 1024) });" },
    ],
    'all it sends': [
      'sent',
      {
        body: "for (let i = 0; i < 100; i++) ctx.publish('out', { messageId: String(i), payload: 'x'.repeat(250000) });",
      },
    ],
    'an answer': ['answer', { body: 'await ctx.shop.get();', onCall: async () => JSON.stringify('x'.repeat(17e6)) }],
    'an input': ['input', { body: "ctx.registerInput({ source: 's', type: 't', id: 'x'.repeat(5000), title: 'x' });" }],
    'the title of an event': [
      'title',
      { body: "ctx.publish('out', { messageId: '1', title: 'x'.repeat(201), payload: 1 });" },
    ],
    'the title of an input': [
      'title',
      { body: "ctx.registerInput({ source: 's', type: 't', id: '1', title: 'x'.repeat(10000000) });" },
    ],
    'the title of a result': [
      'title',
      { phase: 'prepare', body: "return { reservations: [], data: 1, ui: { title: 'x'.repeat(201) } };" },
    ],
    'the title of what is taken': [
      'title',
      {
        phase: 'prepare',
        body: "return ctx.take({ topic: 'in', messageId: '1' }, { data: 1, title: 'x'.repeat(201) });",
      },
    ],
    reservations: [
      'reservations',
      { phase: 'prepare', body: "return { reservations: [{ topic: 'in', ids: Array(1001).fill('1') }], data: 1 };" },
    ],
  };
  // One pool for all that keep the real limits: each also shows that it goes on after the one before.
  const shared = new SandboxWorld({ after });
  for (const [name, [limit, asked, limits]] of Object.entries(cases)) {
    test(name, async (t) => {
      const world = limits === undefined ? shared : new SandboxWorld(t, { limits });
      const { errorKind, limit: hit, message } = await world.failed(asked);
      assert.deepEqual([errorKind, hit], ['limit', limit], message);
      assert.match(message, new RegExp(`^limit ${limit}: `));
      assert.equal(await world.result({ body: "return 'still here';" }), 'still here');
    });
  }
});

test('a script may go on after an error it can catch: a stack that ran out, memory it did not get', async (t) => {
  const world = new SandboxWorld(t);
  assert.equal(
    await world.result({ body: "const f = () => f() + 1; try { f(); } catch { return 'caught'; }" }),
    'caught',
  );
  const body = "try { new ArrayBuffer(1e9); } catch { return 'caught'; }";
  assert.equal(await world.result({ body }), 'caught');
});

test('what stays inside a limit passes', async (t) => {
  const world = new SandboxWorld(t);
  const body = `for (let i = 0; i < 1000; i++) {
    const inputId = ctx.registerInput({ source: 's', type: 't', id: String(i), title: 'x'.repeat(200) });
    ctx.publish('out', { messageId: String(i), inputId, payload: i });
    ctx.log(i);
  }
  ctx.publish;
  return 'x'.repeat(1024 * 1024 - 2).length;`;
  assert.equal(await world.result({ body }), 1_024 * 1_024 - 2);
  assert.equal(world.calls.length, 3_000);
});

test('time the host takes to answer is not time the script took', async (t) => {
  const world = new SandboxWorld(t, { limits: { wallMs: 800, killAfterMs: 100 } });
  const slow = () => new Promise<string>((resolve) => setTimeout(() => resolve('"late"'), 1_500));
  assert.equal(await world.result({ body: 'return await ctx.shop.get();', onCall: slow }), 'late');
});

test('processor time is counted for each phase of a message', async (t) => {
  const world = new SandboxWorld(t, { limits: { cpuMs: 400 } });
  const burn = 'for (let i = 0; i < 3e6; i++);';
  const code = `globalThis.__pawl_workflow = { consumers: { h: { subscribe: ['in'],
    async prepare() { ${burn} return { reservations: [{ topic: 'in', ids: ['1'] }], data: 1 }; },
    async mutate(ctx) { for (;;); } } } };`;
  const { limit, phase } = await world.failed({ phase: 'prepare', andMutate: true, code, scriptId: 'both' });
  assert.deepEqual([limit, phase], ['cpu', 'mutate']);
});

test('a script that never looks up again after a slow answer is ended by its processor time, not by the time without calls', async (t) => {
  const world = new SandboxWorld(t, { limits: { cpuMs: 200, killAfterMs: 200, wallMs: 30_000 } });
  const slow = () => new Promise<string>((resolve) => setTimeout(() => resolve('1'), 700));
  const startedAt = performance.now();
  const { limit } = await world.failed({
    body: "await ctx.shop.get(); return Array(2 ** 30).join('').length;",
    onCall: slow,
  });
  assert.equal(limit, 'cpu');
  assert.ok(performance.now() - startedAt < 10_000);
});

test('many calls at once are all answered, a few at a time', async (t) => {
  const world = new SandboxWorld(t);
  let [now, most] = [0, 0];
  const onCall = async ({ args }: { args: string }) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 2));
    now--;
    return args;
  };
  const body =
    'const all = []; for (let i = 0; i < 100; i++) all.push(ctx.shop.get(i)); return (await Promise.all(all)).map((a) => a[2]);';
  assert.deepEqual(
    await world.result({ body, onCall }),
    Array.from({ length: 100 }, (_, i) => i),
  );
  assert.equal(most, 8);
});
