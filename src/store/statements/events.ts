import type { Event, TopicHead } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const EVENTS = table<Event>('events', {
  id: 'text',
  workflowId: 'text',
  topic: 'text',
  messageId: 'text',
  payload: 'text',
  title: 'text',
  status: 'text',
  reservedByRunId: 'text',
  redoOf: 'text',
  pendingSeq: 'integer',
  publishedByRunId: 'text',
  createdAt: 'integer',
});

const HEADS = table<TopicHead>('heads', {
  workflowId: 'text',
  topic: 'text',
  oldestId: 'text',
  newestSeq: 'integer',
});

/** Reserved events are indexed by workflow, then run: one index answers for both, so a run's are asked for with its workflow. */
export function reservedBy(run: string): string {
  return `workflow_id = (SELECT workflow_id FROM handler_runs WHERE id = ${run})
        AND reserved_by_run_id = ${run} AND status = 'reserved'`;
}

type Name =
  | 'event.published'
  | 'event.changed'
  | 'events.reserved'
  | 'events.released'
  | 'events.consumed'
  | 'events.skipped'
  | 'events.parked'
  | 'events.transferred'
  | 'event.skipped'
  | 'event.parked'
  | 'topic.skipped'
  | 'event.unparked';

export const EVENT_WRITES: WriteStatements<Name> = {
  'event.published': inserted(EVENTS),
  'event.changed': {
    sql: `UPDATE events SET payload = :payload, title = :title, pending_seq = :pendingSeq
      WHERE id = :event AND status = 'pending'`,
  },
  'events.reserved': {
    sql: (dialect) => `UPDATE events SET status = 'reserved', reserved_by_run_id = :run
      WHERE ${dialect.isElement('id', ':events')} AND status = 'pending'`,
    rows: ({ events }) => events.length,
    each: {
      sql: `UPDATE events SET status = 'reserved', reserved_by_run_id = :run WHERE id = :event AND status = 'pending'`,
      of: ({ run, events }) => events.map((event) => ({ run, event })),
    },
  },
  'events.released': {
    sql: `UPDATE events SET status = 'pending', reserved_by_run_id = NULL, pending_seq = :pendingSeq
      WHERE ${reservedBy(':run')}`,
    rows: ({ count }) => count,
  },
  'events.consumed': {
    sql: `UPDATE events SET status = 'consumed' WHERE ${reservedBy(':run')}`,
    rows: ({ count }) => count,
  },
  'events.skipped': {
    sql: `UPDATE events SET status = 'skipped' WHERE ${reservedBy(':run')}`,
    rows: ({ count }) => count,
  },
  'events.parked': {
    sql: `UPDATE events SET status = 'parked', reserved_by_run_id = NULL WHERE ${reservedBy(':run')}`,
    rows: ({ count }) => count,
  },
  'events.transferred': {
    sql: `UPDATE events SET reserved_by_run_id = :to WHERE ${reservedBy(':from')}`,
    rows: ({ count }) => count,
  },
  'event.skipped': { sql: `UPDATE events SET status = 'skipped' WHERE id = :event AND status = :from` },
  'event.parked': { sql: `UPDATE events SET status = 'parked' WHERE id = :event AND status = 'pending'` },
  'topic.skipped': {
    sql: `UPDATE events SET status = 'skipped'
      WHERE workflow_id = :workflow AND topic = :topic AND status = 'pending'`,
    rows: () => 'any',
  },
  'event.unparked': {
    sql: `UPDATE events SET status = 'pending', pending_seq = :pendingSeq WHERE id = :event AND status = 'parked'`,
  },
};

/** The topics of a workflow that have pending events, found by one step along an index for each, however many events wait. */
export const PENDING_TOPICS = `WITH RECURSIVE topics (topic) AS (
      SELECT min(topic) FROM events WHERE workflow_id = :workflow AND status = 'pending'
      UNION ALL
      SELECT (SELECT min(topic) FROM events
        WHERE workflow_id = :workflow AND status = 'pending' AND topic > topics.topic)
      FROM topics WHERE topic IS NOT NULL)`;

const OF_TOPIC = `workflow_id = :workflow AND topic = topics.topic AND status = 'pending'`;

export const EVENT_LOOKUPS: LookupStatements<'event' | 'eventKeyed' | 'reserved' | 'anyReserved' | 'heads'> = {
  event: selected(EVENTS, ['event'], 'WHERE id = :event'),
  // One whose history was removed is known by its key all the same.
  eventKeyed: selected(
    EVENTS,
    ['workflow', 'topic', 'messageId'],
    `WHERE workflow_id = :workflow AND topic = :topic AND message_id = :messageId
      UNION ALL SELECT id, workflow_id, topic, message_id, 'null', NULL, status, NULL, NULL, 0, NULL, created_at
      FROM pruned_events WHERE workflow_id = :workflow AND topic = :topic AND message_id = :messageId`,
  ),
  reserved: selected(EVENTS, ['run'], `WHERE ${reservedBy(':run')}`),
  anyReserved: selected(EVENTS, ['workflow'], `WHERE workflow_id = :workflow AND status = 'reserved' LIMIT 1`),
  heads: {
    sql: `${PENDING_TOPICS}
      SELECT :workflow, topic,
        (SELECT min(id) FROM events WHERE ${OF_TOPIC}),
        (SELECT max(pending_seq) FROM events WHERE ${OF_TOPIC})
      FROM topics WHERE topic IS NOT NULL`,
    by: ['workflow'],
    rows: HEADS,
  },
};
