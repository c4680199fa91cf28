import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowId } from '#base';
import type { NewlyDue } from '#execution';
import { Scheduler, type SchedulerOptions } from './scheduler.ts';

const PLACES = 2;

/** A table of when each workflow is due, with two places for their sessions; each look is one turn of the loop. */
class World {
  readonly dueAt = new Map<WorkflowId, number | null>();
  readonly begun: WorkflowId[] = [];
  looks = 0;
  #now = 100;
  #tell: (due: NewlyDue) => void = () => undefined;
  readonly scheduler: Scheduler;

  constructor(lookMsMin: number | undefined, session: (world: World, workflow: WorkflowId) => Promise<void>) {
    const none = () => Promise.resolve([]);
    const reader = {
      dueWorkflows: async (now: number, limit: number) => {
        this.looks += 1;
        return this.#due(now).slice(0, limit);
      },
      expiredApprovals: none,
      maintenanceWithoutTask: none,
      expiredScheduling: none,
      messages: none,
      nextWakeAt: async () => this.#due(Number.POSITIVE_INFINITY)[0]?.dueAt ?? null,
    };
    const engine = {
      reader,
      self: 'wrk_1',
      listenDue: (listener: (due: NewlyDue) => void) => {
        this.#tell = listener;
        return () => undefined;
      },
    };
    const options = {
      engine,
      clock: { now: () => this.#now },
      inFlightMax: PLACES,
      sleepMsMax: 60_000,
      lookMsMin,
      runSession: (workflow: WorkflowId) => {
        this.begun.push(workflow);
        this.set(workflow, null);
        return session(this, workflow);
      },
      onError: (error: unknown) => {
        throw error;
      },
    };
    this.scheduler = new Scheduler(options as unknown as SchedulerOptions);
  }

  /** As a commit of this process writes it, and tells. */
  set(workflow: WorkflowId, at: number | null): void {
    this.dueAt.set(workflow, at);
    this.#tell([{ workflow, at }]);
  }

  dueNow(workflow: WorkflowId): void {
    this.set(workflow, ++this.#now);
  }

  /** Somebody else called: nobody knows of what. */
  called(): void {
    this.#tell(undefined);
  }

  #due(now: number): { id: WorkflowId; dueAt: number }[] {
    const due = [...this.dueAt].flatMap(([id, dueAt]) => (dueAt === null || dueAt > now ? [] : [{ id, dueAt }]));
    return due.sort((a, b) => a.dueAt - b.dueAt);
  }
}

const [A, B, C] = ['wf_a', 'wf_b', 'wf_c'] as [WorkflowId, WorkflowId, WorkflowId];

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Its budget is used up and there is work left: due again in the commit that ends it. */
async function backlog(world: World, workflow: WorkflowId): Promise<void> {
  await turns(3);
  world.dueNow(workflow);
}

for (const [where, lookMsMin] of [
  ['near', undefined],
  ['far away', 20],
] as const) {
  test(`with tables that are ${where}, workflows with a backlog give way to one that waits`, async (t) => {
    const world = new World(lookMsMin, backlog);
    t.after(() => world.scheduler.drain());
    for (const workflow of [A, B, C]) world.dueAt.set(workflow, 1);
    world.scheduler.start();
    await turns(200);
    const counts = [A, B, C].map((workflow) => world.begun.filter((each) => each === workflow).length);
    assert.ok(Math.min(...counts) * 2 > Math.max(...counts), `each has its turn: ${counts}`);
  });

  test(`with tables that are ${where}, one that becomes due elsewhere while all places are taken has its turn`, async (t) => {
    const world = new World(lookMsMin, backlog);
    t.after(() => world.scheduler.drain());
    for (const workflow of [A, B]) world.dueAt.set(workflow, 1);
    world.scheduler.start();
    await turns(20);
    world.dueAt.set(C, 2);
    world.called();
    await turns(100);
    assert.ok(world.begun.includes(C));
  });
}

test('what a commit of this process makes due begins without a look, and again when it was due before it had ended', async (t) => {
  const world = new World(20, async (self, workflow) => {
    await turns(2);
    if (self.begun.length < 3) self.dueNow(workflow);
  });
  t.after(() => world.scheduler.drain());
  world.scheduler.start();
  await turns(5);
  const { looks } = world;
  world.dueNow(A);
  await turns(20);
  assert.deepEqual(world.begun, [A, A, A]);
  assert.equal(world.looks, looks);
});

test('one that is no longer due when it ends does not begin again', async (t) => {
  const world = new World(20, async (self, workflow) => {
    await turns(2);
    self.dueNow(workflow);
    self.set(workflow, null);
  });
  t.after(() => world.scheduler.drain());
  world.scheduler.start();
  world.dueNow(A);
  await turns(20);
  assert.deepEqual(world.begun, [A]);
});

test('with all places taken it is short of one where somebody waits, and not where those that have one are still due', async (t) => {
  const over = Promise.withResolvers<void>();
  const world = new World(20, (self, workflow) => {
    self.dueAt.set(workflow, 1);
    return over.promise;
  });
  t.after(() => {
    for (const workflow of [A, B, C]) world.dueAt.set(workflow, null);
    over.resolve();
    return world.scheduler.drain();
  });
  world.dueAt.set(A, 1).set(B, 1);
  world.scheduler.start();
  await turns(5);
  world.called();
  await turns(5);
  assert.deepEqual([world.begun, world.scheduler.isShort], [[A, B], false]);
  world.dueAt.set(C, 2);
  world.called();
  await turns(5);
  assert.deepEqual([world.begun, world.scheduler.isShort], [[A, B], true]);
});
