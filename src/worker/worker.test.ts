import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Worker, type WorkerOptions } from './worker.ts';

const LEASE_MS = 45_000;

test('a worker looks less and less often while there is nothing to do, and at once when it is called', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  t.after(() => mock.timers.reset());
  let looks = 0;
  let call = (): void => undefined;
  const worker = new Worker(
    idle({
      onLook: () => looks++,
      onListen: (listener) => {
        call = listener;
      },
    }),
  );
  const looksIn = async (seconds: number): Promise<number> => {
    const before = looks;
    for (let i = 0; i < seconds; i++) {
      mock.timers.tick(1_000);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    return looks - before;
  };
  worker.start();
  assert.equal(await looksIn(4), 3, 'at once, after 1 s, after 2 s more');
  await looksIn(30);
  assert.equal(await looksIn(50), 10, 'in the end every ninth part of a lease');
  call();
  assert.equal(await looksIn(4), 3);
  await worker.drain();
  await worker.stop();
});

function idle({ onLook, onListen }: { onLook: () => void; onListen: (listener: () => void) => void }): WorkerOptions {
  const nothing = () => Promise.resolve([]);
  const reader = {
    handOffs: () => {
      onLook();
      return nothing();
    },
    dueReconciles: nothing,
    strangeMessages: nothing,
  };
  const engine = {
    reader,
    self: 'wrk_1',
    listen: () => () => undefined,
    listenDue: (listener: () => void) => {
      onListen(listener);
      return () => undefined;
    },
  };
  const unused = () => Promise.reject(new Error('nothing was to be done'));
  const pulse = { start: () => undefined, stop: () => Promise.resolve(), sinceMs: () => 0, beatNow: () => undefined };
  return {
    engine: engine as unknown as WorkerOptions['engine'],
    clock: { now: () => 0 } as WorkerOptions['clock'],
    leaseMs: LEASE_MS,
    pulse: pulse as unknown as WorkerOptions['pulse'],
    concurrency: 1,
    reaps: false,
    isOurs: () => true,
    canTake: () => Promise.resolve(true),
    canAsk: () => true,
    timeoutMsOf: () => Promise.resolve(undefined),
    hasTimeouts: false,
    take: unused,
    reconcile: unused,
    setClock: () => Promise.resolve(),
    onDrain: () => undefined,
    onError: (error) => {
      throw error;
    },
    onLost: () => undefined,
  };
}
