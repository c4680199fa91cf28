import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventId, RunId } from '#base';
import type { Run, Write } from '#model';
import { folded } from './fold.ts';

const run = 'run_1' as RunId;
const other = 'run_2' as RunId;
const reserved: Write = { set: 'events.reserved', run, events: ['evt_1' as EventId] };
const prepared: Write = { set: 'run.prepared', run, prepareResult: '{}' };
const sending: Write = { set: 'run.phase', run, from: 'prepared', to: 'mutating' };
const mutated: Write = { set: 'run.mutated', run };
const emitting: Write = { set: 'run.phase', run, from: 'mutated', to: 'emitting' };
const committed: Write = { set: 'run.committed', run, from: 'emitting', outputState: '1', cost: 2, at: 3 };

test('the steps of a run up to its call are one write, and so are those after it', () => {
  assert.deepEqual(folded([prepared, reserved, sending]), [
    { write: reserved, writes: [reserved] },
    { write: { set: 'run.sending', run, prepareResult: '{}' }, writes: [prepared, sending] },
  ]);
  assert.deepEqual(folded([mutated, emitting, committed]), [
    { write: { set: 'run.done', run, outputState: '1', cost: 2, at: 3 }, writes: [mutated, emitting, committed] },
  ]);
});

for (const [what, writes] of Object.entries({
  'a run that gave nothing back': [{ ...prepared, prepareResult: null }, sending],
  'a run without a call': [prepared, { ...sending, to: 'emitting' }],
  'an answer whose next is still to come': [mutated, emitting],
  'a run that goes on after its call': [prepared, sending, mutated],
  'the steps of two runs': [prepared, { ...sending, run: other }],
} satisfies Record<string, readonly Write[]>)) {
  test(`${what} is written step by step`, () => {
    assert.deepEqual(
      folded(writes),
      writes.map((write) => ({ write, writes: [write] })),
    );
  });
}

const row = { id: run, handlerType: 'consumer', phase: 'preparing', prepareResult: null } as unknown as Run;
const created: Write = { set: 'run.created', row };

test('a run that begins with its call is written once, as it is then, before anything refers to it', () => {
  const writes = [created, prepared, reserved, sending];
  assert.deepEqual(folded(writes), [
    {
      write: { set: 'run.created', row: { ...row, phase: 'mutating', prepareResult: '{}' } },
      writes: [created, prepared, sending],
    },
    { write: reserved, writes: [reserved] },
  ]);
});

test('a run that begins and goes no further is written as it begins', () => {
  assert.deepEqual(folded([committed, created]), [
    { write: committed, writes: [committed] },
    { write: created, writes: [created] },
  ]);
});
