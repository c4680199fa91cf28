import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { HostRefusal } from '#sandbox';
import { SandboxWorld, scriptOf } from './sandbox-world.ts';

const world = new SandboxWorld({ after });
const event = { topic: 'in', messageId: 'm1', payload: { id: 7 }, createdAt: 5 };

describe('each phase has only its operations, and a script cannot catch that one is missing', () => {
  const operations: Readonly<Record<string, string>> = {
    peek: "await ctx.peek('in')",
    getByIds: "await ctx.getByIds('in', ['m1'])",
    publish: "ctx.publish('out', { messageId: '1', payload: 1 })",
    registerInput: "ctx.registerInput({ source: 's', type: 't', id: '1', title: 'x' })",
    'connector call': 'await ctx.shop.get({})',
    log: "ctx.log('x')",
    take: "ctx.take({ topic: 'in', messageId: '1' }, { data: 1 })",
    idle: 'ctx.idle()',
  };
  const allowed: Readonly<Record<'producer' | 'prepare' | 'mutate' | 'next', readonly string[]>> = {
    producer: ['publish', 'registerInput', 'connector call', 'log'],
    prepare: ['peek', 'getByIds', 'connector call', 'log', 'take', 'idle'],
    mutate: ['connector call', 'log'],
    next: ['publish', 'log'],
  };
  for (const phase of ['producer', 'prepare', 'mutate', 'next'] as const) {
    for (const [name, call] of Object.entries(operations)) {
      const isAllowed = allowed[phase].includes(name);
      test(`${phase}: ${name} is ${isAllowed ? 'allowed' : 'forbidden'}`, async () => {
        const body = `try {\n${call};\n} catch { return 'caught'; } finally { ctx.log('finally'); }\nreturn 'done';`;
        const outcome = await world.run({ phase, body });
        if (isAllowed) return assert.equal(outcome.kind, 'returned');
        assert.ok(outcome.kind === 'failed');
        assert.equal(outcome.errorKind, 'forbidden');
        assert.equal(outcome.stack[0]?.line, 4, 'the position is that of the call');
      });
    }
  }

  const undeclared: readonly (readonly ['prepare' | 'producer', string])[] = [
    ['prepare', "try { await ctx.peek('other'); } catch { return 1; }"],
    ['prepare', "try { await ctx.getByIds('out', []); } catch { return 1; }"],
    ['producer', "try { ctx.publish('in', { messageId: '1', payload: 1 }); } catch { return 1; }"],
  ];
  for (const [phase, body] of undeclared) {
    test(`${phase}: a topic that is not declared is forbidden: ${body}`, async () => {
      assert.equal((await world.failed({ phase, body })).errorKind, 'forbidden');
    });
  }
});

test('a producer publishes, with inputs, in order', async (t) => {
  const own = new SandboxWorld(t);
  const body = `const inputId = ctx.registerInput({ source: 'shop', type: 'order', id: '7', title: 'Order 7', extra: 1 });
    ctx.publish('out', { messageId: 'o7', inputId, title: 'An order', payload: { n: state.n } });
    ctx.log('done', { n: 1 });
    return { cursor: 7 };`;
  assert.deepEqual(await own.result({ body, values: [{ n: 3 }] }), { cursor: 7 });
  assert.deepEqual(
    own.calls.map(({ name, args }) => [name, JSON.parse(args)]),
    [
      ['registerInput', ['#1', { source: 'shop', type: 'order', id: '7', title: 'Order 7' }]],
      ['publish', ['out', { messageId: 'o7', inputId: '#1', title: 'An order', payload: { n: 3 } }]],
      ['log', ['done', { n: 1 }]],
    ],
  );
});

test('reads are answered, several at a time', async () => {
  const body = 'return await Promise.all([ctx.shop.get({ n: 1 }), ctx.shop.list(), ctx.shop.get({ n: 2 })]);';
  const result = await world.result({ body, onCall: ({ args }) => Promise.resolve(args) });
  assert.deepEqual(result, [
    ['shop', 'get', { n: 1 }],
    ['shop', 'list', null],
    ['shop', 'get', { n: 2 }],
  ]);
});

