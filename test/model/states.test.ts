import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CONSUMER_PHASE_STEPS,
  type ConsumerPhase,
  EVENT_STEPS,
  EXECUTION_STEPS,
  HOLDS,
  isStep,
  LIVE_WORKFLOW,
  MUTATION_OUTCOMES,
  MUTATION_STEPS,
  PRODUCER_PHASE_STEPS,
  RUN_STATUS_STEPS,
  type RunStatus,
  SESSION_RESULTS,
  STOP_STATUSES,
  WORKFLOW_STATUS_STEPS,
} from '#model';
import { deploy, PERSON } from '../support/fixture.ts';
import {
  emitting,
  emittingEmpty,
  failedAfter,
  freshRun,
  mutating,
  prepared,
  preparing,
  type Stage,
  stop,
} from '../support/stage.ts';
import { forEachStore, type World } from '../support/world.ts';

// The tables of states against the words of the design, and every pair of phases and statuses against the manager.

type Steps = Readonly<Record<string, readonly string[]>>;

/** "a → b → c | d" says that a leads to b, and b to c and to d; "a ⇄ b" goes both ways. */
function edgesOf(...sentences: readonly string[]): string[] {
  const edges = new Set<string>();
  for (const sentence of sentences) {
    const parts = sentence.split(/\s(→|⇄)\s/);
    for (let i = 1; i < parts.length; i += 2) {
      for (const from of words(parts[i - 1])) {
        for (const to of words(parts[i + 1])) {
          edges.add(`${from} → ${to}`);
          if (parts[i] === '⇄') edges.add(`${to} → ${from}`);
        }
      }
    }
  }
  return [...edges].sort();
}

function words(part: string | undefined): string[] {
  return (part ?? '').split('|').map((word) => word.trim());
}

function edgesIn(steps: Steps): string[] {
  return Object.entries(steps)
    .flatMap(([from, tos]) => tos.map((to) => `${from} → ${to}`))
    .sort();
}

const STOPPED = STOP_STATUSES.join(' | ');

const SAID: Readonly<Record<string, { steps: Steps; says: readonly string[] }>> = {
  'consumer phase': {
    steps: CONSUMER_PHASE_STEPS,
    says: ['preparing → prepared → mutating → mutated → emitting → committed', 'prepared → emitting'],
  },
  'producer phase': { steps: PRODUCER_PHASE_STEPS, says: ['executing → committed'] },
  'run status': {
    steps: RUN_STATUS_STEPS,
    says: [
      'active → paused:transient | paused:approval | paused:reconciliation | failed:logic | failed:internal | crashed | cancelled | committed',
      `${STOPPED} → committed`,
    ],
  },
  event: {
    steps: EVENT_STEPS,
    says: [
      'pending → reserved → pending | consumed | skipped | parked',
      'pending ⇄ parked',
      'pending | parked → skipped',
    ],
  },
  mutation: {
    steps: MUTATION_STEPS,
    says: [
      'pending → in_flight → applied | failed | needs_reconcile | indeterminate',
      'needs_reconcile → applied | failed | indeterminate',
      'indeterminate → applied | failed | needs_reconcile',
      'pending → failed',
    ],
  },
  workflow: {
    steps: WORKFLOW_STATUS_STEPS,
    says: [
      'draft → ready → active ⇄ paused | error',
      // The first version may wait for a grant, and holds come and go beside each other.
      'ready → error',
      'paused ⇄ error',
      'draft | ready | active | paused | error → archived',
    ],
  },
  execution: {
    steps: EXECUTION_STEPS,
    says: [
      'requested → scheduling → scheduled → running → completed | failed | cancelled | timeout | abandoned',
      'scheduling → requested',
      'requested | scheduling → cancelled | failed',
      'scheduled → abandoned | cancelled | timeout',
    ],
  },
};

for (const [name, { steps, says }] of Object.entries(SAID)) {
  test(`the table of steps is what the design says: ${name}`, () => {
    assert.deepEqual(edgesIn(steps), edgesOf(...says));
    const named = new Set(edgesOf(...says).flatMap((edge) => edge.split(' → ')));
    assert.deepEqual(Object.keys(steps).sort(), [...named].sort());
  });
}

test('the lists that are no steps are what the design says', () => {
  assert.deepEqual(MUTATION_OUTCOMES, ['', 'success', 'failure', 'skipped']);
  assert.deepEqual(SESSION_RESULTS, ['', 'completed', 'failed']);
  assert.deepEqual(HOLDS, ['user', 'unknown', 'approval', 'connection', 'error']);
  assert.deepEqual(LIVE_WORKFLOW, ['active', 'paused', 'error']);
});

const PHASES = Object.keys(CONSUMER_PHASE_STEPS) as ConsumerPhase[];

