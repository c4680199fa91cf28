import {
  CONSUMER_PHASE_STEPS,
  DELIVERY_STEPS,
  Draft,
  dueAt,
  EVENT_STEPS,
  EXECUTION_STEPS,
  INVARIANTS,
  isStep,
  MUTATION_STEPS,
  type Mutation,
  PRODUCER_PHASE_STEPS,
  type Rows,
  RUN_STATUS_STEPS,
  type Run,
  TASK_STEPS,
  type Table,
  WORKFLOW_STATUS_STEPS,
} from '#model';
import type { Step } from './moves.ts';
import { mayLand, type State } from './state.ts';

/** What is wrong with a state in itself, in words. */
export function faultsOf(state: State): string[] {
  const faults: string[] = [];
  for (const invariant of INVARIANTS)
    for (const id of invariant.offenders(state.rows)) faults.push(`${id} breaks: ${invariant.says}`);
  faults.push(...brokenPromises(state), ...forgotten(state), ...silenced(state.rows), ...repeated(state.rows));
  return faults;
}

/** Per event at most one effect, unless someone said of one that happened that it had not. */
function brokenPromises({ rows, truth }: State): string[] {
  const effects = new Map<string, number>();
  for (const id of truth.landed)
    for (const event of rows.mutations.get(id)?.eventIds ?? []) effects.set(event, (effects.get(event) ?? 0) + 1);
  return [...effects]
    .filter(([event, count]) => count > 1 + (truth.lies[event] ?? 0))
    .map(([event, count]) => `event ${event} had its effect ${count} times`);
}

const NO_IDS = {
  next(): never {
    throw new Error('looking makes no ids');
  },
};

/** The scheduler must look no later than there is something to do. */
function forgotten({ rows, now }: State): string[] {
  const draft = new Draft(now, NO_IDS, null, rows);
  const faults: string[] = [];
  for (const workflow of rows.workflows.values()) {
    const due = dueAt(draft, workflow);
    if (due !== null && (workflow.dueAt === null || workflow.dueAt > Math.max(due, now)))
      faults.push(`workflow ${workflow.name} is due at ${due}, but the scheduler looks at ${workflow.dueAt}`);
  }
  return faults;
}

/** Silence after a cancel is over as soon as anyone asks for another execution. */
function silenced(rows: Rows): string[] {
  return rows.executions
    .matching((row) => row.endedAt === null && row.cancelRequestedAt === null)
    .filter((row) => rows.workflows.get(row.workflowId)?.quiet)
    .map((row) => `execution ${row.id} was asked for, and what follows from it is silenced`);
}

type Named = { readonly id: string; readonly workflowId: string };

const OPEN_QUESTIONS: readonly string[] = ['pending', 'in_flight', 'needs_reconcile', 'indeterminate'];
const BUSY: readonly string[] = ['scheduling', 'scheduled', 'running'];

/** What a store keeps unique by an index. */
function repeated({ runs, sessions, executions, mutations, events }: Rows): string[] {
  return [
    ...twice(
      'active run',
      runs.matching((row) => row.status === 'active'),
    ),
    ...twice(
      'open session',
      sessions.matching((row) => row.endTimestamp === null),
    ),
    ...twice(
      'busy execution',
      executions.matching((row) => BUSY.includes(row.status)),
    ),
    ...twice(
      'requested execution',
      executions.matching((row) => row.status === 'requested'),
    ),
    ...twice(
      'retry of a run',
      runs.matching((row) => row.retryOf !== null),
      (row) => row.retryOf ?? '',
    ),
    ...twice('call of a chain', mutations.values(), (row) => row.rootRunId),
    ...twice(
      'open question',
      mutations.matching((row) => row.setAsideAt === null && OPEN_QUESTIONS.includes(row.status)),
    ),
    ...twice('event of a message', events.values(), (row) => `${row.workflowId} ${row.topic} ${row.messageId}`),
  ];
}

function twice<R extends Named>(what: string, rows: readonly R[], key = (row: R): string => row.workflowId): string[] {
  if (rows.length < 2) return [];
  const keys = rows.map(key);
  return new Set(keys).size === keys.length ? [] : [`there is more than one ${what}: ${keys.join(', ')}`];
}

