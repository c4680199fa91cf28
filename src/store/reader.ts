import type { EventId, ExecutionId, MessageId, ScriptId, WorkerId, WorkflowId } from '#base';
import type { Allowance, Event, EventStatus, Execution, Message, Mutation, Notice, Source, Worker } from '#model';
import type { SqlValue } from './columns.ts';
import { type Listed, READS, type Read, wholeTable } from './reads.ts';
import { SqliteReads } from './sqlite-reads.ts';
import type { RowOf, TableName } from './statements/all.ts';
import { partStatements, ROWS_MAX, type TableRows, whole } from './workflow-rows.ts';

export interface UnfinishedExecution {
  readonly id: ExecutionId;
  readonly epoch: number;
  readonly status: Execution['status'];
  readonly owner: WorkerId | null;
  readonly hasActiveRun: boolean;
}

export interface DueWorkflow {
  readonly id: WorkflowId;
  readonly dueAt: number;
}

/** The message of a handoff, and what it hands over. */
export interface HandOff {
  readonly message: MessageId;
  readonly execution: ExecutionId;
  readonly workflow: WorkflowId;
  readonly epoch: number;
  /** The version that is active; whoever is told of a handoff otherwise does not know it. */
  readonly script?: ScriptId | null;
}

interface SlotWaiter {
  readonly workflow: WorkflowId;
  /** When it was asked for. */
  readonly since: number;
}

export interface EventFilter {
  readonly status?: EventStatus | undefined;
  readonly topic?: string | undefined;
  /** The last event of the page before. */
  readonly after?: EventId | undefined;
  readonly limit: number;
}

export type AgedKind = 'run' | 'event' | 'session' | 'execution' | 'input';

export interface AgedPage {
  readonly before: number;
  readonly below: string;
  readonly limit: number;
}

export interface AgedRow {
  readonly id: string;
  readonly workflow: WorkflowId;
}

/** The tables as the last commit left them, for everybody who only looks. */
export interface Reader extends Source {
  /** Executions that were handed off and have not ended; `after` is the last one of the page before. */
  unfinishedExecutions(page: { readonly after?: string; readonly limit: number }): readonly UnfinishedExecution[];
  dueWorkflows(now: number, limit: number): readonly DueWorkflow[];
  /** Places under a limit that are taken, and who waits for one, oldest first. */
  slotsTaken(limit: string): number;
  slotWaiters(limit: string, max: number): readonly SlotWaiter[];
  nextDueAt(): number | null;
  /** When anything at all is next due: a workflow, a look-up, or the end of an approval's time. */
  nextWakeAt(): number | null;
  /** Has a person ever approved this method for this workflow? */
  wasApproved(workflow: WorkflowId, connection: string, method: string): boolean;
  dueReconciles(now: number, limit: number): readonly Mutation[];
  expiredApprovals(now: number, limit: number): readonly Mutation[];
  expiredScheduling(now: number, limit: number): readonly Execution[];
  /** Workers that have not ended, also those that died without a word. */
  unendedWorkers(): readonly Worker[];
  maintenanceWithoutTask(limit: number): readonly WorkflowId[];
  /** Calls of this method that went out since then: `max` means so many or more. */
  countCalls(workflow: WorkflowId, connection: string, method: string, since: number, max: number): number;
  /** What approvals still cover, by when each ends. */
  allowances(workflow: WorkflowId, now: number, limit: number): readonly Allowance[];
  /** Tellings that are to be tried now, and when the next one is. */
  dueNotices(now: number, limit: number): readonly Notice[];
  nextNoticeAt(): number | null;
  /** Those that nobody has to act on any more, oldest first. */
  messages(limit: number): readonly MessageId[];
  /** The oldest ones, whatever they say. */
  messageRows(limit: number): readonly Message[];
  /** Executions that were handed off and that nobody has taken yet, oldest first. */
  handOffs(limit: number): readonly HandOff[];
  /** Messages of a version that this process does not know: they stay for one that does. */
  strangeMessages(limit: number): readonly MessageId[];
  /** Rows that may be old enough to go, latest first, below a place among their ids. */
  aged(kind: AgedKind, page: AgedPage): readonly AgedRow[];
  orphanedReservedEvents(limit: number): readonly Event[];
  listEvents(workflow: WorkflowId, filter: EventFilter): readonly Event[];
  scriptCode(script: ScriptId): { readonly code: string; readonly manifest: string } | undefined;
  /** The rows an invariant's SQL finds. */
  offenders(sql: string): readonly Readonly<Record<string, SqlValue>>[];
  /** Everything of one workflow at one moment, and refused past so many rows. */
  workflowRows(workflow: WorkflowId, rowsMax: number): readonly TableRows[];
  /** Every row of a table, by its key. For tests and exports of small worlds. */
  table<T extends TableName>(name: T): readonly RowOf<T>[];
  close(): void;
}

export function openReader(dataDir: string): Reader {
  const reads = SqliteReads.open(dataDir);
  return {
    ...(reads.reading(READS) as Listed),
    fetch: (name, ...by) => reads.fetch(name, ...by),
    table: (name) => reads.read(wholeTable(name)),
    offenders: (sql) => reads.objects(sql),
    workflowRows: (workflow, rowsMax) => reads.atOneMoment(workflowRows(workflow, rowsMax)),
    close: () => reads.close(),
  };
}

function* workflowRows(workflow: WorkflowId, rowsMax: number): Read<readonly TableRows[]> {
  const limit = Math.min(rowsMax, ROWS_MAX) + 1;
  const answers: (readonly SqlValue[][])[] = [];
  for (const { sql } of partStatements()) answers.push(yield { sql, params: { workflow, limit } });
  return whole(workflow, answers, rowsMax);
}