test('take reserves by topic and carries data, title and wake time', async () => {
  const body = `return ctx.take([{ topic: 'in', messageId: 'a' }, { topic: 'x', messageId: 'b' }, { topic: 'in', messageId: 'c' }],
    { data: { n: 1 }, title: 'T', wakeAt: new Date(1000) });`;
  assert.deepEqual(await world.result({ phase: 'prepare', body }), {
    reservations: [
      { topic: 'in', ids: ['a', 'c'] },
      { topic: 'x', ids: ['b'] },
    ],
    data: { n: 1 },
    ui: { title: 'T' },
    wakeAt: 1_000,
  });
});

test('idle says so, and when to look again', async () => {
  assert.deepEqual(await world.result({ phase: 'prepare', body: 'return ctx.idle();' }), { idle: true });
  const body = "return ctx.idle({ wakeAt: '2024-01-01T00:00:00Z' });";
  assert.deepEqual(await world.result({ phase: 'prepare', body }), { idle: true, wakeAt: Date.UTC(2024, 0, 1) });
  assert.equal(await world.result({ phase: 'prepare', body: 'return;' }), undefined);
});

describe('a mutation is the last thing mutate does', () => {
  test('the call is noted for the host and never reaches onCall', async (t) => {
    const own = new SandboxWorld(t);
    const outcome = await own.returned({
      phase: 'mutate',
      body: 'return ctx.shop.post({ json: first.data });',
      values: [{ data: 5 }],
    });
    assert.deepEqual(outcome.mutate, { call: { connection: 'shop', method: 'post', params: '{"json":5}' } });
    assert.deepEqual([outcome.result, own.calls], [undefined, []]);
  });

  const endings: readonly string[] = [
    "await ctx.shop.post({ n: 1 }); ctx.log('after');",
    "ctx.shop.post({ n: 1 }); ctx.log('after'); ctx.shop.post({ n: 2 });",
    "try { await ctx.shop.post({ n: 1 }); } catch { ctx.log('after'); } finally { ctx.log('after'); for (;;); }",
    'await Promise.all([ctx.shop.post({ n: 1 }), ctx.shop.post({ n: 2 })]);',
    'for (const n of [1, 2, 3]) await ctx.shop.post({ n });',
    'ctx.shop.post({ n: 1 }); for (;;);',
  ];
  for (const body of endings) {
    test(`nothing runs after it: ${body}`, async (t) => {
      const own = new SandboxWorld(t);
      const { mutate } = await own.returned({ phase: 'mutate', body });
      assert.deepEqual(mutate, { call: { connection: 'shop', method: 'post', params: '{"n":1}' } });
      assert.deepEqual(own.calls, []);
    });
  }

  test('mutate may make none', async () => {
    assert.deepEqual((await world.returned({ phase: 'mutate', body: 'return { ignored: true };' })).mutate, {});
  });
});

describe('prepare and mutate in one message', () => {
  const code = `let seen = 0; globalThis.__pawl_workflow = { consumers: { h: { subscribe: ['in'],
    async prepare(ctx) { seen++; const [e] = await ctx.peek('in'); return { reservations: [{ topic: 'in', ids: e ? [e.messageId] : [] }], data: e?.payload ?? null }; },
    async mutate(ctx, prepared) { return ctx.shop.post({ prepared, seen }); } } } };`;
  const asked = { phase: 'prepare', andMutate: true, code, scriptId: 'both' } as const;

  test('mutate follows when something was reserved, in a fresh state', async () => {
    const outcome = await world.returned({ ...asked, onCall: () => Promise.resolve(JSON.stringify([event])) });
    const prepared = { reservations: [{ topic: 'in', ids: ['m1'] }], data: { id: 7 } };
    assert.deepEqual(JSON.parse(outcome.result ?? ''), prepared);
    assert.deepEqual(JSON.parse(outcome.mutate?.call?.params ?? ''), { prepared, seen: 0 });
  });

  test('mutate does not run when nothing was: a list without ids is nothing', async () => {
    const outcome = await world.returned({ ...asked, onCall: () => Promise.resolve('[]') });
    assert.equal(outcome.mutate, undefined);
  });

  test('a consumer without mutate makes no call', async () => {
    const body = "return { reservations: [{ topic: 'in', ids: ['1'] }], data: 1 };";
    assert.deepEqual((await world.returned({ phase: 'prepare', andMutate: true, body })).mutate, {});
  });
});

