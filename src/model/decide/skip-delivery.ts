import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Delivery } from '../rows.ts';
import { audit, mustBeNamed, workflowRow } from '../rule/find.ts';
import { checkId, notFound, refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';
import { exitMaintenance } from './exit-maintenance-mode.ts';

/** A person decides that the delivery a webhook stumbles over is not to be handed to it again. It stays known by its key. */
export function skipDelivery(draft: Draft, command: CommandOf<'skipDelivery'>): ReplyTo<'skipDelivery'> {
  mustBeNamed(command.by);
  checkId('delivery', command.delivery);
  const delivery = draft.one('delivery', command.delivery) ?? notFound('delivery', command.delivery);
  const workflow = workflowRow(draft, delivery.workflowId);
  const run = workflow.maintenanceRunId === null ? undefined : draft.one('run', workflow.maintenanceRunId);
  if (delivery.status !== 'pending' || run?.deliveryId !== delivery.id) return refuseSkip(delivery);
  draft.write({ set: 'delivery.done', delivery: delivery.id, run: run.id });
  audit(draft, command.by, 'skip', delivery.id);
  exitMaintenance(draft, workflow.id, command.by, false);
  settle(draft, workflow.id, true);
  return { run: run.id };
}

function refuseSkip({ id, status }: Delivery): never {
  return refuse(
    'wrong-state',
    `delivery ${id} ${status === 'done' ? 'is done' : 'stands in nobody’s way'}, so you cannot skip it`,
    'only one that its webhook failed on, and waits for a repair because of, can be skipped',
    { next: [{ label: 'see it', argv: ['pawl', 'show', id] }], ids: { delivery: id } },
  );
}
