import type { EventId, ExecutionId, MessageId, ScriptId, WorkerId, WorkflowId } from '#base';
import type {
  Allowance,
  Event,
  EventStatus,
  Execution,
  LookupName,
  Lookups,
  Message,
  Mutation,
  Notice,
  Source,
  Worker,
} from '#model';
import type { SqlValue } from './columns.ts';
import { storeError } from './failures.ts';
import { prepareSource } from './fetch.ts';
import { databasePath } from './open-sqlite.ts';
import { type Asked, READS, type Read, wholeTable } from './reads.ts';
import { type Query, SqliteDatabase } from './sqlite-database.ts';
import type { RowOf, TableName } from './statements/all.ts';
import type { SqlText } from './statements/statement.ts';
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

/** A connection of its own that cannot write, whatever it is asked to. */
export function openReader(dataDir: string): Reader {
  const path = databasePath(dataDir);
  let db: SqliteDatabase | undefined;
  try {
    db = new SqliteDatabase(path, { readOnly: true });
    db.exec('PRAGMA busy_timeout = 5000; PRAGMA query_only = 1');
    return new SqliteReader(db);
  } catch (error) {
    db?.close();
    throw storeError(error, path);
  }
}

class SqliteReader implements Reader {
  readonly #db: SqliteDatabase;
  readonly #source: Source;
  readonly #queries = new Map<SqlText, Query>();

  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#source = prepareSource(db);
  }

  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
    return this.#reading(() => this.#source.fetch(name, ...by));
  }

  unfinishedExecutions(page: { readonly after?: string; readonly limit: number }): readonly UnfinishedExecution[] {
    return this.#read(READS.unfinishedExecutions(page));
  }

  dueWorkflows(now: number, limit: number): readonly DueWorkflow[] {
    return this.#read(READS.dueWorkflows(now, limit));
  }

  slotsTaken(limit: string): number {
    return this.#read(READS.slotsTaken(limit));
  }

  slotWaiters(limit: string, max: number): readonly SlotWaiter[] {
    return this.#read(READS.slotWaiters(limit, max));
  }

  nextDueAt(): number | null {
    return this.#read(READS.nextDueAt());
  }

  nextWakeAt(): number | null {
    return this.#read(READS.nextWakeAt());
  }

  wasApproved(workflow: WorkflowId, connection: string, method: string): boolean {
    return this.#read(READS.wasApproved(workflow, connection, method));
  }

  dueReconciles(now: number, limit: number): readonly Mutation[] {
    return this.#read(READS.dueReconciles(now, limit));
  }

  expiredApprovals(now: number, limit: number): readonly Mutation[] {
    return this.#read(READS.expiredApprovals(now, limit));
  }

  expiredScheduling(now: number, limit: number): readonly Execution[] {
    return this.#read(READS.expiredScheduling(now, limit));
  }

  unendedWorkers(): readonly Worker[] {
    return this.#read(READS.unendedWorkers());
  }

  maintenanceWithoutTask(limit: number): readonly WorkflowId[] {
    return this.#read(READS.maintenanceWithoutTask(limit));
  }

  messages(limit: number): readonly MessageId[] {
    return this.#read(READS.messages(limit));
  }

  messageRows(limit: number): readonly Message[] {
    return this.#read(READS.messageRows(limit));
  }

  handOffs(limit: number): readonly HandOff[] {
    return this.#read(READS.handOffs(limit));
  }

  strangeMessages(limit: number): readonly MessageId[] {
    return this.#read(READS.strangeMessages(limit));
  }

  countCalls(workflow: WorkflowId, connection: string, method: string, since: number, max: number): number {
    return this.#read(READS.countCalls(workflow, connection, method, since, max));
  }

  allowances(workflow: WorkflowId, now: number, limit: number): readonly Allowance[] {
    return this.#read(READS.allowances(workflow, now, limit));
  }

  dueNotices(now: number, limit: number): readonly Notice[] {
    return this.#read(READS.dueNotices(now, limit));
  }

  nextNoticeAt(): number | null {
    return this.#read(READS.nextNoticeAt());
  }

  aged(kind: AgedKind, page: AgedPage): readonly AgedRow[] {
    return this.#read(READS.aged(kind, page));
  }

  orphanedReservedEvents(limit: number): readonly Event[] {
    return this.#read(READS.orphanedReservedEvents(limit));
  }

  listEvents(workflow: WorkflowId, filter: EventFilter): readonly Event[] {
    return this.#read(READS.listEvents(workflow, filter));
  }

  scriptCode(script: ScriptId): { readonly code: string; readonly manifest: string } | undefined {
    return this.#read(READS.scriptCode(script));
  }

  offenders(sql: string): readonly Readonly<Record<string, SqlValue>>[] {
    return this.#reading(() => this.#db.objects(sql));
  }

  workflowRows(workflow: WorkflowId, rowsMax: number): readonly TableRows[] {
    const limit = Math.min(rowsMax, ROWS_MAX) + 1;
    return this.#reading(() => {
      // One moment for all of them, whatever is committed meanwhile.
      this.#db.exec('BEGIN');
      try {
        const answers = partStatements().map(({ sql }) => this.#all({ sql, params: { workflow, limit } }));
        return whole(workflow, answers, rowsMax);
      } finally {
        this.#db.exec('ROLLBACK');
      }
    });
  }

  table<T extends TableName>(name: T): readonly RowOf<T>[] {
    return this.#read(wholeTable(name));
  }

  close(): void {
    this.#db.close();
  }

  #read<T>(read: Read<T>): T {
    return this.#reading(() => {
      let step = read.next();
      while (!step.done) step = read.next(this.#all(step.value));
      return step.value;
    });
  }

  #all({ sql, params }: Asked): readonly SqlValue[][] {
    const query = this.#queries.get(sql) ?? this.#db.prepare(sql);
    this.#queries.set(sql, query);
    return query.all(query.names.map((name) => params[name] ?? null));
  }

  #reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw storeError(error, this.#db.path);
    }
  }
}
