import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventId, RunId } from '#base';
import type { Event, Question, TopicHead, Write } from '#model';
import { AT, consumerRun, event, evt, run, WF, workflow } from '../../../test/store/rows.ts';
import { KnownWorkflow, KnownWorkflows } from './known.ts';

const HEADS: Question = { name: 'heads', by: [WF] };
const keyed = (messageId: string): Question => ({ name: 'eventKeyed', by: [WF, 'in', messageId] });
const pending = (n: number): Event => event({ id: evt(n), topic: 'in', messageId: `m${n}` });

/** Knows these events of a topic, and that there are more, or not. */
function knownWith(events: readonly Event[], more: { until?: EventId; newestSeq?: number } = {}): KnownWorkflow {
  const known = new KnownWorkflow(WF);
  known.learn({ name: 'workflow', by: [WF] }, [workflow()]);
  known.learn({ name: 'activeRun', by: [WF] }, []);
  known.learnWindow({
    waiting: [
      { topic: 'in', until: more.until, of: events.length, newestSeq: more.newestSeq ?? 1, newestBeyond: undefined },
    ],
    answers: events.map((row) => ({ question: keyed(row.messageId), rows: [row] })),
  });
  return known;
}

function taken(id: RunId, ...events: readonly EventId[]): Write[] {
  return [
    { set: 'run.created', row: consumerRun({ id, rootRunId: id }) },
    { set: 'events.reserved', run: id, events },
  ];
}

function ended(id: RunId): Write[] {
  return [
    { set: 'run.prepared', run: id, prepareResult: null },
    { set: 'run.phase', run: id, from: 'prepared', to: 'emitting' },
    { set: 'events.consumed', run: id, count: 1 },
    { set: 'run.committed', run: id, from: 'emitting', outputState: null, cost: 0, at: AT },
  ];
}

const oldest = (known: KnownWorkflow) =>
  (known.answer(HEADS) as readonly TopicHead[] | undefined)?.map((h) => h.oldestId);

test('the oldest event that waits is known until the last one that was read is taken', () => {
  const known = knownWith([pending(1), pending(2)], { until: evt(2) });
  assert.deepEqual(oldest(known), [evt(1)]);
  assert.ok(known.follow(taken(run(1), evt(1)), 1));
  assert.deepEqual(oldest(known), [evt(2)]);
  assert.ok(known.follow([...ended(run(1)), ...taken(run(2), evt(2))], 2));
  assert.equal(oldest(known), undefined);
});

const waits = (known: KnownWorkflow, limit: number) => known.waiting('in', limit)?.map(({ id }) => id);

test('what waits is at hand, oldest first, without what a run has taken', () => {
  const known = knownWith([pending(3), pending(1), pending(2)]);
  assert.deepEqual(waits(known, 2), [evt(1), evt(2)]);
  assert.ok(known.follow(taken(run(1), evt(1)), 1));
  assert.deepEqual(waits(known, 5), [evt(2), evt(3)]);
  assert.deepEqual(known.waiting('elsewhere', 1), []);
});

test('where more wait than were read, only as much is at hand as was', () => {
  const known = knownWith([pending(1), pending(2)], { until: evt(2) });
  assert.ok(known.follow([{ set: 'event.published', row: pending(9) }], 1));
  assert.deepEqual(waits(known, 2), [evt(1), evt(2)]);
  assert.equal(waits(known, 3), undefined);
  assert.ok(known.follow(taken(run(1), evt(1)), 2));
  assert.equal(waits(known, 2), undefined);
});

test('nothing is at hand where it was never read what waits', () => {
  assert.equal(waits(new KnownWorkflow(WF), 1), undefined);
});

test('where all that wait were read, none is left behind the last', () => {
  const known = knownWith([pending(1)]);
  assert.ok(known.follow(taken(run(1), evt(1)), 1));
  assert.deepEqual(oldest(known), []);
});

