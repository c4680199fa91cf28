import { assert, type WorkflowId } from '#base';
import type { LookupName, Lookups, Mutation, Rows } from '#model';
import { INVARIANTS } from '#model';
import type { DueWorkflow, EventFilter, Reader, UnfinishedExecution } from '#store';
import { sourceOf } from './memory-store.ts';

/** What a reader says of plain rows: the listings that recovery and the scheduler page through, without SQL. */
export class MemoryReader implements Reader {
  readonly #rows: () => Rows;

  constructor(rows: () => Rows) {
    this.#rows = rows;
  }

  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
    return sourceOf(this.#rows()).fetch(name, ...by);
  }

  unfinishedExecutions({ after = '', limit }: { after?: string; limit: number }): readonly UnfinishedExecution[] {
    const active = this.#rows()
      .runs.values()
      .filter((run) => run.status === 'active');
    return byId(this.#rows().executions.values())
      .filter(({ id, status }) => id > after && (status === 'scheduled' || status === 'running'))
      .slice(0, limit)
      .map(({ id, epoch, status, owner, workflowId }) => {
        return { id, epoch, status, owner, hasActiveRun: active.some((run) => run.workflowId === workflowId) };
      });
  }

  dueWorkflows(now: number, limit: number): readonly DueWorkflow[] {
    return this.#due()
      .filter(({ dueAt }) => dueAt <= now)
      .slice(0, limit);
  }

  nextDueAt(): number | null {
    return this.#due()[0]?.dueAt ?? null;
  }

  nextWakeAt(): number | null {
    const waiting = this.#rows()
      .mutations.values()
      .map((row) =>
        row.status === 'needs_reconcile' ? row.reconcileAt : row.status === 'pending' ? row.approvalExpiresAt : null,
      );
    const times = [this.nextDueAt(), ...waiting].filter((at) => at !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  wasApproved(workflow: string, connection: string, method: string): boolean {
    return this.#rows()
      .mutations.values()
      .some(
        (row) =>
          row.workflowId === workflow &&
          row.connection === connection &&
          row.method === method &&
          row.approvedAt !== null,
      );
  }

  #due(): DueWorkflow[] {
    return this.#rows()
      .workflows.values()
      .flatMap(({ id, dueAt }) => (dueAt === null ? [] : [{ id, dueAt }]))
      .sort((a, b) => a.dueAt - b.dueAt);
  }

  dueReconciles(now: number, limit: number): readonly Mutation[] {
    return this.#mutations(limit, (row) => row.status === 'needs_reconcile' && (row.reconcileAt ?? 0) <= now);
  }

  expiredApprovals(now: number, limit: number): readonly Mutation[] {
    return this.#mutations(
      limit,
      (row) => row.status === 'pending' && row.approvedAt === null && (row.approvalExpiresAt ?? 0) <= now,
    );
  }

  #mutations(limit: number, wanted: (row: Mutation) => boolean): readonly Mutation[] {
    return byId(this.#rows().mutations.values().filter(wanted)).slice(0, limit);
  }

  expiredScheduling(now: number, limit: number) {
    return byId(this.#rows().executions.values())
      .filter((row) => row.status === 'scheduling' && (row.schedulingUntil ?? 0) <= now)
      .slice(0, limit);
  }

  maintenanceWithoutTask(limit: number) {
    const tasks = this.#rows()
      .tasks.values()
      .filter((task) => task.status === 'open' && task.kind === 'repair');
    return byId(this.#rows().workflows.values())
      .filter((workflow) => workflow.maintenance && !tasks.some((task) => task.workflowId === workflow.id))
      .slice(0, limit)
      .map((workflow) => workflow.id);
  }

  messages(limit: number) {
    return byId(this.#rows().messages.values())
      .slice(0, limit)
      .map((message) => message.id);
  }

  allowances(workflow: WorkflowId, now: number, limit: number) {
    return this.#rows()
      .allowances.matching((each) => each.workflowId === workflow && each.until > now)
      .sort((a, b) => a.until - b.until)
      .slice(0, limit);
  }

  dueNotices(now: number, limit: number) {
    return this.#dueNotices()
      .filter((notice) => notice.dueAt <= now)
      .slice(0, limit);
  }

  nextNoticeAt() {
    return this.#dueNotices()[0]?.dueAt ?? null;
  }

  #dueNotices() {
    const due = this.#rows().notices.matching((notice) => notice.status === 'due');
    return due.sort((a, b) => a.dueAt - b.dueAt);
  }

  orphanedReservedEvents(limit: number) {
    const rule = INVARIANTS.find((invariant) => invariant.name === 'reserved events have an owner');
    assert(rule, 'the invariant about reserved events has another name');
    const orphans = new Set(rule.offenders(this.#rows()));
    return byId(
      this.#rows()
        .events.values()
        .filter((event) => orphans.has(event.id)),
    ).slice(0, limit);
  }

  listEvents(workflow: string, { status, topic, after = '' as never, limit }: EventFilter) {
    return byId(this.#rows().events.values())
      .filter((event) => event.workflowId === workflow && event.id > after)
      .filter((event) => (status ?? event.status) === event.status && (topic ?? event.topic) === event.topic)
      .slice(0, limit);
  }

  scriptCode(): undefined {
    return undefined;
  }

  offenders(): never {
    throw new Error('plain rows do not speak SQL');
  }

  table(): never {
    throw new Error('plain rows are read as they are');
  }

  close(): void {
    // There is nothing to let go of.
  }
}

function byId<R extends { readonly id: string }>(rows: readonly R[]): R[] {
  return [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
}
