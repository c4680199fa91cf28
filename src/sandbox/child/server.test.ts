import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeFrame } from '../frames.ts';
import { prelude } from '../guest/prelude.ts';
import type { Limits } from '../limits.ts';
import { IMAGE_BYTES_MAX_CHILD } from '../pool.ts';
import { FRAME, type ResetRule } from '../protocol.ts';
import { ChildInProcess, producer } from './child-in-process.ts';
import { guestImports } from './imports.ts';

const answer = (generation: number, id: string, json: string) => encodeFrame(FRAME.answer, generation, [id, json]);

/** Runs `observe` with all rules and without the one: the rule is worth its name only if that changes what is seen. */
function rule(
  name: ResetRule,
  sentence: string,
  observe: (child: ChildInProcess) => unknown,
  kept: unknown,
  limits: Partial<Limits> = {},
): void {
  test(sentence, () => {
    assert.deepEqual(observe(new ChildInProcess({ limits })), kept);
  });
  test(`without the rule "${name}" that would not hold`, () => {
    assert.notDeepEqual(observe(new ChildInProcess({ limits, without: [name] })), kept);
  });
}

describe('each rule of the reset', () => {
  rule(
    'reset',
    'a phase finds the script as it was loaded, whatever the one before did',
    (child) => {
      const code = producer(
        'const seen = [count, [].polluted]; count++; Array.prototype.polluted = 1; return seen;',
        'let count = 0',
      );
      child.run({ phase: 'producer', code });
      return child.run({ phase: 'producer' });
    },
    { result: [0, null] },
  );

  rule(
    'singleton-handles',
    'the handles a phase needs were made before the image, so they outlive every reset',
    (child) => {
      const code = producer('return 1;');
      return [child.run({ phase: 'producer', code }), child.run({ phase: 'producer' })];
    },
    [{ result: 1 }, { result: 1 }],
  );

  rule(
    'generation',
    'an answer to an earlier message is dropped before it touches the instance',
    (child) => {
      child.run({ phase: 'producer', code: producer('ctx.shop.get(); return 0;') });
      const code = producer('return await ctx.shop.get();');
      return child.run({
        phase: 'producer',
        code,
        after: (now) => [answer(now - 1, '1', '"late"'), answer(now, '1', '"mine"')],
      });
    },
    { result: 'mine' },
  );

  const isUsedAgain = (child: ChildInProcess, code: string): boolean => {
    child.run({ phase: 'producer', code });
    const made = child.server.instances.made;
    child.run({ phase: 'producer' });
    return child.server.instances.made === made;
  };

  rule(
    'discard-unanswered',
    'an instance with an unanswered call is thrown away',
    (child) => isUsedAgain(child, producer('ctx.shop.get(); return 0;')),
    false,
  );

  rule(
    'discard-trapped',
    'an instance that broke is thrown away',
    (child) => isUsedAgain(child, producer('(function f() { f(); })();')),
    false,
    // So high that this process's own stack gives way before the engine looks.
    { stackBytes: 1_000_000 },
  );

  rule(
    'discard-grown',
    'an instance whose memory grew is thrown away',
    (child) => isUsedAgain(child, producer("return 'x'.repeat(4000000).length;")),
    false,
  );

  rule(
    'discard-extended',
    'an instance with an extension is thrown away',
    (child) => {
      child.run({ phase: 'producer', code: producer('return 1;') });
      const [extended] = child.server.instances.live;
      extended?.exports.__indirect_function_table.grow(1);
      child.run({ phase: 'producer' });
      return child.server.instances.live[0] === extended;
    },
    false,
  );

  rule(
    'date',
    "Date is the run's start, in UTC",
    (child) => {
      const code = producer('return [Date.now(), new Date().toISOString(), new Date(0).getTimezoneOffset()];');
      return child.run({ phase: 'producer', code });
    },
    { result: [1_700_000_000_000, '2023-11-14T22:13:20.000Z', 0] },
  );

  rule(
    'seed',
    "Math.random is seeded from the run, the same in each of its phases and another's in another run",
    (child) => {
      const code = producer('return [Math.random(), Math.random()];');
      const once = JSON.stringify(child.run({ phase: 'producer', code, seed: [1, 2, 3, 4] }));
      const again = JSON.stringify(child.run({ phase: 'producer', seed: [1, 2, 3, 4] }));
      const other = JSON.stringify(child.run({ phase: 'producer', seed: [5, 6, 7, 8] }));
      return [once === again, once === other];
    },
    [true, false],
  );

  rule(
    'top-level',
    'top-level code has no Date',
    (child) => {
      const ended = child.run({ phase: 'producer', code: producer('return at;', 'const at = Date.now()') });
      return 'failed' in ended && /^Date is not available at the top level/.test(ended.failed);
    },
    true,
  );

  rule(
    'strings-only',
    'only texts are thrown into the script: nothing of this machine is in them',
    (child) => {
      const code = producer("try { await import('node:fs'); } catch (thrown) { return typeof thrown; }");
      return child.run({ phase: 'producer', code });
    },
    { result: 'string' },
  );

  rule(
    'image-limit',
    'images are kept by least use up to their limit',
    (child) => {
      const load = (scriptId: string, top: string) => {
        child.run({ phase: 'producer', code: producer('return big.length;', top), scriptId });
      };
      for (let i = 0; i < 40; i++) load(`script ${i}`, "const big = 'x'.repeat(3000000) + 'y'");
      const [first, last] = ['script 0', 'script 39'].map((scriptId) => child.run({ phase: 'producer', scriptId }));
      return [first, last, child.server.images.bytes < 64 * 1_024 * 1_024];
    },
    [{ failed: 'need code' }, { result: 3_000_001 }, true],
  );

  test('the engine has our clock, our chance and no output', () => {
    const memory = new Uint8Array(64).fill(9);
    const instance = { bytes: memory, driver: { onClock: () => 5 } } as never;
    const { wasi_snapshot_preview1: wasi } = guestImports(instance, []);
    const call = wasi as unknown as Record<string, (...args: unknown[]) => number>;
    const view = new DataView(memory.buffer);
    call.clock_time_get?.(0, 0n, 0);
    assert.equal(view.getBigUint64(0, true), 5_000_000n);
    call.random_get?.(8, 4);
    assert.deepEqual([...memory.subarray(8, 13)], [0, 0, 0, 0, 9]);
    view.setUint32(20, 7, true);
    assert.equal(call.fd_write?.(1, 16, 1, 32), 0);
    assert.equal(view.getUint32(32, true), 7, 'what was written nowhere counts as written');
  });

  test('without the rule "own-wasi" chance would come from this machine', () => {
    const memory = new Uint8Array(4_096);
    const { wasi_snapshot_preview1: wasi } = guestImports({ bytes: memory } as never, ['own-wasi']);
    const call = wasi as unknown as Record<string, (...args: unknown[]) => number>;
    for (let at = 0; at < 4_096; at++) call.random_get?.(at, 1);
    assert.ok(memory.some((byte) => byte !== 0));
  });
});

