import {
  type DeliveryId,
  type EventId,
  type ExecutionId,
  type IdKind,
  type IdOf,
  idShapeOf,
  type MutationId,
  type RunId,
  type WorkerId,
  type WorkflowId,
} from '#base';
import type { ApprovalCause, Command, Fence, Publish, RegisteredInput, Reservation } from './command.ts';
import type { Question } from './lookup.ts';

/** The words by which commands name rows; the same word names the same kind of row in each of them. */
interface Named {
  readonly fence?: Fence;
  readonly workflow?: WorkflowId;
  readonly execution?: ExecutionId;
  readonly run?: RunId;
  readonly mutation?: MutationId;
  readonly delivery?: DeliveryId;
  readonly worker?: WorkerId;
  readonly owner?: WorkerId;
  readonly events?: readonly EventId[];
  readonly cause?: ApprovalCause;
  readonly publishes?: readonly Publish[];
  readonly reservations?: readonly Reservation[];
  readonly inputs?: readonly RegisteredInput[];
}

/**
 * What a command will surely ask for, told from its own words, so that a store far away can fetch it in one go. Nothing is wrong
 * with a question too few or too many; the rules themselves never look here.
 */
export function foreseen(
  command: Command,
  workflowOf: (execution: ExecutionId) => WorkflowId | undefined,
): readonly Question[] {
  const named = command as Named;
  const { fence, cause } = named;
  const questions: Question[] = [
    ...about('workflow', [named.workflow], (id): Question => ({ name: 'workflow', by: [id] })),
    ...about('execution', [fence?.execution, named.execution], (id): Question => ({ name: 'execution', by: [id] })),
    ...about('run', [named.run], (id): Question => ({ name: 'run', by: [id] })),
    ...about('mutation', [named.mutation], (id): Question => ({ name: 'mutation', by: [id] })),
    ...about('delivery', [named.delivery], (id): Question => ({ name: 'delivery', by: [id] })),
    ...about('worker', [named.worker, named.owner], (id): Question => ({ name: 'worker', by: [id] })),
    ...about('event', named.events ?? [], (id): Question => ({ name: 'event', by: [id] })),
  ];
  for (const slot of command.do === 'beginScheduling' ? (command.slots ?? []) : []) {
    questions.push({ name: 'limit', by: [slot] }, { name: 'slotsOf', by: [slot] });
  }
  if (cause?.kind === 'auth') questions.push({ name: 'connection', by: [cause.connection] });
  if (command.do === 'createWorkflow') questions.push({ name: 'workflowNamed', by: [command.name] });
  if (command.do === 'cureConnection') {
    questions.push({ name: 'connection', by: [command.connection] });
    questions.push({ name: 'workflowsHeldBy', by: [command.connection] });
  }
  const workflow = named.workflow ?? (fence && workflowOf(fence.execution));
  return workflow === undefined ? questions : [...questions, ...inWorkflow(command, named, workflow)];
}

/** What is known by a name that is its own only within its workflow. */
function inWorkflow(command: Command, named: Named, workflow: WorkflowId): Question[] {
  const questions: Question[] = [];
  for (const [position, { topic, messageId = `${named.run}:${position}` }] of (named.publishes ?? []).entries()) {
    questions.push({ name: 'eventKeyed', by: [workflow, topic, messageId] });
  }
  for (const { topic, ids } of named.reservations ?? []) {
    for (const messageId of ids) questions.push({ name: 'eventKeyed', by: [workflow, topic, messageId] });
  }
  for (const { source, type, id } of named.inputs ?? []) {
    questions.push({ name: 'inputKeyed', by: [workflow, source, type, id] });
  }
  if (command.do === 'acceptDelivery') {
    questions.push({ name: 'deliveryKeyed', by: [workflow, command.hook, command.deliveryId] });
  }
  return questions;
}

/** Ids come from outside: what does not look like one names no row. */
function about<K extends IdKind>(
  kind: K,
  ids: readonly (IdOf<K> | undefined)[],
  question: (id: IdOf<K>) => Question,
): Question[] {
  return ids.flatMap((id) => (id !== undefined && idShapeOf(id) === kind ? [question(id)] : []));
}
