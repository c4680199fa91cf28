import type { MutationId, WorkerId } from '#base';
import type { Mutation, Rows, Write } from '#model';
import { THE_CALL } from './coverage.ts';
import type { Place } from './history.ts';
import { doubles } from './indexes.ts';
import { illegalSteps } from './legal-steps.ts';
import type { Call } from './outside.ts';
import { type Decided, usurpations } from './ownership.ts';
import { unasked } from './people.ts';
import { Removed, wronglyGone } from './removed.ts';
import type { Stage } from './stage.ts';
import { verdict } from './verdict.ts';

/** Where the work of the process stands, for the table of faults. */
export const PHASES = ['recovering', 'no run', 'executing', 'preparing', 'mutating', 'emitting'] as const;
export type PhaseOfWork = (typeof PHASES)[number];

/** Looks at everything and believes nobody: the rows after every commit, every call as it goes out, and the end. */
export class Judge {
  readonly #stage: Stage;
  #seen: Rows | undefined;
  #names: string[] = [];
  #writes: Write[] = [];
  #units: Decided[] = [];
  readonly #sent = new Set<MutationId>();
  readonly #removed = new Removed();
  /** The rows before the transaction under way, if it removes some. */
  #beforeRemoval: Rows | undefined;
  /** By handler: what the last commit that gave a state gave. */
  readonly #states = new Map<string, string>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get phase(): PhaseOfWork {
    const { life } = this.#stage;
    if (!life.app || !life.opened) return 'recovering';
    for (const id of this.#stage.workflows) {
      const [run] = life.opened.reader.fetch('activeRun', id);
      if (run) return PHASES.find((phase) => phase === run.phase) ?? 'mutating';
    }
    return 'no run';
  }

  /** The commands of the transaction under way, or of the last one. */
  get names(): readonly string[] {
    return this.#names;
  }

  get writes(): readonly Write[] {
    return this.#writes;
  }

  /** A transaction begins. */
  begins(): void {
    this.#names = [];
    this.#writes = [];
    this.#units = [];
    this.#beforeRemoval = undefined;
  }

  decided(names: readonly string[], writes: readonly Write[]): void {
    if (writes.length === 0) return;
    if (writes.some(({ set }) => set.endsWith('.removed'))) this.#beforeRemoval = this.#stage.life.opened?.rows();
    this.#names.push(...names);
    this.#writes.push(...writes);
    this.#units.push({ names, writes });
  }

  /** It is durable. */
  committed(): void {
    const { opened } = this.#stage.life;
    if (!opened) return;
    for (const name of this.#names) this.#stage.coverage.transition(name);
    const offences = opened.offences();
    if (offences.length > 0) this.#stage.fail(`${this.#names.join(' + ')}: ${offences.join('; ')}`);
    if (this.#beforeRemoval) this.#judgeRemoval(this.#beforeRemoval, opened.rows());
    // Where looking at every row takes long they are compared at the end, with those of a history that looked.
    if (opened.isQuick) this.#compare(opened.rows());
  }

  #judgeRemoval(before: Rows, after: Rows): void {
    for (const problem of wronglyGone(before, after)) this.#stage.fail(problem);
    this.#removed.keep(before, after);
  }

  /** These rows, with all that was removed. */
  allOf(rows: Rows): Rows {
    return this.#removed.and(rows);
  }

  /** Whatever became of the rows became of it along the tables of states. */
  #compare(rows: Rows): void {
    const before = this.#seen;
    this.#seen = rows;
    if (!before) return;
    const problems = [
      ...illegalSteps(before, this.#beforeRemoval ? this.allOf(rows) : rows),
      ...doubles(rows, this.#writes),
      ...this.#usurpations(before, rows),
      // Of several in one commit it is not known what each found.
      ...(this.#units.length === 1 ? this.#units.flatMap((unit) => unasked(unit, before, rows)) : []),
    ];
    for (const problem of problems) this.#stage.fail(`${this.#names.join(' + ')}: ${problem}`);
    for (const write of this.#writes) {
      if (write.set === 'mutation.sent') this.#mayCall(rows.mutations.get(write.mutation), before, rows);
      if (write.set === 'mutation.recorded' && write.row.status === 'in_flight') this.#mayCall(write.row, before, rows);
      if (write.set === 'run.committed' && write.outputState !== null) {
        const run = rows.runs.get(write.run);
        if (run) this.#states.set(`${run.workflowId} ${run.handlerName}`, write.outputState);
      }
    }
  }

  #usurpations(before: Rows, after: Rows): string[] {
    const { history, life, loop } = this.#stage;
    const { fleet } = history.world;
    if (!fleet) return [];
    const undisturbedMs = (worker: WorkerId) =>
      this.#stage.crew.find(({ app }) => app?.engine.self === worker)?.undisturbedMs ?? 0;
    const by = life.app?.engine.self;
    const moment = { before, after, by, now: loop.now(), hasTimeout: fleet.hasTimeout, undisturbedMs };
    return this.#units.flatMap((unit) => usurpations(unit, moment));
  }

  /** No call is begun while anything stands in its way: a hold, a repair, or somebody who asked that it end. */
  #mayCall(mutation: Mutation | undefined, before: Rows, rows: Rows): void {
    const workflow = mutation && before.workflows.get(mutation.workflowId);
    if (!workflow) return;
    const [active] = rows.runs.matching((run) => run.rootRunId === mutation.rootRunId && run.status === 'active');
    const session = active && rows.sessions.get(active.scriptRunId);
    const isCancelled = session && before.executions.get(session.executionId)?.cancelRequestedAt != null;
    if (workflow.holds.length === 0 && !workflow.maintenance && !isCancelled) return;
    const why = isCancelled ? 'it was cancelled' : `${workflow.name} is held: ${workflow.holds.join()}`;
    this.#stage.fail(`call ${mutation.id} is to go out although ${why}`);
  }

  /** Which recorded call these bytes are of. They must be of one, and of one that nobody sent before. */
  sends({ key, events }: Pick<Call, 'key' | 'events'>): MutationId | undefined {
    const { opened } = this.#stage.life;
    const params = JSON.stringify({ events });
    const row = this.#stage.workflows
      .flatMap((id) => opened?.reader.fetch('openLedger', id) ?? [])
      .find((one) => this.#isUnderWay(one) && one.idempotencyKey === key && one.params === params);
    if (!row) this.#stage.fail(`a call for ${events.join(', ')} goes out, and no ledger row says so`);
    else if (this.#sent.has(row.id)) this.#stage.fail(`call ${row.id} goes out a second time`);
    else this.#sent.add(row.id);
    if (row && !this.#isAllowed(row)) this.#stage.fail(`call ${row.id} goes out, and nobody was asked for it`);
    return row?.id;
  }

  /** Where somebody took over from one that lives, what that one had recorded goes out until its time is over, and not after it. */
  #isUnderWay({ status, callDeadline }: Mutation): boolean {
    if (status === 'in_flight') return true;
    const isTakenOver = this.#stage.isFleet && (status === 'needs_reconcile' || status === 'indeterminate');
    return isTakenOver && (callDeadline ?? 0) > this.#stage.loop.now();
  }

  /** What the connection asks for, against what people said outside; whatever the row says of it. */
  #isAllowed({ id, workflowId, method }: Mutation): boolean {
    const { approvals } = this.#stage.outside;
    const { approval } = this.#stage.history.world;
    const isFirst = () => {
      const rows = this.#stage.life.opened?.rows();
      const calls = rows ? this.allOf(rows).mutations.values() : [];
      return !calls.some((row) => row.workflowId === workflowId && row.method === method && approvals.has(row.id));
    };
    return approval === 'never' || approvals.has(id) || (approval === 'first' && !isFirst());
  }

  died(place: Place, life: number): void {
    const { coverage } = this.#stage;
    if (place === 'before-commit') for (const name of this.#names) coverage.death(name, 'before', life);
    if (place === 'after-commit') for (const name of this.#names) coverage.death(name, 'after', life);
    if (place === 'before the call') coverage.death(THE_CALL, 'before', life);
    if (place === 'after the call') coverage.death(THE_CALL, 'after', life);
    this.#forget();
  }

  /** The engine gave up: what it last meant to write may be there or not. */
  ended(): void {
    this.#forget();
  }

  /** Those who live on have the same rows as before. */
  #forget(): void {
    if (!this.#stage.isFleet) this.#seen = undefined;
  }

  /** The promise, when all is done. */
  end(): void {
    const rows = this.#stage.life.opened?.rows();
    if (!rows) return this.#stage.fail('nobody is alive at the end');
    for (const problem of verdict(this.allOf(rows), this.#stage.outside)) this.#stage.fail(problem);
    this.#judgeStates(rows);
  }

  #judgeStates(rows: Rows): void {
    for (const { workflowId, handlerName, state } of rows.handlerStates.values()) {
      const expected = this.#states.get(`${workflowId} ${handlerName}`);
      if (expected !== undefined && state !== expected)
        this.#stage.fail(`the state of ${handlerName} is ${state}, and its last run gave ${expected}`);
    }
  }
}
