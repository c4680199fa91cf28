import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BaseMemory } from './base-memory.ts';
import { ChildInProcess, producer } from './child-in-process.ts';

const MIB = 1_024 * 1_024;

test('a reset sets every byte that anybody can have written, zero or not', () => {
  const child = new ChildInProcess();
  child.run({ phase: 'producer', code: producer('return 1;', "const kept = 'kept'.repeat(100)") });
  const image = child.server.images.get('script');
  assert.ok(image);
  const instance = child.server.instances.acquire(image, true);
  const fresh = Buffer.from(instance.bytes.slice());
  instance.bytes.fill(0xa5, 0, image.stackPointer);
  instance.bytes.fill(0xa5, instance.dataStart);
  image.copyInto(instance);
  assert.ok(fresh.equals(instance.bytes));
});

test('zeros are set wherever they lie, in a larger memory beyond the end as well', () => {
  const dataStart = MIB;
  const bytes = new Uint8Array(MIB + 65_536);
  const { ZERO_WORDS_MIN } = BaseMemory;
  // None, fewer than are told apart, just as many, and more at the end.
  for (const word of [0, 1, 9, 10 + ZERO_WORDS_MIN, 12 + 3 * ZERO_WORDS_MIN]) bytes[dataStart + word * 4 + 3] = 7;
  const base = new BaseMemory({ bytes, dataStart } as never);
  assert.ok(Buffer.from(base.words.buffer).equals(bytes.subarray(dataStart)));
  for (const beyond of [0, 65_536]) {
    const memory = new Uint8Array(bytes.length + beyond).fill(0xa5, dataStart);
    base.copyInto(memory);
    assert.ok(Buffer.from(memory.subarray(0, bytes.length)).equals(bytes));
    assert.ok(memory.subarray(bytes.length).every((byte) => byte === 0));
  }
});

test('a memory that is all zeros, or has none, is copied whole', () => {
  for (const each of [0, 5]) {
    const bytes = new Uint8Array(3 * 4_096).fill(each, 4_096);
    const memory = new Uint8Array(bytes.length).fill(0xa5, 4_096);
    new BaseMemory({ bytes, dataStart: 4_096 } as never).copyInto(memory);
    assert.deepEqual(memory, bytes);
  }
});
