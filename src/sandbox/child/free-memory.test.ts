import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prelude } from '../guest/prelude.ts';
import { LIMITS } from '../limits.ts';
import { IMAGE_BYTES_MAX_CHILD } from '../pool.ts';
import { ChildInProcess, producer } from './child-in-process.ts';
import { FreeMemory } from './free-memory.ts';

/** Code of which nothing is left when the top level is over, as of most of what a script imports. */
const FORGOTTEN = `((forgotten) => undefined)(${prelude.toString()})`;

function memoryOf({ server }: ChildInProcess, scriptId = 'script'): Buffer {
  const image = server.images.get(scriptId);
  assert.ok(image);
  const instance = server.instances.acquire(image, true);
  server.instances.keep(instance, image);
  return Buffer.from(instance.bytes);
}

function keptBytes(top: string): number {
  const child = new ChildInProcess();
  assert.deepEqual(child.run({ phase: 'producer', code: producer('return 1;', top) }), { result: 1 });
  return child.server.images.bytes;
}

test('what loading a script left behind is no part of its image', () => {
  const plain = keptBytes('');
  const beside = keptBytes(FORGOTTEN);
  assert.ok(beside - plain < 8_000, `${plain} without, ${beside} with ${FORGOTTEN.length} characters more to parse`);
  const megabytes = keptBytes(
    '(() => { const all = []; for (let i = 0; i < 5; i++) all.push(new Uint8Array(1e6).fill(i)); })()',
  );
  assert.ok(megabytes - plain < 8_000, `${plain} without, ${megabytes} with five megabytes that were given back`);
});

test('what a top level has given back is not in its memory any more', () => {
  const [small, large] = ['small-and-forgotten', 'large-and-forgotten'];
  const child = new ChildInProcess();
  const texts = `let a = '${small.slice(1)}'; a = 's'.slice(0, 1) + a; a = 0;`;
  const long = `let b = new Uint8Array(9_000); for (let i = 0; i < 9_000; i++) b[i] = '${large}'.charCodeAt(i % ${large.length}); b = 0;`;
  child.run({ phase: 'producer', code: producer("return 'still-there';", `(() => { ${texts} ${long} })()`) });
  const memory = memoryOf(child);
  assert.ok(memory.includes('still-there'));
  assert.equal(memory.includes(small), false);
  assert.equal(memory.includes(large.repeat(2)), false);
});

test('to clear what is free does not make the memory grow, and once more changes nothing', () => {
  const child = new ChildInProcess();
  child.run({ phase: 'producer', code: producer('return 1;', FORGOTTEN) });
  const image = child.server.images.get('script');
  assert.ok(image);
  const instance = child.server.instances.acquire(image, true);
  const before = Buffer.from(instance.bytes.slice());
  new FreeMemory(instance).clear(LIMITS.memoryBytes);
  instance.clearStack();
  assert.equal(before.equals(instance.bytes), true);
});

test('a phase takes memory of all sizes that was cleared, and finds what the top level kept', () => {
  const top = `${FORGOTTEN}; const kept = new Map();
    for (let i = 0; i < 3_000; i++) { const text = 'text ' + i; if (i % 3 === 0) kept.set(text, [i, { text }, 'x'.repeat(i % 700)]); }`;
  const body = `const made = [];
    for (let i = 0; i < 5_000; i++) made.push({ i, text: 'y'.repeat(i % 900), list: Array(i % 40).fill(i), big: 2n ** BigInt(i % 600) });
    const isWhole = made.every(({ i, text, list, big }) =>
      text === 'y'.repeat(i % 900) && list.every((each) => each === i) && big === 2n ** BigInt(i % 600));
    const isKept = [...kept].every(([text, [i, inner, long]]) =>
      text === 'text ' + i && inner.text === text && long === 'x'.repeat(i % 700));
    return [isWhole, isKept, kept.size];`;
  const child = new ChildInProcess();
  assert.deepEqual(child.run({ phase: 'producer', code: producer(body, top) }), { result: [true, true, 1_000] });
  assert.deepEqual(child.run({ phase: 'producer' }), { result: [true, true, 1_000] });
});

test('a script keeps its limit of memory', () => {
  const child = new ChildInProcess({ limits: { memoryBytes: 8 * 1_024 * 1_024 } });
  const take = (megabytes: number) => `return Array.from({ length: ${megabytes} }, () => new Uint8Array(1e6)).length;`;
  assert.deepEqual(child.run({ phase: 'producer', code: producer(take(5)) }), { result: 5 });
  assert.deepEqual(child.run({ phase: 'producer', code: producer(take(9)) }), { failed: 'memory' });
});

test('a script that leaves more pieces than are looked for is loaded all the same', () => {
  const count = FreeMemory.PIECES_MAX * 3;
  // Every second one goes: no block of theirs is given back as a whole.
  const top = `let all = Array.from({ length: ${count} }, (_, i) => ({ i })); const kept = all.filter((_, i) => i % 2 === 0); all = 0`;
  const child = new ChildInProcess();
  const code = producer('return [kept.length, kept.at(-1).i];', top);
  assert.deepEqual(child.run({ phase: 'producer', code }), { result: [count / 2, count - 2] });
  assert.deepEqual(child.run({ phase: 'producer' }), { result: [count / 2, count - 2] });
});

/** As the scripts of a busy process do: each message meets another one. */
test('three hundred scripts that import 15 KB of code stay loaded in one child', (t) => {
  const child = new ChildInProcess({ imageBytesMax: IMAGE_BYTES_MAX_CHILD });
  const codeOf = (i: number) => producer(`return ${i};`, FORGOTTEN);
  for (let i = 0; i < 300; i++) child.run({ phase: 'producer', scriptId: `script ${i}`, code: codeOf(i) });
  t.diagnostic(`300 images take ${child.server.images.bytes} bytes`);
  for (let i = 0; i < 300; i++) {
    assert.deepEqual(child.run({ phase: 'producer', scriptId: `script ${i}` }), { result: i });
  }
});
