import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { SandboxWorld, STARTED_AT } from './sandbox-world.ts';

const world = new SandboxWorld({ after });

test('nothing of the machine can be seen', async () => {
  const names = [
    'process',
    'require',
    'module',
    'global',
    'fetch',
    'console',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'performance',
    'Buffer',
    'WebAssembly',
    'SharedArrayBuffer',
    'Atomics',
    'XMLHttpRequest',
    'navigator',
    'crypto',
    'std',
    'os',
    'print',
    'gc',
  ];
  const body = `return ${JSON.stringify(names)}.filter((name) => name in globalThis);`;
  assert.deepEqual(await world.result({ body }), []);
});

describe('no chain of constructors leads out', () => {
  const ways: readonly string[] = [
    "(() => 1).constructor('return this')()",
    "(async () => 1).constructor('return this')",
    "(function* () {}).constructor('return this')().next().value",
    "ctx.log.constructor('return this')()",
    "ctx.publish.constructor('return this')()",
    "new Error().constructor.constructor('return this')()",
    "Promise.resolve().constructor.constructor('return this')()",
    "Object.getPrototypeOf(ctx).constructor.constructor('return this')()",
    "Reflect.getPrototypeOf(async function () {}).constructor('return this')",
  ];
  for (const way of ways) {
    test(way, async () => {
      const body = `const found = ${way}; const outside = typeof found === 'function' ? await found() : found;
        return [typeof outside.process, typeof outside.require, outside === globalThis];`;
      assert.deepEqual(await world.result({ body }), ['undefined', 'undefined', true]);
    });
  }
});

test('no stack, position or message shows a path of this machine', async () => {
  const body = `const seen = [new Error('x').stack];
    Error.prepareStackTrace = (e, frames) => frames;
    seen.push(typeof new Error('y').stack);
    try { await import('fs'); } catch (e) { seen.push(e); }
    try { ctx.publish('out', null); } catch (e) { seen.push(e.stack); }
    return seen;`;
  const result = (await world.result({ body })) as string[];
  assert.equal(result[1], 'string');
  assert.doesNotMatch(result.join('\n'), /\/|file:|node:/);
});

test('what a phase changed is gone in the next: globals, prototypes, intrinsics, its own context', async () => {
  const top = 'const memory = { n: 0 }; let kept;';
  const spoil = `kept = ctx; memory.n++; globalThis.leak = 1; Object.prototype.polluted = 1; Array.prototype.map = () => 'mine';
    JSON.stringify = () => '"mine"'; Promise.prototype.then = () => 0; Object.freeze(Object.prototype); return memory.n;`;
  const look = `return [memory.n, typeof leak, ({}).polluted, [1].map((x) => x), kept === undefined, JSON.stringify({ a: 1 })];`;
  const body = `if (state === 'spoil') { ${spoil} } ${look}`;
  assert.equal(await world.result({ top, body, values: ['spoil'] }), 1);
  assert.deepEqual(await world.result({ top, body }), [0, 'undefined', null, [1], true, '{"a":1}']);
});

test('what one workflow changed does not reach another in the same child', async () => {
  await world.run({ body: 'Object.prototype.toJSON = () => 666; globalThis.leak = 1; return 1;', scriptId: 'spoiler' });
  const body = 'return [typeof leak, ({}).polluted, typeof Object.prototype.toJSON];';
  assert.deepEqual(await world.result({ body, scriptId: 'victim' }), ['undefined', null, 'undefined']);
});

test('a prototype in a result stays text', async () => {
  const { result } = await world.returned({
    body: `return JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');`,
  });
  JSON.parse(result ?? '');
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  assert.match(result ?? '', /^\{"__proto__":\{"polluted":1\}/);
});

test('redefining what the context is made of breaks only the script that does it', async () => {
  const body = `JSON.parse = () => 666; Reflect.apply = () => 666; Map.prototype.get = () => () => 666;
    Array.prototype[Symbol.iterator] = function* () {}; globalThis.Promise = class {};
    return await ctx.shop.get({ n: 1 });`;
  const outcome = await world.run({ body, onCall: () => Promise.resolve('"answer"') });
  assert.ok(outcome.kind === 'failed' || outcome.kind === 'returned');
  assert.equal(await world.result({ body: 'return await ctx.shop.get();', onCall: () => Promise.resolve('2') }), 2);
});

test('the context cannot be changed, and a connection cannot be awaited by mistake', async () => {
  const body = `'use strict'; const seen = [];
    try { ctx.publish = () => 0; } catch (e) { seen.push(e.name); }
    try { ctx.shop.get = () => 0; } catch (e) { seen.push(e.name); }
    seen.push(typeof (await ctx.shop)); return seen;`;
  assert.deepEqual(await world.result({ body }), ['TypeError', 'TypeError', 'object']);
});

test('a thenable is followed under the same limits', async () => {
  assert.equal(await world.result({ body: 'return { then(resolve) { resolve(5); } };' }), 5);
  const own = await world.failed({ body: "return { then() { throw new Error('no'); } };" });
  assert.equal(own.message, 'Error: no');
});

describe('time and chance', () => {
  const body = 'return [Date.now(), new Date().getFullYear(), Math.random(), Math.random()];';

  test('are the same each time a phase of a run is run', async () => {
    const once = await world.result({ body });
    assert.deepEqual(await world.result({ body }), once);
    assert.equal((once as number[])[0], STARTED_AT);
  });

  test('are the same in another child', async (t) => {
    const other = new SandboxWorld(t);
    assert.deepEqual(await other.result({ body }), await world.result({ body }));
  });

  test('are others in another run', async () => {
    const [at, , chance] = (await world.result({ body })) as number[];
    const [otherAt, , otherChance] = (await world.result({
      body,
      runId: 'run_2',
      startedAt: STARTED_AT + 1,
    })) as number[];
    assert.equal(otherAt, (at ?? 0) + 1);
    assert.notEqual(otherChance, chance);
  });

  test('chance is even', async () => {
    const spread =
      'const b = Array(10).fill(0); for (let i = 0; i < 20000; i++) b[Math.floor(Math.random() * 10)]++; return b;';
    for (const count of (await world.result({ body: spread })) as number[])
      assert.ok(Math.abs(count - 2_000) < 250, String(count));
  });
});

test('a child is started with nothing: no environment, no files, low priority', async (t) => {
  const own = new SandboxWorld(t);
  await own.result({});
  const [pid = 0] = own.pool.pids;
  assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '');
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  assert.equal(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16], '10', 'nice');
});

test('texts cross unharmed, whatever they hold', async () => {
  const texts = ['', 'ä€😀', '\u0000', '\u202e evil', '\u2028\u2029', '\ud800', '</script>', '"\\', '\u{10ffff}'];
  assert.deepEqual(await world.result({ body: 'return [state, state.length, state[5].length];', values: [texts] }), [
    texts,
    9,
    1,
  ]);
  const own = await world.result({
    body: 'return await ctx.shop.get(state);',
    values: [texts],
    onCall: ({ args }) => Promise.resolve(args),
  });
  assert.deepEqual((own as unknown[])[2], texts);
});
