import type { EventId, ExecutionId, MessageId, ScriptId, WorkerId, WorkflowId } from '#base';
import type { Allowance, Event, EventStatus, Execution, LookupName, Lookups, Mutation, Notice, Source } from '#model';
import type { SqlValue } from './columns.ts';
import { storeError } from './failures.ts';
import { prepareSource } from './fetch.ts';
import { databasePath } from './open-sqlite.ts';
import { type Query, SqliteDatabase } from './sqlite-database.ts';
import { type RowOf, TABLES, type TableName } from './statements/all.ts';
import { EVENTS } from './statements/events.ts';
import { EXECUTIONS } from './statements/executions.ts';
import { EVENT_LISTINGS, LISTINGS } from './statements/listings.ts';
import { MUTATIONS } from './statements/mutations.ts';
import { ALLOWANCES, NOTICES } from './statements/people.ts';

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

export interface EventFilter {
  readonly status?: EventStatus | undefined;
  readonly topic?: string | undefined;
  /** The last event of the page before. */
  readonly after?: EventId | undefined;
  readonly limit: number;
}

/** The tables as the last commit left them, for everybody who only looks. */
export interface Reader extends Source {
  /** Executions that were handed off and have not ended; `after` is the last one of the page before. */
  unfinishedExecutions(page: { readonly after?: string; readonly limit: number }): readonly UnfinishedExecution[];
  dueWorkflows(now: number, limit: number): readonly DueWorkflow[];
  nextDueAt(): number | null;
  /** When anything at all is next due: a workflow, a look-up, or the end of an approval's time. */
  nextWakeAt(): number | null;
  /** Has a person ever approved this method for this workflow? */
  wasApproved(workflow: WorkflowId, connection: string, method: string): boolean;
  dueReconciles(now: number, limit: number): readonly Mutation[];
  expiredApprovals(now: number, limit: number): readonly Mutation[];
  expiredScheduling(now: number, limit: number): readonly Execution[];
  /** Workers that have not ended, also those that died without a word. */
  unendedWorkers(): readonly WorkerId[];
  maintenanceWithoutTask(limit: number): readonly WorkflowId[];
  /** What approvals still cover, by when each ends. */
  allowances(workflow: WorkflowId, now: number, limit: number): readonly Allowance[];
  /** Tellings that are to be tried now, and when the next one is. */
  dueNotices(now: number, limit: number): readonly Notice[];
  nextNoticeAt(): number | null;
  /** Those that nobody has read yet, oldest first. */
  messages(limit: number): readonly MessageId[];
  orphanedReservedEvents(limit: number): readonly Event[];
  listEvents(workflow: WorkflowId, filter: EventFilter): readonly Event[];
  scriptCode(script: ScriptId): { readonly code: string; readonly manifest: string } | undefined;
  /** The rows an invariant's SQL finds. */
  offenders(sql: string): readonly Readonly<Record<string, SqlValue>>[];
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

type Listing = keyof typeof LISTINGS;
type EventListing = keyof typeof EVENT_LISTINGS;

class SqliteReader implements Reader {
  readonly #db: SqliteDatabase;
  readonly #source: Source;
  readonly #queries = new Map<string, Query>();

  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#source = prepareSource(db);
  }

  fetch<N extends LookupName>(name: N, ...by: Lookups[N]['by']): readonly Lookups[N]['gives'][] {
    return this.#reading(() => this.#source.fetch(name, ...by));
  }

  unfinishedExecutions(page: { readonly after?: string; readonly limit: number }): readonly UnfinishedExecution[] {
    const rows = this.#list('unfinishedExecutions', { after: page.after ?? '', limit: page.limit });
    return rows.map(([id, epoch, status, owner, activeRuns]) => ({
      id: id as ExecutionId,
      epoch: epoch as number,
      status: status as Execution['status'],
      owner: owner as WorkerId | null,
      hasActiveRun: activeRuns !== 0,
    }));
  }

  dueWorkflows(now: number, limit: number): readonly DueWorkflow[] {
    const rows = this.#list('dueWorkflows', { now, limit });
    return rows.map(([id, dueAt]) => ({ id: id as WorkflowId, dueAt: dueAt as number }));
  }