describe('what the host refuses ends the run', () => {
  test('the script cannot catch it', async () => {
    const body = "try { await ctx.shop.get(); } catch { return 'caught'; } finally { return 'finally'; }";
    const refusal = new HostRefusal('the shop is closed');
    const failed = await world.failed({ body, onCall: () => Promise.reject(refusal) });
    assert.deepEqual([failed.errorKind, failed.message, failed.refusal], ['refused', 'the shop is closed', refusal]);
  });

  test('also of a call nobody waits for', async () => {
    const body = "ctx.publish('out', { messageId: '1', payload: 1 }); return 'fine';";
    const onCall = () => Promise.reject(new HostRefusal('no room'));
    assert.equal((await world.failed({ body, onCall })).errorKind, 'refused');
  });

  test('an error of the host itself comes out as it is', async () => {
    const onCall = () => Promise.reject(new RangeError('a bug of the host'));
    await assert.rejects(world.run({ body: 'await ctx.shop.get();', onCall }), /a bug of the host/);
    assert.equal(await world.result({}), 1);
  });
});

describe('topics with a schema', () => {
  const standard = (validate: string) =>
    scriptOf('producer', "ctx.publish('out', { messageId: '1', payload: { n: 1 } });").replace(
      'out: {}',
      `out: { schema: { '~standard': { version: 1, vendor: 't', validate: ${validate} } } }`,
    );

  test('what fits is published as the schema gives it', async (t) => {
    const own = new SandboxWorld(t);
    await own.returned({ code: standard('(v) => ({ value: { ...v, checked: true } })'), scriptId: 'fits' });
    assert.deepEqual(JSON.parse(own.calls[0]?.args ?? '')[1].payload, { n: 1, checked: true });
  });

  test('what does not fit is an error of the script that says where', async () => {
    const code = standard("() => ({ issues: [{ message: 'too small', path: ['n'] }] })");
    const { errorKind, message } = await world.failed({ code, scriptId: 'misfit' });
    assert.deepEqual([errorKind, message], ['script', 'TypeError: the payload does not fit topic "out": n: too small']);
  });

  test('one that answers later is refused', async () => {
    const failed = await world.failed({ code: standard('async (v) => ({ value: v })'), scriptId: 'later' });
    assert.match(failed.message, /validates asynchronously/);
  });
});

test('an error carries its message and where it came from in the code', async () => {
  const body = '  const order = null;\n  const check = () => order.id;\n  return check();';
  const { errorKind, message, stack, phase } = await world.failed({ body });
  assert.deepEqual([errorKind, message, phase], ['script', "TypeError: cannot read property 'id' of null", 'producer']);
  assert.deepEqual(
    stack.map(({ line }) => line),
    [4, 5],
  );
});

test('whatever is thrown becomes a message', async () => {
  const thrown: Readonly<Record<string, RegExp>> = {
    "'text'": /^thrown: text$/,
    undefined: /^thrown: undefined$/,
    null: /^thrown: null$/,
    "Symbol('s')": /^thrown: Symbol\(s\)$/,
    '{ code: 7 }': /^thrown: \{"code":7\}$/,
    "{ get message() { throw new Error('x'); } }": /cannot be shown/,
    'new Proxy({}, { get() { throw 1; }, has() { throw 1; } })': /cannot be shown/,
    "new Error('x'.repeat(100000))": /^Error: x+$/,
  };
  for (const [value, message] of Object.entries(thrown)) {
    const failed = await world.failed({ body: `throw ${value};` });
    assert.equal(failed.errorKind, 'script');
    assert.match(failed.message, message);
    assert.ok(failed.message.length < 5_000);
  }
});