type Steps = Readonly<Record<string, readonly string[]>>;
type Row = { readonly id: string; readonly status: string };

type StatusTable = 'workflows' | 'executions' | 'events' | 'mutations' | 'deliveries' | 'tasks' | 'runs';

/** The legal steps of every status, by the table whose rows take them. */
export const STATUS_STEPS: Readonly<Record<StatusTable, Steps>> = {
  workflows: WORKFLOW_STATUS_STEPS,
  executions: EXECUTION_STEPS,
  events: EVENT_STEPS,
  mutations: MUTATION_STEPS,
  deliveries: DELIVERY_STEPS,
  tasks: TASK_STEPS,
  runs: RUN_STATUS_STEPS,
};

/** What is wrong with the way from one state to the next, in words. Adds the steps that were taken to those seen so far. */
export function wrongsOf({ before, after, command }: Step, taken: Set<string>): string[] {
  const wrongs: string[] = [];
  const [a, b] = [before.rows, after.rows];
  for (const [name, steps] of Object.entries(STATUS_STEPS) as [StatusTable, Steps][]) {
    const rows: Table<Row> = a[name];
    for (const row of rows.values()) {
      const now: Row | undefined = b[name].get(row.id);
      if (now === row) continue;
      if (now === undefined) wrongs.push(...wronglyGone(name, row.id, before.rows, after.rows, command?.do));
      else if (now.status !== row.status && !isStep(steps, row.status, now.status))
        wrongs.push(`${row.id} went from ${row.status} to ${now.status}`);
      else if (now.status !== row.status) taken.add(`${name}: ${row.status} → ${now.status}`);
    }
  }
  for (const run of a.runs.values()) wrongs.push(...wrongPhase(run, b.runs.get(run.id)));
  wrongs.push(...finalChanged(a, b), ...trespassed(a, b, command?.do), ...sentTwice(before, after), ...putToRest(a, b));
  return wrongs;
}

/** Only the past goes, and only where it is asked to; what the same message is known by stays. */
function wronglyGone(table: StatusTable, id: string, a: Rows, b: Rows, command: string | undefined): string[] {
  const isOver = {
    workflows: () => false,
    executions: () => a.executions.get(id)?.endedAt !== null,
    events: () => b.prunedEvents.get(id) !== undefined,
    mutations: () => a.mutations.get(id)?.resolvedAt !== null && a.mutations.get(id)?.setAsideAt === null,
    deliveries: () => b.prunedDeliveries.get(id) !== undefined,
    tasks: () => a.tasks.get(id)?.status === 'closed',
    runs: () => a.runs.get(id)?.status !== 'active',
  }[table];
  return command === 'pruneHistory' && isOver() ? [] : [`${id} is gone`];
}

function wrongPhase(run: Run, now: Run | undefined): string[] {
  if (!now || now.phase === run.phase) return [];
  if (run.status !== 'active')
    return now.status === 'committed' ? [] : [`stopped run ${run.id} went from ${run.phase} to ${now.phase}`];
  const steps: Steps = run.handlerType === 'consumer' ? CONSUMER_PHASE_STEPS : PRODUCER_PHASE_STEPS;
  return isStep(steps, run.phase, now.phase) ? [] : [`run ${run.id} went from ${run.phase} to ${now.phase}`];
}

/** Committed runs, consumed and skipped events, ended executions and tasks never change; an answered call only its being aside. */
function finalChanged(a: Rows, b: Rows): string[] {
  const wrongs: string[] = [];
  const check = <R extends { readonly id: string }>(
    rows: readonly R[],
    table: Table<R>,
    isFinal: (row: R) => boolean,
  ) => {
    for (const row of rows)
      if (isFinal(row) && (table.get(row.id) ?? row) !== row) wrongs.push(`${row.id} is final and changed`);
  };
  check(a.runs.values(), b.runs, (row) => row.status === 'committed');
  check(a.events.values(), b.events, (row) => row.status === 'consumed' || row.status === 'skipped');
  check(a.executions.values(), b.executions, (row) => row.endedAt !== null);
  check(a.tasks.values(), b.tasks, (row) => row.status === 'closed');
  check(a.workers.values(), b.workers, (row) => row.endedAt !== null);
  for (const row of a.mutations.values()) {
    const now = b.mutations.get(row.id);
    if (now && now !== row && row.resolvedBy !== null && !isSame(row, { ...now, setAsideAt: row.setAsideAt }))
      wrongs.push(`call ${row.id} had its answer and changed`);
  }
  return wrongs;
}