  nextDueAt(): number | null {
    return (this.#list('nextDueAt', {})[0]?.[0] ?? null) as number | null;
  }

  nextWakeAt(): number | null {
    const listings = ['nextDueAt', 'nextReconcileAt', 'nextExpiryAt'] as const;
    const times = listings.map((listing) => this.#list(listing, {})[0]?.[0]).filter((at) => typeof at === 'number');
    return times.length === 0 ? null : Math.min(...times);
  }

  wasApproved(workflow: WorkflowId, connection: string, method: string): boolean {
    return this.#list('wasApproved', { workflow, connection, method }).length > 0;
  }

  dueReconciles(now: number, limit: number): readonly Mutation[] {
    return this.#list('dueReconciles', { now, limit }).map(MUTATIONS.parse);
  }

  expiredApprovals(now: number, limit: number): readonly Mutation[] {
    return this.#list('expiredApprovals', { now, limit }).map(MUTATIONS.parse);
  }

  expiredScheduling(now: number, limit: number): readonly Execution[] {
    return this.#list('expiredScheduling', { now, limit }).map(EXECUTIONS.parse);
  }

  unendedWorkers(): readonly WorkerId[] {
    return this.#list('unendedWorkers', {}).map(([id]) => id as WorkerId);
  }

  maintenanceWithoutTask(limit: number): readonly WorkflowId[] {
    return this.#list('maintenanceWithoutTask', { limit }).map(([id]) => id as WorkflowId);
  }

  messages(limit: number): readonly MessageId[] {
    return this.#list('messages', { limit }).map(([id]) => id as MessageId);
  }

  allowances(workflow: WorkflowId, now: number, limit: number): readonly Allowance[] {
    return this.#list('allowances', { workflow, now, limit }).map(ALLOWANCES.parse);
  }

  dueNotices(now: number, limit: number): readonly Notice[] {
    return this.#list('dueNotices', { now, limit }).map(NOTICES.parse);
  }

  nextNoticeAt(): number | null {
    return (this.#list('nextNoticeAt', {})[0]?.[0] ?? null) as number | null;
  }

  orphanedReservedEvents(limit: number): readonly Event[] {
    return this.#list('orphanedReservedEvents', { limit }).map(EVENTS.parse);
  }

  listEvents(workflow: WorkflowId, { status = null, topic = null, after = '' as EventId, limit }: EventFilterOrNull) {
    const sql = EVENT_LISTINGS[eventListing(status, topic)];
    return this.#all(sql, { workflow, status, topic, after, limit }).map(EVENTS.parse);
  }

  scriptCode(script: ScriptId): { readonly code: string; readonly manifest: string } | undefined {
    const [row] = this.#list('scriptCode', { script });
    return row && { code: row[0] as string, manifest: row[1] as string };
  }

  offenders(sql: string): readonly Readonly<Record<string, SqlValue>>[] {
    return this.#reading(() => this.#db.objects(sql));
  }

  table<T extends TableName>(name: T): readonly RowOf<T>[] {
    const { columns, columnList, parse } = TABLES[name];
    // The first two columns are, or begin with, every table's key.
    const sql = `SELECT ${columnList()} FROM ${name} ORDER BY ${columns.slice(0, 2).join(', ')}`;
    return this.#all(sql, {}).map((values) => parse(values) as RowOf<T>);
  }

  close(): void {
    this.#db.close();
  }

  #list(name: Listing, params: Readonly<Record<string, SqlValue>>): readonly SqlValue[][] {
    return this.#all(LISTINGS[name], params);
  }

  #all(sql: string, params: Readonly<Record<string, SqlValue>>): readonly SqlValue[][] {
    return this.#reading(() => {
      const query = this.#queries.get(sql) ?? this.#db.prepare(sql);
      this.#queries.set(sql, query);
      return query.all(query.names.map((name) => params[name] ?? null));
    });
  }

  #reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw storeError(error, this.#db.path);
    }
  }
}

type EventFilterOrNull = Omit<EventFilter, 'status' | 'topic'> & {
  readonly status?: EventStatus | null | undefined;
  readonly topic?: string | null | undefined;
};

function eventListing(status: EventStatus | null, topic: string | null): EventListing {
  switch (status) {
    case 'pending':
      return topic === null ? 'pending' : 'pendingOfTopic';
    case 'reserved':
      return 'reserved';
    case 'parked':
    case 'skipped':
      return 'aside';
    case 'consumed':
    case null:
      return 'all';
  }
}
