import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventId, ScriptId, WorkflowId } from '#base';
import { lookAhead } from './ahead.ts';
import type { HandlerHost } from './handler-host.ts';
import { PeekHabits, type SeenEvent } from './peek-habits.ts';

const WHOSE = { workflowId: 'wf_1' as WorkflowId, scriptId: 'scr_1' as ScriptId, handlerName: 'book' };
const PAGE = { topic: 'orders', limit: 1, args: '["orders",{"limit":1}]', isWhole: true };

function event(id: string): SeenEvent {
  const rest = {
    topic: 'orders',
    messageId: id,
    payload: '{}',
    status: 'pending',
    createdAt: 0,
    pendingSeq: 1,
  } as const;
  return { id: id as EventId, ...rest };
}

/** A process that remembers one event to wait, and a database in which another process has put an older one before it. */
function host(remembered: readonly SeenEvent[] | undefined): HandlerHost {
  const peeks = new PeekHabits();
  peeks.kept(WHOSE.workflowId, PAGE);
  peeks.wasAll(WHOSE, true);
  const engine = { waiting: () => remembered, reader: { listEvents: async () => [event('older')] } };
  const ledger = { permitsOf: async () => ({}), usualVersion: async () => undefined };
  return { engine, ledger, peeks } as unknown as HandlerHost;
}

async function seen(remembered: readonly SeenEvent[] | undefined, isBehindCommit: boolean): Promise<unknown> {
  const outlook = await lookAhead(host(remembered), WHOSE, { isBehindCommit });
  return outlook?.foreseen.events.map(({ id }) => id);
}

test('right behind a commit the next run is shown what the process remembers to wait', async () => {
  assert.deepEqual(await seen([event('newer')], true), ['newer']);
});

test('later it is read: an older event may have come to wait since', async () => {
  assert.deepEqual(await seen([event('newer')], false), ['older']);
});

test('and so it is where the process does not remember', async () => {
  assert.deepEqual(await seen(undefined, true), ['older']);
});
