import {
  CONSUMER_PHASE_STEPS,
  DELIVERY_STEPS,
  EVENT_STEPS,
  EXECUTION_STEPS,
  MUTATION_STEPS,
  PRODUCER_PHASE_STEPS,
  type Rows,
  RUN_STATUS_STEPS,
  type Run,
  TASK_STEPS,
  type Table,
  WORKFLOW_STATUS_STEPS,
} from '#model';

type Steps = Readonly<Record<string, readonly string[]>>;
type Named = { readonly id: string; readonly status: string };

/** What went from one state to another along no table, or is gone. A row that is the same object has not changed. */
export function illegalSteps(before: Rows, after: Rows): string[] {
  const problems: string[] = [];
  compare(before.workflows, after.workflows, WORKFLOW_STATUS_STEPS, problems);
  compare(before.executions, after.executions, EXECUTION_STEPS, problems);
  compare(before.events, after.events, EVENT_STEPS, problems);
  compare(before.mutations, after.mutations, MUTATION_STEPS, problems);
  compare(before.deliveries, after.deliveries, DELIVERY_STEPS, problems);
  compare(before.tasks, after.tasks, TASK_STEPS, problems);
  compare(before.runs, after.runs, RUN_STATUS_STEPS, problems);
  for (const run of before.runs.values()) {
    const now = after.runs.get(run.id);
    if (now && now !== run) problems.push(...illegalPhase(run, now));
  }
  return problems;
}

function illegalPhase(run: Run, now: Run): string[] {
  if (now.phase === run.phase || (now.status === 'committed' && run.status !== 'active')) return [];
  if (run.status !== 'active') return [`stopped run ${run.id} changed its phase`];
  const steps: Steps = run.handlerType === 'consumer' ? CONSUMER_PHASE_STEPS : PRODUCER_PHASE_STEPS;
  return canReach(steps, run.phase, now.phase) ? [] : [`run ${run.id} went from ${run.phase} to ${now.phase}`];
}

function compare<R extends Named>(before: Table<R>, after: Table<R>, steps: Steps, problems: string[]): void {
  for (const row of before.values()) {
    const now = after.get(row.id);
    if (now === row) continue;
    if (!now) problems.push(`${row.id} is gone`);
    else if (!canReach(steps, row.status, now.status))
      problems.push(`${row.id} went from ${row.status} to ${now.status}`);
  }
}

/** One transaction may take several steps, so reachable is enough. */
function canReach(steps: Steps, from: string, to: string): boolean {
  if (from === to) return true;
  const reached = new Set([from]);
  for (const state of reached) for (const next of steps[state] ?? []) reached.add(next);
  return reached.has(to);
}