/** A consumer's run at each phase, with something reserved and with nothing. */
const AT: Readonly<
  Record<ConsumerPhase, { full?: (world: World) => Promise<Stage>; empty?: (world: World) => Promise<Stage> }>
> = {
  preparing: { full: preparing },
  prepared: {
    full: prepared,
    empty: async (world) => {
      const stage = await preparing(world);
      await world.manager.updateConsumerPhase(stage.fence, stage.run, 'prepared');
      return stage;
    },
  },
  mutating: { full: mutating },
  mutated: {
    full: async (world) => {
      const stage = await mutating(world);
      await world.manager.updateConsumerPhase(stage.fence, stage.run, 'mutated');
      return stage;
    },
  },
  emitting: { full: emitting, empty: emittingEmpty },
  committed: {
    full: async (world) => {
      const stage = await emitting(world);
      await world.manager.commitConsumer(stage.fence, stage.run);
      return stage;
    },
  },
};

/** The one pair that the table allows and the reservations decide. */
function fits(from: ConsumerPhase, to: ConsumerPhase, reserved: 'full' | 'empty'): boolean {
  if (from !== 'prepared') return true;
  return to === (reserved === 'full' ? 'mutating' : 'emitting');
}

for (const from of PHASES) {
  for (const reserved of ['full', 'empty'] as const) {
    const reach = AT[from][reserved];
    if (!reach) continue;
    const legal = PHASES.filter(
      (to) => to !== 'committed' && isStep<ConsumerPhase>(CONSUMER_PHASE_STEPS, from, to) && fits(from, to, reserved),
    );
    for (const to of legal) {
      forEachStore(`updateConsumerPhase: ${from} (${reserved}) to ${to} is a step`, async (world) => {
        const { fence, run } = await reach(world);
        assert.deepEqual(await world.manager.updateConsumerPhase(fence, run, to), { phase: to });
        world.is('runs', run, { phase: to, status: 'active' });
      });
    }
    forEachStore(`updateConsumerPhase: from ${from} (${reserved}) nothing else is a step`, async (world) => {
      const { fence, run } = await reach(world);
      for (const to of PHASES.filter((phase) => !legal.includes(phase))) {
        const code = from === 'committed' ? 'not-active' : to === 'committed' ? 'use-other-method' : 'wrong-phase';
        await world.refuses(code, () => world.manager.updateConsumerPhase(fence, run, to));
      }
    });
  }
}

forEachStore('updateConsumerPhase: a word that is no phase is refused', async (world) => {
  const { fence, run } = await preparing(world);
  for (const word of ['executing', 'failed', 'suspended', '']) {
    await world.refuses('wrong-phase', () => world.manager.updateConsumerPhase(fence, run, word as ConsumerPhase));
  }
});

const STATUSES = Object.keys(RUN_STATUS_STEPS) as RunStatus[];

for (const status of STOP_STATUSES) {
  if (status === 'paused:reconciliation') continue;
  forEachStore(`run status: active to ${status}, once, and from there only a person commits it`, async (world) => {
    const stage = await emitting(world);
    await stop(world, stage, status, { cause: { kind: 'permission' } });
    world.is('runs', stage.run, { status });
    for (const again of STATUSES.filter((other) => other !== 'active' && other !== 'committed')) {
      await world.refuses('fenced', () => stop(world, stage, again as never));
    }
    await world.refuses('fenced', () => world.manager.commitConsumer(stage.fence, stage.run));
    await world.manager.finishWithoutNext(stage.run, PERSON);
    world.is('runs', stage.run, { status: 'committed', phase: 'committed' });
  });
}

forEachStore('run status: neither active nor committed is a way to stop', async (world) => {
  const stage = await emitting(world);
  for (const status of ['active', 'committed', 'failed', ''] as never[]) {
    await world.refuses('use-other-method', () => stop(world, stage, status));
  }
});

forEachStore('run status: a run that has ended is not stopped again', async (world) => {
  const stage = await emitting(world);
  await world.manager.commitConsumer(stage.fence, stage.run);
  for (const status of STOP_STATUSES) await world.refuses('not-active', () => stop(world, stage, status));
});

forEachStore('producer phase: executing to committed, and no other way', async (world) => {
  const { fence, run } = await freshRun(world, await deploy(world.manager), 'poll');
  for (const phase of PHASES) {
    await world.refuses('wrong-state', () => world.manager.updateConsumerPhase(fence, run, phase));
  }
  await world.manager.commitProducer(fence, run);
  world.is('runs', run, { phase: 'committed', status: 'committed' });
});

forEachStore('session result: empty, then completed or failed, and that is all', async (world) => {
  const stage = await failedAfter(world);
  world.is('sessions', world.sessionOf(stage.fence), { result: 'failed' });
  await world.refuses('fenced', () => world.manager.finishSession(stage.fence));
});
