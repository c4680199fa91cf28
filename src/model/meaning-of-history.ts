import { assert } from '#base';
import type { Rows, Table } from './table.ts';
import type { WriteName, WriteOf } from './write.ts';

type HistoryWriteName = Extract<WriteName, `${string}.removed` | `${string}.remembered`> | OtherName;
type OtherName = 'event.known' | 'delivery.known' | 'approval.kept' | 'runs.undelivered' | 'session.uncounted';

/** What it means that history goes. A row that is not there, or not over, is a bug in the rule. */
export const HISTORY_MEANING: { readonly [N in HistoryWriteName]: (rows: Rows, write: WriteOf<N>) => void } = {
  // The first one stays: it is about that there was one.
  'approval.kept': ({ keptApprovals }, { row }) =>
    keptApprovals.load(`${row.workflowId} ${row.connection} ${row.method}`, row),
  'logs.removed': (rows, { runs }) => removeWhere(rows.runLogs, logKey, (log) => runs.includes(log.runId)),
  'reads.removed': (rows, { runs }) => removeWhere(rows.runReads, logKey, (read) => runs.includes(read.runId)),
  'evidence.removed': (rows, { mutations }) =>
    removeWhere(
      rows.evidence,
      (e) => e.id,
      (e) => mutations.includes(e.mutationId),
    ),
  'mutations.removed': (rows, { mutations }) =>
    remove(rows.mutations, mutations, (m) => m.resolvedAt !== null && m.setAsideAt === null),
  'events.remembered': (rows, { events }) => {
    for (const id of events) {
      const { workflowId, topic, messageId, status, createdAt } = present(rows.events, id);
      assert(rows.prunedEvents.get(id) === undefined, `${id} is remembered already`);
      rows.prunedEvents.put(id, { workflowId, topic, messageId, id, status, createdAt });
    }
  },
  'causes.removed': (rows, { events }) =>
    removeWhere(
      rows.eventInputs,
      (c) => `${c.eventId} ${c.inputId}`,
      (c) => events.includes(c.eventId),
    ),
  'events.removed': (rows, { events }) =>
    remove(rows.events, events, (e) => e.status === 'consumed' || e.status === 'skipped'),
  'tasks.removed': (rows, { runs }) =>
    removeWhere(
      rows.tasks,
      (t) => t.id,
      (t) => runs.includes(t.runId) && t.status === 'closed',
    ),
  'runs.undelivered': (rows, { runs }) => {
    for (const id of runs) {
      const run = present(rows.runs, id);
      assert(run.handlerType === 'producer' && run.deliveryId !== null, `${id} was not called with a delivery`);
      rows.runs.put(id, { ...run, deliveryId: null });
    }
  },
  'deliveries.remembered': (rows, { deliveries }) => {
    for (const id of deliveries) {
      const { workflowId, handlerName, deliveryId, receivedAt } = present(rows.deliveries, id);
      assert(rows.prunedDeliveries.get(id) === undefined, `${id} is remembered already`);
      rows.prunedDeliveries.put(id, { workflowId, handlerName, deliveryId, id, receivedAt });
    }
  },
  'deliveries.removed': (rows, { deliveries }) => remove(rows.deliveries, deliveries, (d) => d.status === 'done'),
  'runs.removed': (rows, { runs }) => remove(rows.runs, runs, (run) => run.status !== 'active'),
  'session.uncounted': (rows, { session, count }) => {
    const row = present(rows.sessions, session);
    assert(row.handlerRunCount >= count, `${session} counts only ${row.handlerRunCount}`);
    rows.sessions.put(session, { ...row, handlerRunCount: row.handlerRunCount - count });
  },
  'sessions.removed': (rows, { sessions }) => remove(rows.sessions, sessions, (s) => s.endTimestamp !== null),
  'enforcements.removed': (rows, { executions }) =>
    removeWhere(
      rows.enforcements,
      (e) => e.id,
      (e) => executions.includes(e.executionId),
    ),
  'executions.removed': (rows, { executions }) => remove(rows.executions, executions, (e) => e.endedAt !== null),
  'inputs.removed': (rows, { inputs }) => remove(rows.inputs, inputs, () => true),
  'event.known': ({ prunedEvents }, { row }) => {
    assert(prunedEvents.get(row.id) === undefined, `${row.id} is remembered already`);
    prunedEvents.put(row.id, row);
  },
  'delivery.known': ({ prunedDeliveries }, { row }) => {
    assert(prunedDeliveries.get(row.id) === undefined, `${row.id} is remembered already`);
    prunedDeliveries.put(row.id, row);
  },
};

function logKey({ runId, position }: { readonly runId: string; readonly position: number }): string {
  return `${runId} ${position}`;
}

function present<R>(table: Table<R>, key: string): R {
  const row = table.get(key);
  assert(row !== undefined, `${key} is not here`);
  return row;
}

function remove<R>(table: Table<R>, keys: readonly string[], isOver: (row: R) => boolean): void {
  for (const key of keys) {
    assert(isOver(present(table, key)), `${key} is not over`);
    table.delete(key);
  }
}

function removeWhere<R>(table: Table<R>, keyOf: (row: R) => string, goes: (row: R) => boolean): void {
  for (const row of table.matching(goes)) table.delete(keyOf(row));
}
