import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame } from '../frames.ts';
import { FRAME } from '../protocol.ts';
import { ChildInProcess, producer } from './child-in-process.ts';
import { Instance } from './instance.ts';

const KIB = 1_024;
/** How deep it comes until the engine says that it is enough, or `max`. */
const DIVE = 'function dive(max, n = 0) { try { return n < max ? dive(max, n + 1) : n; } catch { return n; } }';
const BOTTOMLESS = 'Number.POSITIVE_INFINITY';

function instanceOf({ server }: ChildInProcess): Instance {
  const [instance] = server.instances.live;
  assert.ok(instance);
  return instance;
}

function stackOf(child: ChildInProcess): Buffer {
  const { bytes, dataStart } = instanceOf(child);
  return Buffer.from(bytes.subarray(0, dataStart));
}

function reset({ server }: ChildInProcess, scriptId = 'script'): void {
  const image = server.images.get(scriptId);
  assert.ok(image);
  server.instances.keep(server.instances.acquire(image, true), image);
}

const isZero = (bytes: Buffer) => bytes.every((byte) => byte === 0);

test('an ordinary phase uses some kilobytes of the stack, and a reset leaves nothing of them', () => {
  const child = new ChildInProcess();
  assert.deepEqual(child.run({ phase: 'producer', code: producer('return dive(5);', DIVE) }), { result: 5 });
  const used = stackOf(child);
  assert.equal(isZero(used), false);
  assert.ok(isZero(used.subarray(Instance.SHORT_STACK_BYTES)));
  assert.ok(isZero(used.subarray(0, Instance.SHORT_STACK_BYTES / 2)), 'half of it and more is there for others');
  reset(child);
  assert.ok(isZero(stackOf(child)));
});

test('nothing of a deep stack survives a reset, whatever ran before and after', () => {
  const child = new ChildInProcess();
  const run = (scriptId: string, depth: string) =>
    child.run({ phase: 'producer', scriptId, code: producer(`return dive(${depth});`, DIVE) });
  for (const deep of ['200', '800', BOTTOMLESS]) {
    run('flat', '1');
    assert.ok('result' in run(`deep ${deep}`, deep));
    const used = stackOf(child);
    assert.equal(isZero(used.subarray(Instance.SHORT_STACK_BYTES)), false, 'it was deep');
    reset(child, 'flat');
    assert.ok(isZero(stackOf(child)), `of a depth of ${deep}`);
  }
});

test('a script comes as deep as the limit says, the first time and later, after a wait or without one', () => {
  const child = new ChildInProcess();
  const code = producer(`if (state === 'wait') await ctx.shop.get({}); return dive(${BOTTOMLESS});`, DIVE);
  const first = child.run({ phase: 'producer', code, args: ['go'] });
  assert.ok('result' in first && typeof first.result === 'number' && first.result > 800, JSON.stringify(first));
  assert.deepEqual(child.run({ phase: 'producer', args: ['go'] }), first);
  const after = (generation: number) => [encodeFrame(FRAME.answer, generation, ['1', '{}'])];
  // What goes on after a wait has less below it.
  const [again, fresh] = ['script', 'another'].map((scriptId) =>
    child.run({ phase: 'producer', scriptId, code, args: ['wait'], after }),
  );
  assert.ok(again && 'result' in again && Number(again.result) >= first.result, JSON.stringify(again));
  assert.deepEqual(fresh, again);
});

test('a smaller limit of the stack holds all the same', () => {
  const child = new ChildInProcess({ limits: { stackBytes: 16 * KIB } });
  const ended = child.run({ phase: 'producer', code: producer(`return dive(${BOTTOMLESS});`, DIVE) });
  assert.ok('result' in ended && Number(ended.result) < 100, JSON.stringify(ended));
});

test('what a phase said before it ran again with the whole stack is said once', () => {
  const child = new ChildInProcess();
  const code = producer("ctx.log('so far'); ctx.publish('a', { messageId: 'x', payload: 1 }); return dive(500);", DIVE);
  for (let turn = 0; turn < 2; turn++) {
    const said = child.frames({ phase: 'producer', code: turn === 0 ? code : undefined });
    const calls = said.filter(({ kind }) => kind === FRAME.call).map(({ fields }) => fields[1]);
    assert.deepEqual(calls, ['log', 'publish']);
    assert.equal(said.at(-1)?.fields[1], '500');
  }
});

test('an answer that came along is handed over again', () => {
  const code = `${DIVE}; globalThis.__pawl_workflow = { consumers: { h: { subscribe: ['in'], publishes: [],
    async prepare(ctx) { const [first] = await ctx.peek('in', { limit: 1 }); return { first, depth: dive(500) }; } } } };`;
  const foreseen = { foreseen: '["in",{"limit":1}]', answer: '[7]' };
  const last = new ChildInProcess().frames({ phase: 'prepare', code, ...foreseen }).at(-1);
  assert.equal(JSON.parse(last?.fields[0] ?? '').isForeseenTaken, true);
  assert.deepEqual(JSON.parse(last?.fields[1] ?? ''), { first: 7, depth: 500 });
});

test('a phase that computes goes on where there is room, without doing much twice', () => {
  const child = new ChildInProcess();
  const code = producer('let n = 0; while (n < 200_000) n++; return n;');
  assert.deepEqual(child.run({ phase: 'producer', code }), { result: 200_000 });
  assert.equal(child.server.images.get('script')?.needsWholeStack, true);
  assert.equal(child.server.instances.made, 1);
});

/** To say where it is the script needs stack of its own, which the short one may not have any more. */
test('where a limit was met is known at every depth', () => {
  const child = new ChildInProcess({ limits: { logs: 1 } });
  for (let depth = 5; depth < 150; depth += 5) {
    const dive = `function dive(n) { if (n > 0) return dive(n - 1); ctx.log('1'); ctx.log('2'); }; dive(${depth});`;
    const said = child.frames({ phase: 'producer', scriptId: `depth ${depth}`, code: producer(dive) });
    const { limit, stack } = JSON.parse(said.at(-1)?.fields[0] ?? '');
    assert.equal(limit, 'logs');
    assert.match(stack, /dive/, `at a depth of ${depth}`);
  }
});

test('what all but reached the end of the short stack does not count as fitting', () => {
  const child = new ChildInProcess();
  child.run({ phase: 'producer', code: producer('return 1;') });
  const instance = instanceOf(child);
  assert.ok(instance.hasFitted);
  instance.bytes[Instance.UNTOUCHED_BYTES - 1] = 1;
  assert.equal(instance.hasFitted, false);
});

test('depths one by one around the end of the short stack give what they should', () => {
  const child = new ChildInProcess();
  const code = producer('return dive(state);', DIVE);
  let alone = 0;
  for (let depth = 0; depth < 150; depth++) {
    const scriptId = `depth ${depth}`;
    assert.deepEqual(child.run({ phase: 'producer', scriptId, code, args: [depth] }), { result: depth });
    if (child.server.images.get(scriptId)?.needsWholeStack === false) alone++;
  }
  assert.ok(alone > 20 && alone < 149, `${alone} fitted`);
});
