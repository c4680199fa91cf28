import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowId } from '#base';
import type { Event } from '#model';
import { HostRefusal } from '#sandbox';
import type { DrivenHost } from './handler-host.ts';
import { PeekHabits } from './peek-habits.ts';
import { RunCalls } from './run-calls.ts';

const WF = 'wf_1' as WorkflowId;
const PENDING = 1_000;

/** A run whose script has looked at the same twice before, with a thousand events that are pending. */
function habitual(limit: number) {
  const peeks = new PeekHabits();
  const args = peekArgs(limit);
  let reads = 0;
  const listEvents = async (_: WorkflowId, { limit: count, after }: { limit: number; after?: string }) => {
    reads += 1;
    const from = after === undefined ? 0 : Number(after.slice('evt_'.length)) + 1;
    return Array.from({ length: Math.min(count, PENDING - from) }, (_, i) => event(from + i));
  };
  const callsOf = (foreseen?: DrivenHost['foreseen']) => {
    const engine = { reader: { listEvents } };
    const host = { engine, ledger: {}, clock: { now: () => 0 }, peeks, foreseen };
    return new RunCalls({ workflowId: WF, handlerName: 'book' } as never, ['in', 'other'], host as never);
  };
  const next = async (): Promise<RunCalls> => {
    for (let i = 0; i < 2; i++) await callsOf().answer({ name: 'peek', args });
    const page = peeks.expected(WF);
    assert.ok(page);
    const { topic } = page;
    return callsOf({
      ...page,
      events: (await listEvents(WF, { limit: page.limit })).map((each) => ({ ...each, topic })),
    });
  };
  return { next, peeks, reads: () => reads };
}

function peekArgs(limit: number, topic = 'in'): string {
  return JSON.stringify([topic, { limit }]);
}

function event(n: number): Event {
  const id = `evt_${n}`;
  return { id, topic: 'in', messageId: `${n}`, payload: '{}', createdAt: 1, status: 'pending', pendingSeq: n } as Event;
}

test('a page goes along with the script where it is all that the script will ask for', async () => {
  const along = (await habitual(10).next()).foreseenPeek();
  assert.equal(along?.args, peekArgs(10));
  assert.equal((JSON.parse(along.answer) as unknown[]).length, 10);
});

test('the first page of a larger question does not go along: it would be taken for all there is', async () => {
  const { next, reads } = habitual(100);
  const calls = await next();
  assert.equal(calls.foreseenPeek(), undefined);
  const before = reads();
  const found = JSON.parse(await calls.answer({ name: 'peek', args: peekArgs(100) })) as unknown[];
  assert.equal(found.length, 100);
  assert.equal(reads() - before, 1, 'its first page was read already');
});

test('what is asked after the page that went along is read anew', async () => {
  const { next, reads } = habitual(10);
  const calls = await next();
  const along = calls.foreseenPeek();
  const before = reads();
  await calls.answer({ name: 'peek', args: peekArgs(10) });
  assert.equal(reads() - before, 1);
  along?.onTaken();
});

test('a script that looks elsewhere afterwards keeps its habit', async () => {
  const { next, peeks } = habitual(10);
  const calls = await next();
  const along = calls.foreseenPeek();
  await calls.answer({ name: 'peek', args: peekArgs(1, 'other') });
  along?.onTaken();
  assert.equal(peeks.expected(WF)?.args, peekArgs(10));
});

test('what went along counts as shown from the beginning, and telling so at the end never fails', async () => {
  const calls = await habitual(10).next();
  const along = calls.foreseenPeek();
  for (let i = 0; i < 9; i++) await calls.answer({ name: 'peek', args: peekArgs(1_000) });
  await assert.rejects(calls.answer({ name: 'peek', args: peekArgs(1_000) }), HostRefusal);
  along?.onTaken();
  assert.equal(calls.handedOut.size, PENDING);
});
