import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { EVENT_PAYLOAD_CHARS_MAX, NAME_CHARS_MAX } from '../limits.ts';
import { mustBeLive, scriptRow, workflowOf } from '../rule/find.ts';
import { checkJson, checkLength, checkText, refuse } from '../rule/refusal.ts';
import { settle } from '../rule/settle.ts';

/** A webhook's delivery is durable before anyone says 2xx; the sender's own id makes a repeat harmless. */
export function acceptDelivery(draft: Draft, command: CommandOf<'acceptDelivery'>): ReplyTo<'acceptDelivery'> {
  const workflow = workflowOf(draft, command.workflow);
  mustBeLive(workflow, 'delivered to');
  const { hook, deliveryId, headers, body } = command;
  checkText('the delivery id', deliveryId, NAME_CHARS_MAX);
  checkJson('the headers', headers, EVENT_PAYLOAD_CHARS_MAX);
  checkLength('the body', body, EVENT_PAYLOAD_CHARS_MAX);
  assert(workflow.activeScriptId, `live workflow ${workflow.id} has no active version`);
  const { producers } = scriptRow(draft, workflow.activeScriptId).handlers;
  if (!producers.some((producer) => producer.name === hook && producer.webhook)) {
    refuse('not-found', `workflow ${workflow.name} has no webhook ${hook}`, 'webhooks are declared in the script', {
      next: ['check the address', 'deploy a version that has it'],
      ids: { workflow: workflow.id },
    });
  }
  const known = draft.one('deliveryKeyed', workflow.id, hook, deliveryId);
  if (known) return { delivery: known.id, duplicate: true };
  const id = draft.newId('delivery');
  draft.write({
    set: 'delivery.accepted',
    row: {
      id,
      workflowId: workflow.id,
      handlerName: hook,
      deliveryId,
      headers,
      body,
      status: 'pending',
      runId: null,
      receivedAt: draft.now,
    },
  });
  settle(draft, workflow.id, true);
  return { delivery: id, duplicate: false };
}
