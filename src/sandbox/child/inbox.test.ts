import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame, type HostFrame } from '../frames.ts';
import { FRAME, type RunHeader } from '../protocol.ts';
import { ChildInProcess, producer } from './child-in-process.ts';

// What a child finds in its pipe while it works on something else.

const OTHER: RunHeader = {
  scriptId: 'other',
  handler: 'h',
  phase: 'producer',
  startedAt: 0,
  seed: [1, 2, 3, 4],
  uses: ['shop'],
  andMutate: false,
  beside: [],
};

const answer = (generation: number, json: string) => encodeFrame(FRAME.answer, generation, ['1', json]);
const abandon = (generation: number) => encodeFrame(FRAME.abandon, generation, []);
const run = (generation: number, ...code: string[]) =>
  encodeFrame(FRAME.run, generation, [JSON.stringify(OTHER), '[]', '', ...code]);
const returnsOther = producer("return 'other';");
const waits = producer('return await ctx.shop.get();');

/** Who ended, how and with what, in this order. The first message to a child has the number 1. */
function endsOf(said: readonly HostFrame[]): unknown[] {
  return said
    .filter(({ kind }) => kind === FRAME.done || kind === FRAME.needCode)
    .map(({ kind, generation, fields: [end = '{}', result] }) =>
      kind === FRAME.needCode ? [generation, 'need code'] : [generation, JSON.parse(end).kind, result],
    );
}

test('a message given up while it waits ends there', () => {
  const child = new ChildInProcess();
  const code = producer('await ctx.shop.get();');
  const ended = child.run({ phase: 'producer', code, after: (now) => [abandon(now)] });
  assert.deepEqual(ended, { failed: 'the host gave the run up' });
});

test('messages that come while one waits are run behind it, but those that were given up meanwhile', () => {
  const child = new ChildInProcess();
  child.run({ phase: 'producer', scriptId: 'other', code: returnsOther });
  const after = () => [run(3), run(4), run(5), abandon(4), answer(2, '"first"')];
  assert.deepEqual(endsOf(child.frames({ phase: 'producer', code: waits, after })), [
    [4, 'failed', ''],
    [2, 'returned', '"first"'],
    [3, 'returned', '"other"'],
    [5, 'returned', '"other"'],
  ]);
});

test('a message that was given up before its turn came is left out', () => {
  const child = new ChildInProcess();
  child.run({ phase: 'producer', scriptId: 'other', code: returnsOther });
  const after = () => [Buffer.concat([run(3), run(4), abandon(3), run(5)])];
  assert.deepEqual(endsOf(child.frames({ phase: 'producer', code: producer('return 1;'), after })), [
    [2, 'returned', '1'],
    [3, 'failed', ''],
    [4, 'returned', '"other"'],
    [5, 'returned', '"other"'],
  ]);
});

test('behind one that was left out with its code nobody runs what the script was before', () => {
  for (const between of [[], [answer(2, '"first"')]]) {
    const child = new ChildInProcess();
    child.run({ phase: 'producer', scriptId: 'other', code: returnsOther });
    const code = producer("return 'changed';");
    const after = () => [...between, Buffer.concat([run(3, code), run(4), abandon(3)]), answer(2, '"first"')];
    const ends = endsOf(child.frames({ phase: 'producer', code: waits, after }));
    assert.deepEqual(
      new Set(ends),
      new Set([
        [2, 'returned', '"first"'],
        [3, 'failed', ''],
        [4, 'need code'],
      ]),
    );
  }
});

test('when the host is gone nothing more is begun', () => {
  const child = new ChildInProcess();
  child.run({ phase: 'producer', scriptId: 'other', code: returnsOther });
  const ends = endsOf(child.frames({ phase: 'producer', code: waits, after: () => [run(3)] }));
  assert.deepEqual(ends, [[2, 'failed', '']]);
});
