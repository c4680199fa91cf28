import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelSteps } from '#execution';
import type { Fence } from '#model';
import { type Ahead, beginAhead } from './ahead.ts';

/** As a store that is far away goes through a unit before it is decided, to know what to read: every reply is empty. */
test('every command of a run that was prepared ahead is foreseen', () => {
  const asked: string[] = [];
  const answer = (name: string) => () => {
    asked.push(name);
    return {};
  };
  const model = new Proxy({}, { get: (_, name) => answer(String(name)) }) as ModelSteps;
  const calls = { logs: [], reads: [], handedOut: new Map() };
  const prepared = { reservations: [{ topic: 'in', ids: ['1'] }], json: '{}', title: null, wakeAt: undefined };
  const ahead = {
    run: { id: 'run_1' },
    state: null,
    done: { calls, prepared },
    call: {},
    outlook: { foreseen: { events: [] } },
  } as unknown as Ahead;
  for (const stays of [false, true]) {
    asked.length = 0;
    beginAhead(model, {} as Fence, ahead, { stays });
    assert.deepEqual(asked, ['advanceSession', 'updateConsumerPhase', 'updateConsumerPhase', 'startMutation']);
  }
});