test('an event of its own behind those that were not read is not taken for the oldest', () => {
  const known = knownWith([pending(1)], { until: evt(1) });
  assert.ok(known.follow([{ set: 'event.published', row: pending(9) }, ...taken(run(1), evt(1))], 1));
  assert.equal(oldest(known), undefined);
});

test('how new the newest is, is not known when it may be among those that were not read', () => {
  const newer = { ...pending(2), pendingSeq: 7 };
  const known = knownWith([pending(1), newer, pending(3)], { until: evt(3), newestSeq: 7 });
  assert.deepEqual(oldest(known), [evt(1)]);
  assert.ok(known.follow(taken(run(1), evt(2)), 1));
  assert.equal(oldest(known), undefined);
});

test('nor when the newest waited behind those that were read, and was taken', () => {
  const known = knownWith([pending(1), pending(2)], { until: evt(2), newestSeq: 9 });
  known.learn(keyed('m5'), [{ ...pending(5), pendingSeq: 9 }]);
  assert.deepEqual(oldest(known), [evt(1)]);
  assert.ok(known.follow(taken(run(1), evt(5)), 1));
  assert.equal(oldest(known), undefined);
});

test('of a run that has ended nothing is known any more, nor of its events', () => {
  const known = knownWith([pending(1), pending(2)]);
  assert.ok(known.follow(taken(run(1), evt(1)), 1));
  assert.equal((known.answer({ name: 'reserved', by: [run(1)] }) ?? []).length, 1);
  assert.ok(known.follow(ended(run(1)), 2));
  assert.equal(known.revision, 2);
  for (const name of ['run', 'reserved', 'ledger', 'lastRun'] as const)
    assert.equal(known.answer({ name, by: [run(1)] }), undefined, name);
  assert.equal(known.answer(keyed('m1')), undefined);
  assert.deepEqual(known.answer({ name: 'activeRun', by: [WF] }), []);
});

test('what it was never told it does not know', () => {
  const known = knownWith([]);
  assert.equal(known.answer({ name: 'run', by: [run(1)] }), undefined);
  assert.equal(known.answer({ name: 'openLedger', by: [WF] }), undefined);
  assert.equal(known.answer({ name: 'grantsOf', by: [WF] }), undefined);
  assert.equal(new KnownWorkflow(WF).answer(HEADS), undefined);
});

test('an event that was handled is not learned by its key: it may be all that is left of it', () => {
  const known = knownWith([]);
  known.learn(keyed('m1'), [{ ...pending(1), status: 'consumed' }]);
  assert.equal(known.answer(keyed('m1')), undefined);
});

test('what is not on the way of an event, or too long to keep, is not followed', () => {
  const paused: Write = { set: 'workflow.quiet', workflow: WF, quiet: true };
  assert.equal(knownWith([]).follow([paused], 1), false);
  const long: Write = { set: 'event.published', row: { ...pending(1), payload: '"'.repeat(3_000) } };
  assert.equal(knownWith([]).follow([long], 1), false);
});

test('a workflow that others change is left alone for a while, and for longer the next time', () => {
  const known = knowing();
  const worth = () => {
    let commits = 0;
    while (!known.isWorthKnowing(WF)) commits++;
    return commits;
  };
  assert.equal(worth(), 0);
  known.wasWrong(WF);
  assert.equal(worth(), 16);
  known.wasWrong(WF);
  assert.equal(worth(), 32);
});

test('after guards were put in again, or under those of another version, nothing is known', () => {
  for (const other of [
    { guarded: 2, guards: 'own' },
    { guarded: 1, guards: 'of another version' },
  ]) {
    const known = knowing();
    known.keep(knownWith([]));
    known.stands({ guarded: 1, guards: 'own' });
    assert.ok(known.get(WF));
    known.stands(other);
    assert.equal(known.get(WF), undefined);
    assert.equal(known.isWorthKnowing(WF), other.guards === 'own');
  }
});

function knowing(): KnownWorkflows {
  const known = new KnownWorkflows('own');
  known.stands({ guarded: 1, guards: 'own' });
  return known;
}
