import {
  ABANDONED_MAX,
  type Event,
  FAILED_REPAIRS_MAX,
  type HandlerState,
  type Mutation,
  type Rows,
  type Run,
  type Workflow,
} from '#model';
import { timersOf } from './moves.ts';
import { deniableFrom, mayLandUntil, type State } from './state.ts';
import type { World } from './world.ts';

/**
 * A state as text; states with the same text are taken for one. Ids become places, times become their order among the moments to
 * come, and counts stop where no rule looks further. What no rule reads is left out: committed runs, ended sessions, messages,
 * the audit log. Only the length of a backoff depends on more than this, and nothing but time on that.
 */
export function keyOf(world: World, state: State): string {
  const { rows } = state;
  const home = rows.workflows.get(world.home);
  if (!home) throw new Error('a workflow is gone');
  const names = new Names(world, state, home);
  let key = workflowText(names, home);
  key += executionsText(names, rows, world);
  for (const run of names.runs) key += runText(names, run);
  key += ledgerText(names, rows, home);
  for (const event of names.events) key += eventText(names, rows, event);
  key += rows.handlerStates
    .matching((kept) => kept.workflowId === home.id)
    .map((kept) => keptText(names, kept))
    .sort()
    .join('');
  return key + restText(names, rows, home);
}

/** What stands for ids and times in the text. */
class Names {
  readonly state: State;
  readonly home: Workflow;
  readonly timers: readonly number[];
  readonly events: readonly Event[];
  /** Runs that can still matter: active, pointed at, set aside, under repair. */
  readonly runs: readonly Run[];
  /** The active run, while it may still turn out to be empty. */
  readonly mayRest: Run | undefined;
  readonly #scripts: readonly string[];
  readonly #called: ReadonlySet<string>;
  readonly #workers: readonly string[];
  readonly #runPlaces = new Map<string, number>();
  readonly #eventPlaces = new Map<string, number>();

  constructor(world: World, state: State, home: Workflow) {
    const { rows } = state;
    this.state = state;
    this.home = home;
    this.timers = timersOf(state, home.id);
    this.#scripts = rows.scripts.values().map((script) => script.id);
    this.#workers = rows.workers.values().map((worker) => worker.id);
    this.events = rows.events.matching((event) => event.workflowId === world.home);
    for (const event of this.events) this.#eventPlaces.set(event.id, this.#eventPlaces.size);
    this.runs = openRuns(rows, home);
    for (const run of this.runs) this.#runPlaces.set(run.id, this.#runPlaces.size);
    const active = this.runs.find((run) => run.status === 'active');
    this.mayRest = this.events.some((event) => event.reservedByRunId === active?.id) ? undefined : active;
    this.#called = new Set(rows.mutations.values().map((row) => row.rootRunId));
  }

  called(run: Run): boolean {
    return this.#called.has(run.rootRunId);
  }

