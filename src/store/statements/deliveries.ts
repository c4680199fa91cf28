import type { Delivery } from '#model';
import { table } from '../columns.ts';
import { inserted, type LookupStatements, selected, type WriteStatements } from './statement.ts';

export const DELIVERIES = table<Delivery>('deliveries', {
  id: 'text',
  workflowId: 'text',
  handlerName: 'text',
  deliveryId: 'text',
  headers: 'text',
  body: 'text',
  status: 'text',
  runId: 'text',
  receivedAt: 'integer',
});

export const DELIVERY_WRITES: WriteStatements<'delivery.accepted' | 'delivery.done'> = {
  'delivery.accepted': inserted(DELIVERIES),
  'delivery.done': {
    sql: `UPDATE deliveries SET status = 'done', run_id = :run WHERE id = :delivery AND status = 'pending'`,
  },
};

export const DELIVERY_LOOKUPS: LookupStatements<'delivery' | 'deliveryKeyed' | 'oldestDelivery' | 'deliveriesTo'> = {
  delivery: selected(DELIVERIES, ['delivery'], 'WHERE id = :delivery'),
  // One whose history was removed is known by its key all the same.
  deliveryKeyed: selected(
    DELIVERIES,
    ['workflow', 'handler', 'deliveryId'],
    `WHERE workflow_id = :workflow AND handler_name = :handler AND delivery_id = :deliveryId
      UNION ALL SELECT id, workflow_id, handler_name, delivery_id, '{}', '', 'done', NULL, received_at
      FROM pruned_deliveries WHERE workflow_id = :workflow AND handler_name = :handler AND delivery_id = :deliveryId`,
  ),
  // Two: a command that finishes the oldest one must still see, in the same transaction, whether another waits.
  oldestDelivery: selected(
    DELIVERIES,
    ['workflow'],
    `WHERE workflow_id = :workflow AND status = 'pending' ORDER BY id LIMIT 2`,
  ),
  deliveriesTo: selected(
    DELIVERIES,
    ['workflow', 'handler'],
    `WHERE workflow_id = :workflow AND handler_name = :handler AND status = 'pending' ORDER BY id LIMIT 2`,
  ),
};