describe('the top level of a script', () => {
  const top = (text: string) =>
    new ChildInProcess({ limits: { cpuMs: 200 } }).run({ phase: 'describe', code: producer('', text) });

  test('has no chance', () => {
    assert.match(JSON.stringify(top('const x = Math.random()')), /Math\.random is not available at the top level/);
  });

  test('runs under the limits', () => {
    assert.deepEqual(top('for (;;);'), { failed: 'cpu' });
    assert.deepEqual(top('const a = []; for (;;) a.push(new Uint8Array(1e6))'), { failed: 'memory' });
    assert.deepEqual(top('(function f() { f(); })()'), { failed: 'stack' });
  });

  test('may use a date that is written out', () => {
    assert.ok('result' in top('const since = new Date(Date.UTC(2024, 0, 1)).toISOString()'));
  });

  test('is over before the first phase, with what it left to do later', () => {
    const child = new ChildInProcess();
    const code = producer('return ready;', 'let ready = false; Promise.resolve().then(() => { ready = true; })');
    assert.deepEqual(child.run({ phase: 'producer', code }), { result: true });
  });
});

test('an image keeps only what its script changed', () => {
  const child = new ChildInProcess();
  child.run({ phase: 'producer', code: producer('return 1;') });
  assert.ok(child.server.images.bytes < 6_000, String(child.server.images.bytes));
});

/** Loading one takes some milliseconds, a phase of it a tenth: with too few images kept, that is what every phase costs. */
test('forty scripts with 15 KB of code stay loaded in one child', (t) => {
  const child = new ChildInProcess({ imageBytesMax: IMAGE_BYTES_MAX_CHILD });
  const code = producer('return 1;', `const code = ${prelude.toString()}`);
  const scripts = Array.from({ length: 40 }, (_, i) => `script ${i}`);
  for (const scriptId of scripts) child.run({ phase: 'producer', scriptId, code });
  t.diagnostic(`${code.length} characters each; 40 images take ${child.server.images.bytes} bytes`);
  for (const scriptId of scripts) assert.deepEqual(child.run({ phase: 'producer', scriptId }), { result: 1 });
});

test('a script with more to keep than there is room for takes none of the others', () => {
  const child = new ChildInProcess({ imageBytesMax: 10_000 });
  child.run({ phase: 'producer', code: producer('return 1;') });
  const large = producer('return kept.length;', 'const kept = new Uint8Array(20_000).fill(1)');
  assert.deepEqual(child.run({ phase: 'producer', scriptId: 'large', code: large }), { result: 20_000 });
  assert.deepEqual(child.run({ phase: 'producer', scriptId: 'large' }), { failed: 'need code' });
  assert.deepEqual(child.run({ phase: 'producer' }), { result: 1 });
});

