import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { monotonicIds, systemClock, type WorkerId } from '#base';
import { type DistantStore, openPostgresStore } from '#store';
import { beginSession, CALL, deploy, PERSON, placed, prepareAndCall, reserve } from '../support/fixture.ts';
import { closeAll, Follower } from '../support/follower.ts';
import { borrowDatabase, onPostgres } from '../support/postgres-world.ts';

/** One to lock and read, one to write and commit. */
const ROUND_TRIPS_MAX = 2;

interface Opened {
  readonly store: DistantStore;
  readonly manager: Follower['manager'];
  readonly self: WorkerId;
}

async function open(t: TestContext): Promise<Opened> {
  const { database, giveBack } = await borrowDatabase();
  const store = await openPostgresStore({ url: database.url });
  const ids = monotonicIds(systemClock);
  const follower = new Follower(store, systemClock, ids);
  t.after(() => closeAll(() => follower.close(), giveBack));
  const self = ids.next('worker');
  await follower.manager.registerWorker(self, { name: 'one', pool: 'default', leaseMs: 45_000 });
  return { store, manager: follower.manager, self };
}

/** What each step of a consumer's cycle takes, by its name. */
async function cycle({ store, manager, self }: Opened, name: string): Promise<Record<string, number>> {
  const taken: Record<string, number> = {};
  const counted = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    const before = store.roundTrips;
    const reply = await work();
    taken[step] = store.roundTrips - before;
    return reply;
  };
  const workflow = await deploy(manager, name);
  await counted('publish', () => manager.publishEvents(workflow, [placed('1'), placed('2')], PERSON));
  await counted('deliver', () =>
    manager.acceptDelivery(workflow, { hook: 'hook', deliveryId: 'd1', headers: '{}', body: 'hello' }),
  );
  const fence = await counted('begin', () => beginSession(manager, workflow, self));
  await counted('renew', () => manager.renewWorker(self, 45_000));
  const advanced = await counted('advance', () => manager.advanceSession(fence));
  assert.ok('run' in advanced);
  await counted('commit producer', () =>
    manager.together((model) => {
      model.keepRecords(fence, advanced.run, { logs: [{ position: 1, at: 1, message: 'm', data: null }], reads: [] });
      return model.commitProducer(fence, advanced.run, {
        publishes: [placed('3')],
        inputs: [{ source: 's', type: 't', id: '1', title: 'one' }],
      });
    }),
  );
  const { run } = await counted('start', () => manager.startRun(fence, 'book'));
  const started = await counted('prepare and call', () => prepareAndCall(manager, fence, run, reserve('1', '2'), CALL));
  assert.ok('idempotencyKey' in started);
  await counted('apply and emit', () =>
    manager.together((model) => {
      model.updateMutationResult(started.mutation, 'success', {
        fence,
        answer: { resolvedBy: 'provider' },
        result: '1',
      });
      return model.updateConsumerPhase(fence, run, 'emitting');
    }),
  );
  const again = await counted('commit and go on', () =>
    manager.together((model) => {
      model.commitConsumer(fence, run, {
        publishes: [
          { topic: 'order.booked', messageId: 'b1', payload: '1' },
          { topic: 'order.booked', payload: '2' },
        ],
        state: '1',
      });
      return model.advanceSession(fence);
    }),
  );
  assert.ok('run' in again);
  const called = await prepareAndCall(manager, fence, again.run, reserve('3'), CALL);
  assert.ok('idempotencyKey' in called);
  await counted('apply, emit and commit', () =>
    manager.together((model) => {
      model.updateMutationResult(called.mutation, 'success', {
        fence,
        answer: { resolvedBy: 'provider' },
        result: '1',
      });
      model.updateConsumerPhase(fence, again.run, 'emitting');
      return model.commitConsumer(fence, again.run, { state: '2' });
    }),
  );
  return taken;
}

onPostgres('every command of a cycle takes two round trips at most, once the store has seen one', async (t) => {
  const opened = await open(t);
  await cycle(opened, 'first');
  const taken = await cycle(opened, 'second');
  const slow = Object.entries(taken).filter(([, count]) => count > ROUND_TRIPS_MAX);
  assert.deepEqual(slow, [], JSON.stringify(taken));
});

onPostgres('a store that has seen nothing yet needs a few more, and not one for each question', async (t) => {
  const taken = await cycle(await open(t), 'first');
  const slow = Object.entries(taken).filter(([, count]) => count > ROUND_TRIPS_MAX + 1);
  assert.deepEqual(slow, [], JSON.stringify(taken));
});

onPostgres('commands of many workflows share the round trips of one', async (t) => {
  const { store, manager } = await open(t);
  const workflows = [];
  for (let i = 0; i < 10; i++) workflows.push(await deploy(manager, `w${i}`));
  await manager.publishEvents(workflows[0] as never, [placed('0')], PERSON);
  const before = store.roundTrips;
  await Promise.all(workflows.map((workflow) => manager.publishEvents(workflow, [placed('1')], PERSON)));
  assert.equal(store.roundTrips - before, ROUND_TRIPS_MAX);
});

onPostgres('many claims of one worker share the round trips of one', async (t) => {
  const { store, manager, self } = await open(t);
  const workflows = [];
  for (let i = 0; i < 10; i++) workflows.push(await deploy(manager, `w${i}`));
  await Promise.all(workflows.map((workflow) => manager.publishEvents(workflow, [placed('1')], PERSON)));
  const [first, ...others] = workflows;
  await beginSession(manager, first as never, self);
  const before = store.roundTrips;
  await Promise.all(others.map((workflow) => beginSession(manager, workflow, self)));
  assert.equal(store.roundTrips - before, ROUND_TRIPS_MAX);
});

onPostgres('a refusal takes two round trips as well', async (t) => {
  const { store, manager } = await open(t);
  const workflow = await deploy(manager, 'w');
  await assert.rejects(manager.approveGrant(workflow, ''), { code: 'invalid' });
  const before = store.roundTrips;
  await assert.rejects(manager.approveGrant(workflow, ''), { code: 'invalid' });
  assert.equal(store.roundTrips - before, ROUND_TRIPS_MAX);
});
