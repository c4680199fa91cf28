import type { DeliveryId, EventId, ExecutionId, InputId, MutationId, RunId, SessionId } from '#base';
import type { Pruned } from '../command-of-history.ts';
import type { Draft } from '../draft.ts';
import type { Delivery, Event, Mutation, Run, Session, Workflow } from '../rows.ts';
import { boundaryOf } from './boundary.ts';
import { lastRunRow } from './find.ts';

/**
 * What goes in one transaction. A chain goes whole, with its call and the events it took; and only if nothing that stays refers
 * to any of it: what a person can still look at leads back to where it came from, and what may still happen finds all it needs.
 */
export class Sweep {
  readonly #draft: Draft;
  readonly #workflow: Workflow;
  readonly #before: number;
  readonly #runs = new Map<RunId, Run>();
  readonly #events = new Set<EventId>();
  readonly #mutations = new Map<MutationId, Mutation>();
  readonly #deliveries = new Set<DeliveryId>();
  readonly #sessions = new Set<SessionId>();
  readonly #executions = new Set<ExecutionId>();
  readonly #inputs = new Set<InputId>();

  constructor(draft: Draft, workflow: Workflow, before: number) {
    this.#draft = draft;
    this.#workflow = workflow;
    this.#before = before;
  }

  /** By its first run. */
  chain(root: RunId): void {
    const runs = this.#draft.find('chain', this.#workflow.id, root);
    if (runs.length === 0 || runs.some((run) => !this.#isOver(run) || this.#isNamed(run.id))) return;
    const call = this.#draft.one('ledger', root);
    if (call !== undefined && !this.#isSettled(call)) return;
    const taken = runs.flatMap((run) => this.#draft.find('takenBy', this.#workflow.id, run.id));
    const last = lastRunRow(this.#draft, root);
    const isOpen = last.status !== 'committed' && boundaryOf(last, call, taken.length) !== 'before';
    if (isOpen || taken.some((event) => !this.#mayGo(event, root))) return;
    const published = runs.flatMap((run) => this.#draft.find('publishedBy', this.#workflow.id, run.id));
    if (published.some(({ id }) => !this.#events.has(id))) return;
    const deliveries = this.#deliveriesOf(runs);
    if (deliveries === 'needed') return;
    for (const run of runs) this.#runs.set(run.id, run);
    for (const { id } of taken) this.#events.add(id);
    for (const { id } of deliveries) this.#deliveries.add(id);
    if (call !== undefined) this.#mutations.set(call.id, call);
  }

  /** One that no run ever took: a person skipped it. */
  event(id: EventId): void {
    const event = this.#draft.one('event', id);
    if (event?.workflowId !== this.#workflow.id || event.reservedByRunId !== null) return;
    if (event.createdAt <= this.#before && this.#mayGo(event, null)) this.#events.add(id);
  }

  /** With its execution, once no run of it is left. */
  session(id: SessionId): void {
    const session = this.#draft.one('session', id);
    if (session?.workflowId === this.#workflow.id) this.#endSession(session);
  }

  execution(id: ExecutionId): void {
    const execution = this.#draft.one('execution', id);
    if (execution?.workflowId !== this.#workflow.id || !this.#isPast(execution.endedAt)) return;
    const sessions = this.#draft.find('sessionsOf', this.#workflow.id, id);
    const isDone = sessions.every((session) => this.#sessions.has(session.id));
    if (isDone && this.#draft.find('messagesOf', this.#workflow.id, id).length === 0) this.#executions.add(id);
  }

  input(id: InputId): void {
    const [input] = this.#draft.find('inputNamed', this.#workflow.id, id);
    if (input?.workflowId !== this.#workflow.id || input.createdAt > this.#before) return;
    const caused = this.#draft.find('causedBy', this.#workflow.id, id);
    if (caused.every(({ eventId }) => this.#events.has(eventId))) this.#inputs.add(id);
  }

  /** Writes all of it, each row before those it refers to. */
  end(): Pruned {
    for (const event of this.#events) {
      for (const { inputId } of this.#draft.find('inputsOf', event)) this.input(inputId);
    }
    for (const id of new Set([...this.#runs.values()].map((run) => run.scriptRunId))) this.session(id);
    const uncounted = this.#uncounted();
    this.#write(uncounted);
    return {
      runs: this.#runs.size,
      events: this.#events.size,
      mutations: this.#mutations.size,
      deliveries: this.#deliveries.size,
      sessions: this.#sessions.size,
      executions: this.#executions.size,
      inputs: this.#inputs.size,
    };
  }

  #isPast(at: number | null): boolean {
    return at !== null && at <= this.#before;
  }

  #isOver(run: Run): boolean {
    return run.workflowId === this.#workflow.id && this.#isPast(run.endTimestamp);
  }

  /** The workflow itself, or a case that is open, speaks of this run. */
  #isNamed(run: RunId): boolean {
    const { id, pendingRetryRunId, maintenanceRunId } = this.#workflow;
    if (run === pendingRetryRunId || run === maintenanceRunId) return true;
    return this.#draft.find('openTasks', id).some((task) => task.runId === run);
  }

  /**
   * Answered, and counted by nothing any more: as long as one of its events could be taken again the key of the next call counts
   * this one's refusal, and as long as an approval covers further calls this one is among those it covered.
   */
  #isSettled(call: Mutation): boolean {
    if (!this.#isPast(call.resolvedAt) || call.setAsideAt !== null) return false;
    if (call.eventIds.some((id) => !isHandled(this.#draft.one('event', id)))) return false;
    const allowances = this.#draft.find('allowancesOf', this.#workflow.id);
    return !allowances.some(
      ({ connection, method, givenAt, until }) =>
        connection === call.connection &&
        method === call.method &&
        givenAt <= call.createdAt &&
        until > this.#draft.now,
    );
  }

  #mayGo(event: Event, root: RunId | null): boolean {
    if (!isHandled(event) || this.#isWatched(event.id)) return false;
    const calls = this.#draft.find('ledgerOfEvent', event.id);
    if (calls.some((call) => call.rootRunId !== root && !this.#mutations.has(call.id))) return false;
    return this.#draft.find('redosOf', this.#workflow.id, event.id).every(({ id }) => this.#events.has(id));
  }

  /** A count of crashes is about it, or the repair that is under way. */
  #isWatched(event: EventId): boolean {
    const { id, maintenanceRunId } = this.#workflow;
    if (this.#draft.find('handlerStates', id).some((state) => state.crashEventId === event)) return true;
    return maintenanceRunId !== null && this.#draft.one('run', maintenanceRunId)?.suspects.includes(event) === true;
  }

  /** Those that these runs finished; `needed` while an earlier try of one of them is still here. */
  #deliveriesOf(runs: readonly Run[]): readonly Delivery[] | 'needed' {
    const ids = runs.map((run) => run.id);
    const finished = runs.flatMap((run) => {
      const delivery = run.deliveryId === null ? undefined : this.#draft.one('delivery', run.deliveryId);
      return delivery?.runId === run.id ? [delivery] : [];
    });
    const isNeeded = finished.some(({ id }) =>
      this.#draft
        .find('runsOfDelivery', this.#workflow.id, id)
        .some((run) => !ids.includes(run.id) && !this.#runs.has(run.id)),
    );
    return isNeeded ? 'needed' : finished;
  }

  #endSession(session: Session): void {
    if (!this.#isPast(session.endTimestamp)) return;
    const runs = this.#draft.find('runsOfSession', this.#workflow.id, session.id);
    if (runs.some((run) => !this.#runs.has(run.id))) return;
    this.#sessions.add(session.id);
    this.execution(session.executionId);
  }

  /** Sessions that stay count only what stays of them. */
  #uncounted(): ReadonlyMap<SessionId, number> {
    const counts = new Map<SessionId, number>();
    for (const { scriptRunId, status } of this.#runs.values()) {
      if (status !== 'committed' || this.#sessions.has(scriptRunId)) continue;
      counts.set(scriptRunId, (counts.get(scriptRunId) ?? 0) + 1);
    }
    return counts;
  }

  #write(uncounted: ReadonlyMap<SessionId, number>): void {
    const draft = this.#draft;
    const [runs, mutations, events] = [[...this.#runs.keys()], [...this.#mutations.keys()], [...this.#events]];
    const [deliveries, sessions, executions] = [[...this.#deliveries], [...this.#sessions], [...this.#executions]];
    this.#keepApprovals();
    if (mutations.length > 0) {
      draft.write({ set: 'evidence.removed', mutations });
      draft.write({ set: 'mutations.removed', mutations });
    }
    if (events.length > 0) {
      draft.write({ set: 'events.remembered', events });
      draft.write({ set: 'causes.removed', events });
      draft.write({ set: 'events.removed', events });
    }
    if (deliveries.length > 0) {
      const called = [...this.#runs.values()].filter(
        ({ deliveryId }) => deliveryId && this.#deliveries.has(deliveryId),
      );
      draft.write({ set: 'runs.undelivered', runs: called.map((run) => run.id) });
      draft.write({ set: 'deliveries.remembered', deliveries });
      draft.write({ set: 'deliveries.removed', deliveries });
    }
    if (runs.length > 0) {
      draft.write({ set: 'logs.removed', runs });
      draft.write({ set: 'reads.removed', runs });
      draft.write({ set: 'tasks.removed', runs });
      draft.write({ set: 'runs.removed', runs });
    }
    for (const [session, count] of uncounted) draft.write({ set: 'session.uncounted', session, count });
    if (sessions.length > 0) draft.write({ set: 'sessions.removed', sessions });
    if (executions.length > 0) {
      draft.write({ set: 'enforcements.removed', executions });
      draft.write({ set: 'executions.removed', executions });
    }
    if (this.#inputs.size > 0) draft.write({ set: 'inputs.removed', inputs: [...this.#inputs] });
  }

  /** A method that a person approved once stays approved. */
  #keepApprovals(): void {
    const workflowId = this.#workflow.id;
    for (const { connection, method, approvedAt, approvedBy } of this.#mutations.values()) {
      if (approvedAt === null || approvedBy === null) continue;
      this.#draft.write({ set: 'approval.kept', row: { workflowId, connection, method, approvedAt, approvedBy } });
    }
  }
}

/** Gone already, or never to be taken again. */
function isHandled(event: Event | undefined): boolean {
  return event === undefined || event.status === 'consumed' || event.status === 'skipped';
}