test('what loading scripts leaves behind is asked back by its size', () => {
  const child = new ChildInProcess();
  const load = (i: number, top = '') =>
    child.run({ phase: 'producer', scriptId: `script ${i}`, code: producer('return 1;', top) });
  for (let i = 0; i < 50; i++) load(i);
  assert.deepEqual(child.collectedAfter.length, 0);
  for (let i = 50; i < 53; i++) load(i, `const kept = new Uint8Array(800_000).fill(${i})`);
  assert.deepEqual(child.collectedAfter.length, 1);
});

test('connections are part of the image: with others the script is loaded anew', () => {
  const child = new ChildInProcess();
  const code = producer('return Object.keys(ctx).filter((name) => typeof ctx[name] === "object").sort();');
  assert.deepEqual(child.run({ phase: 'producer', code, uses: ['shop', 'log'] }), { result: ['shop'] });
  assert.deepEqual(child.run({ phase: 'producer', uses: ['bank'] }), { failed: 'need code' });
  assert.deepEqual(child.run({ phase: 'producer', code, uses: ['bank'] }), { result: ['bank'] });
  assert.deepEqual(child.run({ phase: 'producer', uses: ['bank'] }), { result: ['bank'] });
});

test('no script sees its context made, or changes it', () => {
  const child = new ChildInProcess();
  const traps = `const seen = []; const names = ['shop', 'log', 'publish', 'writable', 'configurable', 'set'];
    const see = (what) => ({ __proto__: null, configurable: true, set() { seen.push(what); }, get() { seen.push(what); } });
    names.forEach((name) => Object.defineProperty(Object.prototype, name, see(name)));
    Array.prototype[Symbol.iterator] = () => { seen.push('iterator'); };`;
  const body = `const first = seen.join(); names.forEach((name) => delete Object.prototype[name]);
    ['shop', 'log', 'other'].forEach((name) => { ctx[name] = 1; delete ctx[name]; });
    return first + Object.isFrozen(ctx) + typeof ctx.shop + typeof ctx.log + typeof ctx.other;`;
  for (let i = 0; i < 2; i++) {
    const ended = child.run({ phase: 'producer', code: i === 0 ? producer(body, traps) : undefined, args: [{}] });
    assert.deepEqual(ended, { result: 'trueobjectfunctionundefined' });
  }
});

test('leaving a script in the middle, again and again, harms nothing: the instance stays and each phase is fresh', () => {
  const child = new ChildInProcess();
  const code = `let n = 0; globalThis.__pawl_workflow = { consumers: { h: { subscribe: [], publishes: [],
    async mutate(ctx) { n++; try { await ctx.shop.post({ n }); } catch { n = 7; } finally { n = 8; } } } } };`;
  const first = child.frames({ phase: 'mutate', code }).at(-1)?.fields.slice(1, 3);
  const [instance] = child.server.instances.live;
  for (let i = 0; i < 300; i++) {
    assert.deepEqual(child.frames({ phase: 'mutate' }).at(-1)?.fields.slice(1, 3), first);
  }
  assert.deepEqual(first, ['', '{"n":1}']);
  assert.equal(child.server.instances.live[0], instance);
});

test('a script pays for its own processor time, and not for what was before it', () => {
  for (const until = performance.now() + 500; performance.now() < until; );
  const child = new ChildInProcess();
  const header = child.frames({ phase: 'producer', code: producer('return 1;') }).at(-1)?.fields[0] ?? '{}';
  const late = encodeFrame(FRAME.answer, 1, ['1', 'x'.repeat(1_000)]);
  const { cpuMs } = JSON.parse(header);
  assert.ok(cpuMs < 400, `${cpuMs} ms`);
  assert.deepEqual(child.run({ phase: 'producer', after: () => [late] }), { result: 1 });
});

test('what a handler left to do later is not done after it has returned', () => {
  const child = new ChildInProcess();
  const later =
    "(async () => { await 0; await 0; await 0; ctx.log('late'); ctx.publish('a', { messageId: 'm', payload: 1 }); })();";
  const kinds = child.frames({ phase: 'producer', code: producer(`${later} return 1;`) }).map(({ kind }) => kind);
  // On a busy machine the host hears that the script was loaded, too.
  assert.deepEqual(
    kinds.filter((kind) => kind !== FRAME.phase),
    [FRAME.done],
  );
});

