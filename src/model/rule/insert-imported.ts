import type { EventId, InputId, WorkerId } from '#base';
import type { Draft } from '../draft.ts';
import type { ImportedRows } from '../imported.ts';
import type { Execution, Mutation } from '../rows.ts';

/** Every row after those it refers to; rows that refer to each other are put in without, and told of it after. */
export function insertAll(draft: Draft, rows: ImportedRows, name: string): void {
  insertWorkflow(draft, rows, name);
  insertRuns(draft, rows);
  insertEvents(draft, rows);
  insertRecords(draft, rows);
  pointAtRuns(draft, rows);
}

function insertWorkflow(
  draft: Draft,
  { workflow, scripts, executions, enforcements }: ImportedRows,
  name: string,
): void {
  const pointers = { activeScriptId: null, maintenance: false, maintenanceRunId: null, pendingRetryRunId: null };
  draft.write({ set: 'workflow.created', row: { ...workflow, ...pointers, name, dueAt: null } });
  for (const script of scripts) draft.write({ set: 'script.added', ...script });
  if (workflow.activeScriptId !== null)
    draft.write({ set: 'workflow.script', workflow: workflow.id, from: null, to: workflow.activeScriptId });
  for (const execution of executions) draft.write({ set: 'execution.requested', row: owned(draft, execution) });
  for (const row of enforcements) draft.write({ set: 'enforcement.created', row });
}

/** Processes of another engine are no workers here; only whoever still holds one is named, as one that has ended. */
function owned(draft: Draft, execution: Execution): Execution {
  // Limits are of the engine they were set in.
  const here = { ...execution, waitsFor: null, slots: [] };
  if (execution.status !== 'running' || execution.owner === null) return { ...here, owner: null };
  registerGone(draft, execution.owner);
  return here;
}

function registerGone(draft: Draft, id: WorkerId): void {
  if (draft.one('worker', id)) return;
  const { now } = draft;
  const unsaid = { version: null, concurrency: null, status: 'open', lacks: [] } as const;
  const row = { id, name: '(of another engine)', pool: '', ...unsaid, leaseUntil: now, startedAt: now, endedAt: now };
  draft.write({ set: 'worker.registered', row });
}

function insertRuns(draft: Draft, { sessions, deliveries, runs }: ImportedRows): void {
  for (const row of sessions) draft.write({ set: 'session.created', row });
  for (const row of deliveries)
    draft.write({ set: 'delivery.accepted', row: { ...row, status: 'pending', runId: null } });
  for (const row of runs.toSorted((a, b) => a.attempt - b.attempt)) draft.write({ set: 'run.created', row });
  for (const { id, runId } of deliveries)
    if (runId !== null) draft.write({ set: 'delivery.done', delivery: id, run: runId });
}

function insertEvents(draft: Draft, { events, mutations, evidence, inputs, eventInputs }: ImportedRows): void {
  // In the order of their ids: one that was done again comes before its repeat.
  for (const row of events) draft.write({ set: 'event.published', row });
  for (const row of mutations) draft.write({ set: 'mutation.recorded', row: unclaimed(row) });
  for (const row of evidence) draft.write({ set: 'evidence.recorded', row });
  for (const row of inputs) draft.write({ set: 'input.registered', row });
  const causes = new Map<EventId, InputId[]>();
  for (const { eventId, inputId } of eventInputs) causes.set(eventId, [...(causes.get(eventId) ?? []), inputId]);
  for (const [event, caused] of causes) draft.write({ set: 'event.caused', event, inputs: caused });
}

function unclaimed(row: Mutation): Mutation {
  return { ...row, reconcileOwner: null, reconcileUntil: null };
}

function insertRecords(draft: Draft, rows: ImportedRows): void {
  for (const row of rows.handlerStates) draft.write({ set: 'handler.kept', row });
  for (const row of rows.tasks) draft.write({ set: 'task.opened', row });
  for (const row of rows.runLogs) draft.write({ set: 'run.logged', row });
  for (const row of rows.runReads) draft.write({ set: 'run.read', row });
  for (const row of rows.prunedEvents) draft.write({ set: 'event.known', row });
  for (const row of rows.prunedDeliveries) draft.write({ set: 'delivery.known', row });
}

function pointAtRuns(draft: Draft, { workflow }: ImportedRows): void {
  const { id, maintenanceRunId, pendingRetryRunId } = workflow;
  if (maintenanceRunId !== null)
    draft.write({ set: 'workflow.maintenance', workflow: id, from: null, to: maintenanceRunId });
  if (pendingRetryRunId !== null)
    draft.write({ set: 'workflow.retry', workflow: id, from: null, to: pendingRetryRunId });
}