test('a script that is no script says where', async () => {
  const { errorKind, phase, stack } = await world.failed({ top: 'const a = 1;\nconst b = ;' });
  assert.deepEqual([errorKind, phase, stack], ['script', 'load', [{ line: 2, column: 11 }]]);
});

test('describe gives the definition without its functions', async () => {
  const code = `globalThis.__pawl_workflow = { '~pawl': { name: 'orders', uses: { shop: 'http' },
    topics: { a: { description: 'A' }, b: { schema: { '~standard': {} } } },
    producers: { poll: { publishes: ['a'], schedule: { interval: '5m' }, state: { n: 0 }, handler() {} },
      hook: { publishes: ['a'], webhook: { verify: 'github' }, handler() {} } },
    consumers: { book: { subscribe: ['a'], publishes: [], each: { topic: 'a' }, prepare() {}, mutate() {} } } } };`;
  const outcome = await world.pool.describe(code);
  assert.ok(outcome.kind === 'returned');
  assert.deepEqual(JSON.parse(outcome.result ?? ''), {
    name: 'orders',
    uses: { shop: 'http' },
    topics: { a: { description: 'A', hasSchema: false }, b: { hasSchema: true } },
    producers: {
      poll: { publishes: ['a'], schedule: { interval: '5m' }, state: { n: 0 }, hasHandler: true },
      hook: { publishes: ['a'], webhook: { verify: 'github' }, hasHandler: true },
    },
    consumers: {
      book: {
        subscribe: ['a'],
        publishes: [],
        each: { topic: 'a' },
        hasPrepare: true,
        hasMutate: true,
        hasNext: false,
      },
    },
  });
});

test('a script without a workflow says what to write', async () => {
  const outcome = await world.pool.describe('const nothing = 1;');
  assert.ok(outcome.kind === 'failed');
  assert.match(outcome.message, /export default defineWorkflow/);
});

describe('an answer that came along with the script', () => {
  const args = '["in",{"limit":1}]';
  const answer = JSON.stringify([event]);
  const peek = "const [e] = await ctx.peek('in', { limit: 1 });";

  for (const [what, body, isTaken, asked] of [
    ['is handed to it when it asks for just that, and nobody else is asked', `${peek} return e.payload.id;`, true, 0],
    ['is given once', `${peek} await ctx.peek('in', { limit: 1 }); return e.payload.id;`, true, 1],
    ['is not used when it asks for more', "return (await ctx.peek('in', { limit: 2 })) ?? 7;", false, 1],
    [
      'is not used for what it asks later',
      `await ctx.shop.get({}); ${peek.replace('[e]', 'e')} return e ?? 7;`,
      false,
      2,
    ],
    ['is left alone by one that asks for nothing', 'return 7;', false, 0],
  ] as const) {
    test(what, async (t) => {
      const own = new SandboxWorld(t);
      let taken = 0;
      const foreseen = { args, answer, onTaken: () => taken++ };
      assert.equal(await own.result({ phase: 'prepare', body, foreseen }), 7);
      assert.equal(taken, isTaken ? 1 : 0);
      assert.equal(own.calls.length, asked);
    });
  }

  test('counts as taken by a script that failed after it, and by one that had to be ended', async (t) => {
    const own = new SandboxWorld(t, { limits: { cpuMs: 100, killAfterMs: 100 } });
    for (const then of ["throw new Error('no')", 'for (;;);', "Array(2 ** 30).join('');"]) {
      let taken = 0;
      const foreseen = { args, answer, onTaken: () => taken++ };
      await own.failed({ phase: 'prepare', body: `${peek} ${then}`, foreseen });
      assert.equal(taken, 1, then);
    }
  });
});