test('scripts that take turns, and phases that follow each other, each find the memory of their own script and nothing else', () => {
  const child = new ChildInProcess();
  const counts = (name: string) =>
    producer(
      "seen.push(name); last = (globalThis.last ?? '') + name; return [seen, last];",
      `const name = '${name}', seen = []; var last`,
    );
  for (const name of ['a', 'b', 'c']) child.run({ phase: 'producer', scriptId: name, code: counts(name) });
  for (const name of ['a', 'a', 'a', 'b', 'a', 'c', 'c', 'b', 'b', 'a']) {
    assert.deepEqual(child.run({ phase: 'producer', scriptId: name }), { result: [[name], name] });
  }
});

test('an error in a promise nobody awaits is found all the same', () => {
  const child = new ChildInProcess();
  const code = producer("(async () => { throw new Error('lost'); })(); return 1;");
  assert.deepEqual(child.run({ phase: 'producer', code }), { failed: 'Error: lost' });
});

test('a handler that waits for what nothing can settle ends at once and says so', () => {
  const child = new ChildInProcess();
  const ended = child.run({ phase: 'producer', code: producer('await new Promise(() => undefined);') });
  assert.match(JSON.stringify(ended), /nothing can settle any more/);
});

test('the host hears of calls and events when the script waits or returns, and of one that fails first only its log', () => {
  const kinds = (body: string, after: (generation: number) => Buffer[] = () => []) =>
    new ChildInProcess()
      .frames({ phase: 'producer', code: producer(body), after })
      .map(({ kind }) => kind)
      .filter((kind) => kind === FRAME.call || kind === FRAME.done);
  const { call, done } = FRAME;
  assert.deepEqual(kinds("for (;;) ctx.shop.get({ path: 'x'.repeat(1_000) });"), [done]);
  assert.deepEqual(kinds("ctx.shop.get({ path: '/' }); throw new Error('no');"), [done]);
  assert.deepEqual(kinds("for (let i = 0; ; i++) ctx.publish('a', { messageId: 'x' + i, payload: 1 });"), [done]);
  assert.deepEqual(
    kinds("ctx.log('so far'); ctx.publish('a', { messageId: 'x', payload: 1 }); throw new Error('no');"),
    [call, done],
  );
  assert.deepEqual(kinds("ctx.log('so far'); ctx.publish('a', { messageId: 'x', payload: 1 });"), [call, call, done]);
  assert.deepEqual(kinds("ctx.shop.get({ path: '/' });"), [call, done]);
  const answers = (generation: number) => [answer(generation, '1', '{}'), answer(generation, '2', '{}')];
  assert.deepEqual(kinds('await Promise.all([ctx.shop.get({}), ctx.shop.get({})]);', answers), [call, call, done]);
});

test('a result there is no memory left to say is the limit, never nothing', () => {
  const child = new ChildInProcess();
  const ends = new Set<unknown>();
  for (let left = 0; left < 30; left++) {
    const body = `const data = '\\u20ac'.repeat(200000), all = (globalThis.all = []);
      try { for (;;) all.push(new Uint8Array(65536)); } catch {} all.length -= ${left}; return data;`;
    const ended = child.run({ phase: 'producer', scriptId: `left ${left}`, code: producer(body) });
    ends.add('failed' in ended ? ended.failed : (ended.result as string | undefined)?.length);
  }
  assert.deepEqual(ends, new Set(['memory', 200_000]));
});

test('memory a script has filled is given back before it is answered, so that whoever comes next does not wait for it', () => {
  const child = new ChildInProcess();
  const fill = "const all = []; try { for (;;) all.push(new Uint8Array(1e6).fill(1)); } catch { throw 'full'; }";
  const said = child.frames({ phase: 'producer', code: producer(fill) });
  assert.equal(said.at(-1)?.kind, FRAME.done);
  const [before = Number.POSITIVE_INFINITY, ...others] = child.collectedAfter;
  assert.ok(before < child.written, 'before the last of what it said');
  assert.deepEqual(others, []);
  child.run({ phase: 'producer', scriptId: 'other', code: producer('return 1;') });
  assert.deepEqual(child.collectedAfter, [before]);
});

test('a child that has warmed up keeps nothing of it', () => {
  const child = new ChildInProcess();
  child.server.warmUp();
  assert.equal(child.server.images.bytes, 0);
  assert.deepEqual(child.run({ phase: 'producer', scriptId: 'warm-up' }), { failed: 'need code' });
  const code = producer('return [typeof globalThis.__pawl_workflow.consumers, Math.random()];');
  const fresh = new ChildInProcess().run({ phase: 'producer', code });
  assert.deepEqual(child.run({ phase: 'producer', code }), fresh);
});

test('what stood still for its sake is let go when the host is gone', () => {
  const child = new ChildInProcess();
  child.run({ phase: 'producer', code: producer('return 1;'), beside: [7, 8] });
  child.server.letGoBeside();
  assert.deepEqual(child.letGone, [7, 8]);
});
