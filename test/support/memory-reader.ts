import { assert, type ScriptId, type WorkflowId } from '#base';
import type { Invariant, LookupName, Lookups, Message, Mutation, Rows } from '#model';
import { INVARIANTS, MESSAGE_VERSION } from '#model';
import type { AgedKind, AgedPage, AgedRow, DueWorkflow, EventFilter, Reader, UnfinishedExecution } from '#store';
import { sourceOf } from './memory-store.ts';

/** The text of each version, which is no part of its row. */
export type Codes = Map<ScriptId, { readonly code: string; readonly manifest: string }>;

/** What a reader says of plain rows: the listings that recovery and the scheduler page through, without SQL. */
export class MemoryReader implements Reader {
  readonly #rows: () => Rows;
  readonly #codes: Codes;

  constructor(rows: () => Rows, codes: Codes = new Map()) {
    this.#rows = rows;
    this.#codes = codes;
  }

  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
    return sourceOf(this.#rows()).fetch(name, ...by);
  }

  unfinishedExecutions({ after = '', limit }: { after?: string; limit: number }): readonly UnfinishedExecution[] {
    const { executions, runs } = this.#rows();
    const last = executions.get(after)?.workflowId ?? '';
    return executions
      .matching((row) => row.workflowId > last && (row.status === 'scheduled' || row.status === 'running'))
      .sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1))
      .slice(0, limit)
      .map(({ id, epoch, status, owner, workflowId }) => {
        const active = runs.matching((run) => run.status === 'active' && run.workflowId === workflowId);
        return { id, epoch, status, owner, hasActiveRun: active.length > 0 };
      });
  }

  dueWorkflows(now: number, limit: number): readonly DueWorkflow[] {
    return this.#due()
      .filter(({ dueAt }) => dueAt <= now)
      .slice(0, limit);
  }

  slotsTaken(limit: string): number {
    return this.#rows().slots.matching(({ limitName }) => limitName === limit).length;
  }

  slotWaiters(limit: string, max: number) {
    const { executions, workflows } = this.#rows();
    return byId(executions.values())
      .filter(({ waitsFor, status }) => waitsFor === limit && status === 'requested')
      .filter(({ workflowId }) => (workflows.get(workflowId)?.dueAt ?? null) !== null)
      .slice(0, max)
      .map(({ workflowId: workflow, requestedAt: since }) => ({ workflow, since }));
  }

  nextDueAt(): number | null {
    return this.#due()[0]?.dueAt ?? null;
  }

  nextWakeAt(): number | null {
    const waiting = this.#rows()
      .mutations.values()
      .map((row) => (row.status === 'needs_reconcile' ? (row.reconcileUntil ?? row.reconcileAt) : expiryOf(row)));
    const times = [this.nextDueAt(), ...waiting].filter((at) => at !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  messageRows(limit: number): readonly Message[] {
    return this.#rows()
      .messages.values()
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  workflowRows(): never {
    throw new Error('rows in memory have no columns to export');
  }

  aged(kind: AgedKind, { before, below, limit }: AgedPage): readonly AgedRow[] {
    const rows = this.#rows();
    const isPast = (at: number | null) => at !== null && at <= before;
    const found: readonly { readonly id: string; readonly workflowId: WorkflowId }[] = {
      run: () => rows.runs.matching((run) => run.rootRunId === run.id && isPast(run.endTimestamp)),
      event: () => rows.events.matching((event) => event.status === 'skipped' && event.reservedByRunId === null),
      session: () =>
        rows.sessions.matching(
          ({ id, endTimestamp }) =>
            isPast(endTimestamp) && rows.runs.matching((run) => run.scriptRunId === id).length === 0,
        ),
      execution: () =>
        rows.executions.matching(
          ({ id, endedAt }) =>
            isPast(endedAt) && rows.sessions.matching((session) => session.executionId === id).length === 0,
        ),
      input: () =>
        rows.inputs.matching(({ id }) => rows.eventInputs.matching((cause) => cause.inputId === id).length === 0),
    }[kind]();
    return found
      .filter(({ id }) => id < below)
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit)
      .map(({ id, workflowId }) => ({ id, workflow: workflowId }));
  }

  wasApproved(workflow: string, connection: string, method: string): boolean {
    const { mutations, keptApprovals } = this.#rows();
    return [...mutations.values(), ...keptApprovals.values()].some(
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
      .sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
  }

  dueReconciles(now: number, limit: number): readonly Mutation[] {
    return byId(this.#rows().mutations.values())
      .filter((row) => row.status === 'needs_reconcile')
      .filter((row) => (row.reconcileAt ?? 0) <= now && (row.reconcileUntil ?? 0) <= now)
      .sort((a, b) => (a.reconcileAt ?? 0) - (b.reconcileAt ?? 0))
      .slice(0, limit);
  }

  expiredApprovals(now: number, limit: number): readonly Mutation[] {
    return byId(this.#rows().mutations.values())
      .filter((row) => (expiryOf(row) ?? Number.POSITIVE_INFINITY) <= now)
      .sort((a, b) => (expiryOf(a) ?? 0) - (expiryOf(b) ?? 0))
      .slice(0, limit);
  }

  expiredScheduling(now: number, limit: number) {
    return byId(this.#rows().executions.values())
      .filter((row) => row.status === 'scheduling' && (row.schedulingUntil ?? 0) <= now)
      .slice(0, limit);
  }

  unendedWorkers() {
    return this.#rows()
      .workers.values()
      .filter(({ endedAt }) => endedAt === null);
  }

  maintenanceWithoutTask(limit: number) {
    const tasks = this.#rows()
      .tasks.values()
      .filter((task) => task.status === 'open' && task.kind === 'repair');
    return byId(this.#rows().workflows.values())
      .filter(
        ({ maintenanceRunId }) => maintenanceRunId !== null && !tasks.some(({ runId }) => runId === maintenanceRunId),
      )
      .slice(0, limit)
      .map((workflow) => workflow.id);
  }

  messages(limit: number) {
    return byId(this.#rows().messages.values())
      .filter((message) => message.version === MESSAGE_VERSION && !this.#isToBeTaken(message))
      .slice(0, limit)
      .map((message) => message.id);
  }

  handOffs(limit: number) {
    return byId(this.#rows().messages.values())
      .filter((message) => message.version === MESSAGE_VERSION && this.#isToBeTaken(message))
      .slice(0, limit)
      .map(({ id, executionId, workflowId, epoch }) => ({
        message: id,
        execution: executionId,
        workflow: workflowId,
        epoch,
        script: this.#rows().workflows.get(workflowId)?.activeScriptId ?? null,
      }));
  }

  strangeMessages(limit: number) {
    return byId(this.#rows().messages.values())
      .filter(({ version }) => version !== MESSAGE_VERSION)
      .slice(0, limit)
      .map(({ id }) => id);
  }

  #isToBeTaken({ type, executionId, epoch }: Message): boolean {
    const execution = this.#rows().executions.get(executionId);
    return type === 'execution.scheduled' && execution?.status === 'scheduled' && execution.epoch === epoch;
  }

  countCalls(workflow: WorkflowId, connection: string, method: string, since: number, max: number) {
    const calls = this.#rows().mutations.matching(
      (call) => call.workflowId === workflow && call.connection === connection && call.method === method,
    );
    return Math.min(max, calls.filter((call) => call.createdAt >= since && call.callDeadline !== null).length);
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

  scriptCode(script: ScriptId) {
    return this.#codes.get(script);
  }

  /** Plain rows do not speak SQL, but of each invariant it is known what its SQL asks. */
  offenders(sql: string) {
    const invariant = INVARIANTS.find((one: Invariant) => one.sql === sql);
    assert(invariant, 'this SQL is not that of an invariant');
    return invariant.offenders(this.#rows()).map((id) => ({ id, workflow_id: workflowOf(this.#rows(), id) }));
  }

  table(): never {
    throw new Error('plain rows are read as they are');
  }

  close(): void {
    // There is nothing to let go of.
  }
}

/** Until when somebody may approve a call that nobody has approved yet. */
function expiryOf(row: Mutation): number | null {
  return row.status === 'pending' && row.approvedAt === null ? row.approvalExpiresAt : null;
}

function workflowOf({ workflows, events, runs, sessions, executions, mutations }: Rows, id: string): string {
  const tables = [events, runs, sessions, executions, mutations];
  return (
    workflows.get(id)?.id ?? tables.map((table) => table.get(id)?.workflowId).find((one) => one !== undefined) ?? ''
  );
}

function byId<R extends { readonly id: string }>(rows: readonly R[]): R[] {
  return [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
}
