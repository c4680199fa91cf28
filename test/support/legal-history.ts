import assert from 'node:assert/strict';
import {
  CONSUMER_PHASE_STEPS,
  DELIVERY_STEPS,
  EVENT_STEPS,
  EXECUTION_STEPS,
  MUTATION_STEPS,
  PRODUCER_PHASE_STEPS,
  type Rows,
  RUN_STATUS_STEPS,
  TASK_STEPS,
  type Table,
  WORKFLOW_STATUS_STEPS,
} from '#model';

type Steps = Readonly<Record<string, readonly string[]>>;
type Named = { readonly id: string };

/** Whatever happened between two looks happened along the tables of states, and nothing went away but messages and what is over. */
export function assertLegalHistory(before: Rows, after: Rows): void {
  assertSteps(before.workflows, after.workflows, WORKFLOW_STATUS_STEPS, (row) => row.status);
  assertSteps(
    before.executions,
    after.executions,
    EXECUTION_STEPS,
    (row) => row.status,
    (row) => row.endedAt !== null,
  );
  assertSteps(
    before.events,
    after.events,
    EVENT_STEPS,
    (row) => row.status,
    ({ id }) => after.prunedEvents.get(id) !== undefined,
  );
  assertSteps(
    before.mutations,
    after.mutations,
    MUTATION_STEPS,
    (row) => row.status,
    (row) => row.resolvedAt !== null && row.setAsideAt === null,
  );
  assertSteps(
    before.deliveries,
    after.deliveries,
    DELIVERY_STEPS,
    (row) => row.status,
    ({ id }) => after.prunedDeliveries.get(id) !== undefined,
  );
  assertSteps(
    before.tasks,
    after.tasks,
    TASK_STEPS,
    (row) => row.status,
    (row) => row.status === 'closed',
  );
  assertSteps(
    before.runs,
    after.runs,
    RUN_STATUS_STEPS,
    (row) => row.status,
    (row) => row.status !== 'active',
  );
  for (const run of before.runs.values()) {
    const now = after.runs.get(run.id);
    if (now === undefined) continue;
    if (now.status === 'committed' && run.status !== 'active') continue;
    const steps: Steps = run.handlerType === 'consumer' ? CONSUMER_PHASE_STEPS : PRODUCER_PHASE_STEPS;
    assert.ok(canReach(steps, run.phase, now.phase), `run ${run.id} went from ${run.phase} to ${now.phase}`);
    if (run.status !== 'active') assert.equal(now.phase, run.phase, `stopped run ${run.id} changed its phase`);
  }
}

function assertSteps<R extends Named>(
  before: Table<R>,
  after: Table<R>,
  steps: Steps,
  state: (row: R) => string,
  mayBeGone: (row: R) => boolean = () => false,
): void {
  for (const row of before.values()) {
    const now = after.get(row.id);
    assert.ok(now !== undefined || mayBeGone(row), `${row.id} is gone`);
    if (now === undefined) continue;
    assert.ok(canReach(steps, state(row), state(now)), `${row.id} went from ${state(row)} to ${state(now)}`);
  }
}

/** One transaction may take several steps, so reachable is enough. */
function canReach(steps: Steps, from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const state of reached) for (const next of steps[state] ?? []) reached.add(next);
  return reached.has(to);
}
