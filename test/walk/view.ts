import type { WorkerId } from '#base';
import type { Event, Execution, Fence, Mutation, Rows, Run, Script, Session, Worker, Workflow } from '#model';
import type { State } from './state.ts';
import type { World } from './world.ts';

/** What a generator of moves looks at: the rows of home and of the neighbour, found once for a state. */
export interface View {
  readonly state: State;
  readonly world: World;
  readonly rows: Rows;
  readonly now: number;
  /** Rises from state to state: rotates through wrong arguments, so that not each of them costs in every state. */
  readonly ordinal: number;
  readonly home: Workflow;
  readonly neighbour: Workflow;
  readonly script: Script;
  readonly scripts: readonly Script[];
  readonly runs: readonly Run[];
  readonly active: Run | undefined;
  readonly mutations: readonly Mutation[];
  /** Those whose answer is open or that are set aside, and in turn one of the others. */
  readonly calls: readonly Mutation[];
  /** The last few runs, and in turn one of the others. */
  readonly lastRuns: readonly Run[];
  /** Of the active run's chain. */
  readonly ledger: Mutation | undefined;
  readonly events: readonly Event[];
  readonly pending: readonly Event[];
  readonly executions: readonly Execution[];
  readonly session: Session | undefined;
  /** Of the running execution, if its owner is alive to use it. */
  readonly fence: Fence | undefined;
  /** A fence that must be refused: an old epoch, another owner, another workflow, one that never was. */
  readonly wrongFence: Fence;
  /** Workers of home, dead ones too. */
  readonly workers: readonly Worker[];
  readonly living: readonly WorkerId[];
  readonly foreign: { readonly run: Run; readonly mutation: Mutation; readonly event: Event; readonly fence: Fence };
}

const RUNS_ALWAYS = 2;

function withOneOf<R>(rows: readonly R[], always: (row: R) => boolean, ordinal: number): R[] {
  const chosen = rows.filter(always);
  const others = rows.filter((row) => !always(row));
  const one = others[ordinal % others.length];
  return one === undefined ? chosen : [...chosen, one];
}

const NOBODY = 'wrk_nobody' as WorkerId;

export function look(world: World, state: State, ordinal: number): View {
  const { rows, now, truth } = state;
  const home = found(rows.workflows.get(world.home));
  const neighbour = found(rows.workflows.get(world.neighbour));
  const executions = rows.executions.matching((row) => row.workflowId === home.id);
  const runs = rows.runs.matching((row) => row.workflowId === home.id);
  const mutations = rows.mutations.matching((row) => row.workflowId === home.id);
  const events = rows.events.matching((row) => row.workflowId === home.id);
  const active = runs.find((run) => run.status === 'active');
  const running = executions.find((row) => row.status === 'running');
  const workers = rows.workers.matching((row) => row.name !== 'neighbour');
  const foreign = lookNextDoor(rows, neighbour);
  return {
    state,
    world,
    rows,
    now,
    ordinal,
    home,
    neighbour,
    script: found(rows.scripts.get(found(home.activeScriptId))),
    scripts: rows.scripts.values(),
    runs,
    active,
    mutations,
    calls: withOneOf(mutations, (row) => row.resolvedBy === null || row.setAsideAt !== null, ordinal),
    lastRuns: withOneOf(runs, (run) => runs.indexOf(run) >= runs.length - RUNS_ALWAYS, ordinal),
    ledger: active && mutations.find((row) => row.rootRunId === active.rootRunId),
    events,
    pending: events.filter((event) => event.status === 'pending'),
    executions,
    session: rows.sessions.values().find((row) => row.workflowId === home.id && row.endTimestamp === null),
    fence: running?.owner && !truth.dead.has(running.owner) ? fenceOf(running, running.owner) : undefined,
    wrongFence: wrongFence(executions, workers, foreign.fence, ordinal),
    workers,
    living: workers.filter((row) => row.endedAt === null && !truth.dead.has(row.id)).map((row) => row.id),
    foreign,
  };
}

function lookNextDoor(rows: Rows, neighbour: Workflow): View['foreign'] {
  const ofNeighbour = (row: { readonly workflowId: string }) => row.workflowId === neighbour.id;
  const running = found(rows.executions.values().findLast((row) => ofNeighbour(row)));
  return {
    run: found(rows.runs.values().findLast(ofNeighbour)),
    mutation: found(rows.mutations.values().find(ofNeighbour)),
    event: found(rows.events.values().findLast(ofNeighbour)),
    fence: fenceOf(running, running.owner ?? NOBODY),
  };
}

function fenceOf({ id, epoch }: Execution, owner: WorkerId): Fence {
  return { execution: id, epoch, owner };
}

function wrongFence(
  executions: readonly Execution[],
  workers: readonly Worker[],
  foreign: Fence,
  ordinal: number,
): Fence {
  const wrong: Fence[] = [foreign, { ...foreign, execution: 'exe_none' as Fence['execution'] }];
  for (const row of executions.slice(-2)) {
    const owner = row.owner ?? NOBODY;
    const other = workers.find((worker) => worker.id !== owner)?.id ?? NOBODY;
    // The fence an owner still holds after it was reaped: the epoch has gone on.
    if (row.endedAt !== null) wrong.push(fenceOf(row, owner));
    wrong.push({ ...fenceOf(row, owner), epoch: row.epoch - 1 }, { ...fenceOf(row, owner), epoch: row.epoch + 1 });
    wrong.push(fenceOf(row, other));
  }
  return found(wrong[ordinal % wrong.length]);
}

function found<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('the world lacks what every world has');
  return value;
}
