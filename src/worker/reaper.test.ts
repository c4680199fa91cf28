import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { RefusedError, StoreUnavailableError } from '#base';
import { Reaper, type ReaperOptions } from './reaper.ts';

const LEASE_MS = 45_000;
const LOOK_MS = LEASE_MS / 3;

test('a session that takes too long is not ended while the call of a living owner is out', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  let now = 1_000_000;
  const call = { status: 'in_flight', callDeadline: now + 60_000 };
  const reaped: unknown[] = [];
  const execution = { id: 'exe_1', workflowId: 'wf_1', epoch: 1, status: 'running', owner: 'wrk_1', startedAt: now };
  const reader = {
    unendedWorkers: () => Promise.resolve([{ id: 'wrk_1', leaseUntil: Number.MAX_SAFE_INTEGER }]),
    unfinishedExecutions: () => Promise.resolve([execution]),
    fetch: (name: string) => Promise.resolve(name === 'execution' ? [execution] : [call]),
  };
  const manager = { reapExecution: (...how: unknown[]) => Promise.resolve(reaped.push(how)) };
  const reaper = new Reaper({
    engine: { reader, manager, self: 'wrk_2' } as unknown as ReaperOptions['engine'],
    clock: { now: () => now },
    leaseMs: LEASE_MS,
    timeoutMsOf: () => Promise.resolve(10_000),
    hasTimeouts: true,
    onError: (error) => assert.fail(String(error)),
  });
  const look = async (): Promise<void> => {
    now += LOOK_MS;
    mock.timers.tick(LOOK_MS);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  reaper.start();
  await look();
  assert.deepEqual(reaped, [], 'its answer may come any moment');
  call.status = 'applied';
  await look();
  assert.deepEqual(reaped, [['exe_1', 1, { provenDead: false, timeoutMs: 10_000 }]]);
  reaped.length = 0;
  call.status = 'in_flight';
  now = call.callDeadline;
  await look();
  assert.equal(reaped.length, 1, 'a call that must be over holds up nobody');
  await reaper.stop();
});

test('a reaper that stood still after it had looked strikes nobody off who lives, and never itself', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const begun = 1_000_000;
  let now = begun;
  const struck: unknown[] = [];
  const workers = [
    { id: 'wrk_self', leaseUntil: begun - 100 * LEASE_MS },
    { id: 'wrk_living', leaseUntil: begun + LEASE_MS },
    { id: 'wrk_dead', leaseUntil: begun - 21 * LEASE_MS },
    { id: 'wrk_back', leaseUntil: begun - 21 * LEASE_MS },
  ];
  const reader = {
    unendedWorkers: () => {
      // What it was told is old by the time it hears it.
      now += 1_000 * LEASE_MS;
      return Promise.resolve(workers);
    },
    unfinishedExecutions: () => Promise.resolve([]),
  };
  const manager = {
    endWorker: (id: string, how: unknown) => {
      struck.push([id, how]);
      const facts = { code: 'too-early', message: 'it has come back', why: '', next: [] } as const;
      return id === 'wrk_back' ? Promise.reject(new RefusedError(facts)) : Promise.resolve({});
    },
  };
  const reaper = new Reaper({
    engine: { reader, manager, self: 'wrk_self' } as unknown as ReaperOptions['engine'],
    clock: { now: () => now },
    leaseMs: LEASE_MS,
    timeoutMsOf: () => Promise.resolve(undefined),
    hasTimeouts: false,
    onError: (error) => assert.fail(String(error)),
  });
  reaper.start();
  mock.timers.tick(LOOK_MS);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  await reaper.stop();
  const silentMs = 20 * LEASE_MS;
  assert.deepEqual(struck, [
    ['wrk_dead', { silentMs }],
    ['wrk_back', { silentMs }],
  ]);
});

test('an execution whose workflow is in other hands does not keep the others of the dead from being ended', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const reaped: string[] = [];
  const struck: string[] = [];
  const execution = (id: string) => ({ id, epoch: 1, status: 'running', owner: 'wrk_dead' });
  const reader = {
    unendedWorkers: () => Promise.resolve([{ id: 'wrk_dead', leaseUntil: 0 }]),
    unfinishedExecutions: () => Promise.resolve([execution('exe_1'), execution('exe_2')]),
  };
  const busy = new StoreUnavailableError({ code: 'store-busy', message: 'in other hands', why: '', next: [] });
  const manager = {
    reapExecution: (id: string) => (id === 'exe_1' ? Promise.reject(busy) : Promise.resolve(reaped.push(id))),
    endWorker: (id: string) => Promise.resolve(struck.push(id)),
  };
  const told = Promise.withResolvers<unknown>();
  const reaper = new Reaper({
    engine: { reader, manager, self: 'wrk_self' } as unknown as ReaperOptions['engine'],
    clock: { now: () => 100 * LEASE_MS },
    leaseMs: LEASE_MS,
    timeoutMsOf: () => Promise.resolve(undefined),
    hasTimeouts: false,
    onError: told.resolve,
  });
  reaper.start();
  mock.timers.tick(LOOK_MS);
  assert.equal(await told.promise, busy);
  assert.deepEqual([reaped, struck], [['exe_2'], ['wrk_dead']]);
  await reaper.stop();
});