function isSame(a: Mutation, b: Mutation): boolean {
  return (Object.keys(a) as (keyof Mutation)[]).every((field) => a[field] === b[field]);
}

/** No command touches two workflows; a cured connection frees all that waited for it. */
function trespassed(a: Rows, b: Rows, command: string | undefined): string[] {
  if (command === 'cureConnection') return [];
  const touched = new Set<string>();
  for (const table of ['runs', 'events', 'mutations', 'executions', 'sessions', 'handlerStates'] as const) {
    for (const row of b[table].values()) {
      const key = 'id' in row ? row.id : `${row.workflowId} ${row.handlerName}`;
      if (a[table].get(key) !== row) touched.add(row.workflowId);
    }
  }
  for (const row of b.workflows.values()) if (a.workflows.get(row.id) !== row) touched.add(row.id);
  return touched.size > 1 ? [`${command} touched ${touched.size} workflows`] : [];
}

/** When a call goes out, no other call for one of its events has happened, and none still can. */
function sentTwice(before: State, after: State): string[] {
  const { rows, truth } = after;
  const sent = rows.mutations.matching(
    (row) => row.status === 'in_flight' && before.rows.mutations.get(row.id)?.status !== 'in_flight',
  );
  const told = sent.filter((row) =>
    [...truth.contradicted].some((id) =>
      rows.mutations.get(id)?.eventIds.some((event) => id !== row.id && row.eventIds.includes(event)),
    ),
  );
  if (told.length > 0) return told.map((row) => `${row.id} was sent again against evidence, and nobody said so`);
  const honest = sent.filter((row) => !row.eventIds.some((event) => (truth.lies[event] ?? 0) > 0));
  return honest.flatMap((row) =>
    rows.mutations
      .matching((other) => other !== row && other.eventIds.some((event) => row.eventIds.includes(event)))
      .filter((other) => truth.landed.has(other.id) || mayLand(after, other) || other.status !== 'failed')
      .map((other) => `${row.id} was sent though ${other.id} for the same event is ${other.status} and may happen`),
  );
}

/** A consumer whose run found nothing to reserve, and then stopped before its commit, has not rested: it is tried again. */
function putToRest(a: Rows, b: Rows): string[] {
  return a.runs
    .values()
    .filter((run) => run.status === 'active' && run.handlerType === 'consumer' && run.phase !== 'preparing')
    .filter((run) => isStopped(b.runs.get(run.id)) && !hasEvents(a, run))
    .filter((run) => b.handlerStates.get(`${run.workflowId} ${run.handlerName}`)?.wakeAt == null)
    .filter((run) => !wouldRunAgain(b, run))
    .map((run) => `${run.handlerName} rests though its empty run ${run.id} never committed`);
}

function isStopped(run: Run | undefined): boolean {
  return run !== undefined && run.status !== 'active' && run.status !== 'committed';
}

function hasEvents(rows: Rows, run: Run): boolean {
  return rows.events.values().some((event) => event.reservedByRunId === run.id);
}

function wouldRunAgain(rows: Rows, run: Run): boolean {
  const topics = rows.scripts
    .get(run.scriptId)
    ?.handlers.consumers.find((spec) => spec.name === run.handlerName)?.subscribe;
  const restedSeq = rows.handlerStates.get(`${run.workflowId} ${run.handlerName}`)?.restedSeq ?? -1;
  return rows.events
    .values()
    .some((event) => event.status === 'pending' && topics?.includes(event.topic) && event.pendingSeq > restedSeq);
}