  run(id: string | null): number | string {
    return id === null ? '-' : (this.#runPlaces.get(id) ?? '?');
  }

  event(id: string | null): number | string {
    return id === null ? '-' : (this.#eventPlaces.get(id) ?? '?');
  }

  script(id: string | null): number {
    return id === null ? -1 : this.#scripts.indexOf(id);
  }

  worker(id: string | null): number {
    return id === null ? -1 : this.#workers.indexOf(id);
  }

  /** `-` for none, `0` for a moment that has come, else its place among those to come. */
  time(at: number | null): string {
    if (at === null) return '-';
    return at <= this.state.now ? '0' : `+${this.timers.indexOf(at)}`;
  }
}

function openRuns(rows: Rows, home: Workflow): Run[] {
  const asideRoots = new Set<string>();
  for (const row of rows.mutations.values())
    if (row.workflowId === home.id && (row.setAsideAt !== null || row.resolvedBy === null))
      asideRoots.add(row.rootRunId);
  const last = new Map<string, Run>();
  const runs: Run[] = [];
  for (const run of rows.runs.values()) {
    if (run.workflowId !== home.id) continue;
    if (asideRoots.has(run.rootRunId)) last.set(run.rootRunId, run);
    else if (run.status === 'active' || run.id === home.pendingRetryRunId || run.id === home.maintenanceRunId)
      runs.push(run);
  }
  return [...last.values(), ...runs].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function workflowText(names: Names, row: Workflow): string {
  const flags = `${row.grantMissing ? 'g' : ''}${row.quiet ? 'q' : ''}`;
  const who = `${names.run(row.maintenanceRunId)},${names.run(row.pendingRetryRunId)}`;
  return `${row.status}:${row.holds.join('+')}:${flags}:${row.heldConnections.length}:${who},${names.script(row.activeScriptId)},${names.time(row.dueAt)};`;
}

function executionsText(names: Names, rows: Rows, world: World): string {
  let text = '';
  for (const row of rows.executions.values()) {
    if (row.endedAt !== null || row.workflowId !== world.home) continue;
    const cancelled = row.cancelRequestedAt === null ? '' : 'c';
    const lease = row.owner === null ? '' : names.time(rows.workers.get(row.owner)?.leaseUntil ?? null);
    text += `X${row.status}${cancelled}${names.worker(row.owner)}${lease}${names.time(row.schedulingUntil)}`;
  }
  for (const row of rows.sessions.values())
    if (row.endTimestamp === null && row.workflowId === world.home) text += `S${names.script(row.scriptId)}`;
  return text;
}

/** Of a stopped run it matters where its chain stands, not why it stopped, except while it waits for a repair. */
function runText(names: Names, run: Run): string {
  const version = names.script(run.scriptId);
  if (run.status === 'active') {
    const delivery = run.deliveryId === null ? '' : 'd';
    return `R${run.handlerName},${run.phase},${run.mutationOutcome}${delivery}${version}`;
  }
  const repair = run.id === names.home.maintenanceRunId ? run.suspects.map((id) => names.event(id)).join() : '';
  return `R${run.handlerName},${names.called(run) ? '' : run.phase},${run.mutationOutcome}${version}[${repair}]`;
}

/** Open questions one by one; of answered calls only what could still be held against a repeat. */
function ledgerText(names: Names, rows: Rows, home: Workflow): string {
  let open = '';
  const denied = new Set<string>();
  for (const row of rows.mutations.values()) {
    if (row.workflowId !== home.id) continue;
    if (row.resolvedBy === null || row.setAsideAt !== null) open += openText(names, row);
    else if (row.status === 'failed' && names.state.truth.landed.has(row.id))
      denied.add(`${row.resolvedBy}${row.eventIds.map((id) => names.event(id)).join('+')}`);
  }
  return `${open}D${[...denied].sort().join()}`;
}

const RECONCILE_COUNT_SHOWN = 2;

function openText(names: Names, row: Mutation): string {
  const { landed } = names.state.truth;
  const events = row.eventIds.map((id) => names.event(id)).join('+');
  const flags = `${row.canReconcile ? 'k' : ''}${row.approvedAt === null ? '' : 'a'}${row.setAsideAt === null ? '' : 's'}`;
  const place = names.runs.findIndex((run) => run.rootRunId === row.rootRunId);
  if (row.resolvedBy !== null) return `M${row.status},${place},${events},${flags}`;
  const told = names.state.rows.evidence
    .values()
    .some((piece) => piece.mutationId === row.id && piece.says === 'applied');
  let text = `M${row.status},${place},${events},${flags}${landed.has(row.id) ? 'L' : ''}${told ? 'e' : ''}`;
  const seen = names.state.truth.looks[row.id];
  if (seen) text += `o${seen.sawEffect ? 'L' : ''}${seen.at < deniableFrom(row) ? '<' : ''}`;
  if (row.callDeadline !== null) {
    text += names.time(deniableFrom(row));
    if (!landed.has(row.id)) text += names.time(mayLandUntil(row));
  }
  text += `${names.time(row.reconcileAt)}${names.time(row.reconcileUntil)}${Math.min(row.reconcileCount, RECONCILE_COUNT_SHOWN)}`;
  return row.approvedAt === null ? `${text}${names.time(row.approvalExpiresAt)}` : text;
}

/** Against the clock of events only two questions are asked: is it newer than a consumer's rest, and than a run's start. */
function eventText(names: Names, rows: Rows, event: Event): string {
  let text = `E${event.topic},${event.status}${names.run(event.status === 'reserved' ? event.reservedByRunId : null)}`;
  if (event.redoOf !== null) text += `o${names.event(event.redoOf)}`;
  if (event.status === 'pending') {
    if (names.mayRest) text += event.pendingSeq > names.mayRest.startSeq ? 'n' : '.';
    text += event.payload === '{}' ? '' : 'c';
    for (const kept of rows.handlerStates.values())
      if (kept.workflowId === event.workflowId && kept.restedSeq !== null)
        text += event.pendingSeq > kept.restedSeq ? 'w' : '_';
  }
  return text;
}

function keptText(names: Names, kept: HandlerState): string {
  const repairs = Math.min(kept.failedRepairs, FAILED_REPAIRS_MAX);
  const crashes = Math.min(kept.crashCount, ABANDONED_MAX);
  const counts = `${repairs}${crashes}${names.event(kept.crashEventId)}${kept.repaired ? 'r' : ''}`;
  // A backoff that has passed is none.
  const backoff = names.time(kept.backoffUntil).replace('0', '-');
  const text = `${counts}${backoff}${names.time(kept.wakeAt)}${names.time(kept.nextAt)}${kept.restedSeq === null ? '' : 'z'}`;
  return text === NOTHING_KEPT ? '' : `H${kept.handlerName},${text}`;
}

const NOTHING_KEPT = '00----';

function restText(names: Names, rows: Rows, home: Workflow): string {
  const { truth } = names.state;
  let text = truth.leftBehind ? 'TB' : 'T';
  const contradicted = [...truth.contradicted].flatMap((id) => rows.mutations.get(id)?.eventIds ?? []);
  text += [...new Set(contradicted.map((event) => `a${names.event(event)}`))].sort().join('');
  for (const task of rows.tasks.values())
    if (task.status === 'open' && task.workflowId === home.id) text += task.kind.charAt(0);
  for (const delivery of rows.deliveries.values()) text += delivery.status === 'pending' ? 'd' : 'x';
  for (const connection of rows.connections.values())
    text += `c${connection.refusedAt === null ? '' : 'r'}${Math.min(connection.version, 1)}`;
  for (const worker of rows.workers.values())
    text += `w${worker.endedAt === null ? '' : 'e'}${truth.dead.has(worker.id) ? 'D' : ''}`;
  for (const [handler, script] of Object.entries(truth.restedUnder))
    if (rows.handlerStates.get(handler)?.restedSeq != null) text += names.script(script);
  const lies = Object.keys(truth.lies).map((event) => names.event(event));
  return lies.length > 0 ? `${text}l${lies.sort().join()}` : text;
}

/** The neighbour as text: the walk goes on only where it was left alone. */
export function neighbourOf(world: World, { rows }: State): string {
  const ofIt = (row: { readonly workflowId: string }) => row.workflowId === world.neighbour;
  const { status, holds, quiet } = rows.workflows.get(world.neighbour) ?? {};
  const events = rows.events.matching(ofIt).map((event) => event.status);
  const runs = rows.runs.matching(ofIt).map((run) => `${run.phase}${run.status}`);
  const calls = rows.mutations.matching(ofIt).map((call) => `${call.status}${call.setAsideAt === null ? '' : 's'}`);
  const executions = rows.executions.matching(ofIt).map((execution) => execution.status);
  return [status, holds, quiet, events, runs, calls, executions].join();
}
