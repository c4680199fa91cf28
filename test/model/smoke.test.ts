import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeFeed } from '../../src/execution/changes.ts';
import { CommitQueue } from '../../src/execution/commit-queue.ts';
import { ExecutionModelManager } from '../../src/execution/manager.ts';
import { INVARIANTS } from '#model';
import { applyAndEmit, beginSession, countedIds, deploy, FakeClock, placed, prepareAndCall, reserve } from '../support/fixture.ts';
import { MemoryStore } from '../support/memory-store.ts';

test('one event through a full cycle', async () => {
  const clock = new FakeClock();
  const ids = countedIds();
  const store = new MemoryStore();
  const queue = new CommitQueue({ store, clock, ids, changes: new ChangeFeed(), onFatal: (e) => { throw e; } });
  const manager = new ExecutionModelManager(queue, undefined as never);
  const self = ids.next('worker');
  await manager.registerWorker(self, { name: 'w', pool: 'p', leaseMs: 1000 });
  const wf = await deploy(manager);
  await manager.publishEvents(wf, [placed('1'), placed('2')], 'ada');
  assert.equal(store.rows.workflows.get(wf)?.dueAt, clock.now());
  const fence = await beginSession(manager, wf, self);
  const { run } = (await manager.advanceSession(fence)) as { run: never };
  const started = await prepareAndCall(manager, fence, run, reserve('1'));
  if (!('idempotencyKey' in started)) throw new Error('held');
  await applyAndEmit(manager, fence, run, started.mutation);
  const next = await manager.together((m) => {
    m.commitConsumer(fence, run, { state: '{"n":1}', publishes: [{ topic: 'order.booked', payload: '1' }] });
    return m.advanceSession(fence);
  });
  console.log(next, store.rows.events.values().map((e) => [e.topic, e.messageId, e.status]));
  for (const inv of INVARIANTS) assert.deepEqual(inv.offenders(store.rows), [], inv.name);
});
