import {
  type DeliveryId,
  type EventId,
  type ExecutionId,
  hasShapeOf,
  type IdKind,
  type IdOf,
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
  const questions: Question[] = [];
  if (isId('workflow', named.workflow)) questions.push({ name: 'workflow', by: [named.workflow] });
  if (isId('execution', fence?.execution)) questions.push({ name: 'execution', by: [fence.execution] });
  if (isId('execution', named.execution)) questions.push({ name: 'execution', by: [named.execution] });
  if (isId('run', named.run)) questions.push({ name: 'run', by: [named.run] });
  if (isId('mutation', named.mutation)) questions.push({ name: 'mutation', by: [named.mutation] });
  if (isId('delivery', named.delivery)) questions.push({ name: 'delivery', by: [named.delivery] });
  if (isId('worker', named.worker)) questions.push({ name: 'worker', by: [named.worker] });
  if (isId('worker', named.owner)) questions.push({ name: 'worker', by: [named.owner] });
  for (const event of named.events ?? []) if (isId('event', event)) questions.push({ name: 'event', by: [event] });
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
  if (workflow !== undefined) questions.push(...inWorkflow(command, named, workflow));
  return questions;
}

/** Of what it will ask for: the events that it publishes. Nearly always nobody has heard of them before. */
export function foreseenNew(
  command: Command,
  workflowOf: (execution: ExecutionId) => WorkflowId | undefined,
): readonly Question[] {
  const named = command as Named;
  const workflow = named.workflow ?? (named.fence && workflowOf(named.fence.execution));
  return workflow === undefined ? [] : published(named, workflow);
}

function published({ run, publishes = [] }: Named, workflow: WorkflowId): Question[] {
  return publishes.map(({ topic, messageId }, position) => ({
    name: 'eventKeyed',
    by: [workflow, topic, messageId ?? `${run}:${position}`],
  }));
}

/** What is known by a name that is its own only within its workflow. */
function inWorkflow(command: Command, named: Named, workflow: WorkflowId): Question[] {
  const questions = published(named, workflow);
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
function isId<K extends IdKind>(kind: K, id: IdOf<K> | undefined): id is IdOf<K> {
  return hasShapeOf(kind, id);
}
