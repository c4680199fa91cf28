import {
  type EventId,
  type ExecutionId,
  idPlaceAt,
  type MessageId,
  type ScriptId,
  type WorkerId,
  type WorkflowId,
} from '#base';
import type { Allowance, Event, EventStatus, Execution, Message, Mutation, Notice, Worker } from '#model';
import type { SqlValue } from './columns.ts';
import type { AgedKind, EventFilter, Reader } from './reader.ts';
import { type RowOf, TABLES, type TableName } from './statements/all.ts';
import { COUNTS } from './statements/counts.ts';
import { EVENTS } from './statements/events.ts';
import { EXECUTIONS } from './statements/executions.ts';
import { EVENT_LISTINGS, LISTINGS } from './statements/listings.ts';
import { MESSAGES } from './statements/messages.ts';
import { MUTATIONS } from './statements/mutations.ts';
import { ALLOWANCES, NOTICES } from './statements/people.ts';
import type { SqlText } from './statements/statement.ts';
import { WORKERS } from './statements/workers.ts';

export interface Asked {
  readonly sql: SqlText;
  readonly params: Readonly<Record<string, SqlValue | undefined>>;
}

/** Asks, is handed the rows, and may ask again. Whoever drives it decides whether to wait for them: one reader for all databases. */
export type Read<T> = Generator<Asked, T, readonly SqlValue[][]>;

type Listing = keyof typeof LISTINGS;
type EventListing = keyof typeof EVENT_LISTINGS;

function listing(name: Listing, params: Readonly<Record<string, SqlValue>>): Asked {
  return { sql: LISTINGS[name], params };
}

export type ReadsOf<R> = {
  readonly [M in keyof R]: R[M] extends (...args: infer A) => infer T ? (...args: A) => Read<T> : never;
};

/** What a reader lists, one by one below. */
export type Listed = Omit<Reader, 'fetch' | 'offenders' | 'table' | 'workflowRows' | 'close'>;

const AGED = {
  run: 'agedRuns',
  event: 'agedEvents',
  session: 'agedSessions',
  execution: 'agedExecutions',
  input: 'agedInputs',
} as const satisfies Readonly<Record<AgedKind, Listing>>;

/** What every reader says of the tables. */
export const READS = {
  *unfinishedExecutions(page) {
    const rows = yield listing('unfinishedExecutions', { after: page.after ?? '', limit: page.limit });
    return rows.map(([id, epoch, status, owner, activeRuns]) => ({
      id: id as ExecutionId,
      epoch: epoch as number,
      status: status as Execution['status'],
      owner: owner as WorkerId | null,
      hasActiveRun: activeRuns !== 0,
    }));
  },

  *dueWorkflows(now, limit) {
    const rows = yield listing('dueWorkflows', { now, limit });
    return rows.map(([id, dueAt]) => ({ id: id as WorkflowId, dueAt: dueAt as number }));
  },

  *slotsTaken(limit) {
    return Number((yield listing('slotsTaken', { limit }))[0]?.[0] ?? 0);
  },

  *slotWaiters(name, limit) {
    const rows = yield listing('slotWaiters', { name, limit });
    return rows.map(([workflow, since]) => ({ workflow: workflow as WorkflowId, since: since as number }));
  },

  *nextDueAt() {
    const rows = yield listing('nextDueAt', {});
    return (rows[0]?.[0] ?? null) as number | null;
  },

  *nextWakeAt() {
    return ((yield listing('nextWakeAt', {}))[0]?.[0] ?? null) as number | null;
  },

  *wasApproved(workflow, connection, method) {
    return (yield listing('wasApproved', { workflow, connection, method })).length > 0;
  },

  *dueReconciles(now, limit): Read<readonly Mutation[]> {
    return (yield listing('dueReconciles', { now, limit })).map(MUTATIONS.parse);
  },

  *expiredApprovals(now, limit): Read<readonly Mutation[]> {
    return (yield listing('expiredApprovals', { now, limit })).map(MUTATIONS.parse);
  },

  *expiredScheduling(now, limit): Read<readonly Execution[]> {
    return (yield listing('expiredScheduling', { now, limit })).map(EXECUTIONS.parse);
  },

  *unendedWorkers(): Read<readonly Worker[]> {
    return (yield listing('unendedWorkers', {})).map(WORKERS.parse);
  },

  *maintenanceWithoutTask(limit) {
    return (yield listing('maintenanceWithoutTask', { limit })).map(([id]) => id as WorkflowId);
  },

  *messages(limit) {
    return (yield listing('messages', { limit })).map(([id]) => id as MessageId);
  },

  *messageRows(limit): Read<readonly Message[]> {
    return (yield listing('messageRows', { limit })).map(MESSAGES.parse);
  },

  *handOffs(limit) {
    return (yield listing('handOffs', { limit })).map(([message, execution, workflow, epoch, script]) => ({
      message: message as MessageId,
      execution: execution as ExecutionId,
      workflow: workflow as WorkflowId,
      epoch: epoch as number,
      script: script as ScriptId | null,
    }));
  },

  *strangeMessages(limit) {
    return (yield listing('strangeMessages', { limit })).map(([id]) => id as MessageId);
  },

  *countCalls(workflow, connection, method, since, max) {
    const above = idPlaceAt('mutation', since);
    const rows = yield { sql: COUNTS.callsSince, params: { workflow, connection, method, above, limit: max } };
    return Number(rows[0]?.[0] ?? 0);
  },

  *allowances(workflow, now, limit): Read<readonly Allowance[]> {
    return (yield listing('allowances', { workflow, now, limit })).map(ALLOWANCES.parse);
  },

  *dueNotices(now, limit): Read<readonly Notice[]> {
    return (yield listing('dueNotices', { now, limit })).map(NOTICES.parse);
  },

  *nextNoticeAt() {
    const rows = yield listing('nextNoticeAt', {});
    return (rows[0]?.[0] ?? null) as number | null;
  },

  *aged(kind, { before, below, limit }) {
    const rows = yield listing(AGED[kind], { before, below, limit });
    return rows.map(([id, workflow]) => ({ id: String(id), workflow: workflow as WorkflowId }));
  },

  *orphanedReservedEvents(limit): Read<readonly Event[]> {
    return (yield listing('orphanedReservedEvents', { limit })).map(EVENTS.parse);
  },

  *listEvents(workflow, { status = null, topic = null, after = '' as EventId, limit }: EventFilterOrNull) {
    const sql = EVENT_LISTINGS[eventListing(status, topic)];
    return (yield { sql, params: { workflow, status, topic, after, limit } }).map(EVENTS.parse);
  },

  *scriptCode(script: ScriptId) {
    const [row] = yield listing('scriptCode', { script });
    return row && { code: row[0] as string, manifest: row[1] as string };
  },
} satisfies ReadsOf<Listed>;

/** Every row of a table, by its key. */
export function* wholeTable<T extends TableName>(name: T): Read<readonly RowOf<T>[]> {
  const { columns, columnList, parse } = TABLES[name];
  // The first two columns are, or begin with, every table's key.
  const sql = `SELECT ${columnList()} FROM ${name} ORDER BY ${columns.slice(0, 2).join(', ')}`;
  return (yield { sql, params: {} }).map((values) => parse(values) as RowOf<T>);
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
