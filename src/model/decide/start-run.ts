import type { DeliveryId, RunId } from '#base';
import type { CommandOf, ExpectedRun, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Execution, Run, Session, Workflow } from '../rows.ts';
import { fenced, scriptRow, workflowRow } from '../rule/find.ts';
import { checkId, notFound, refuse } from '../rule/refusal.ts';
import { isStartable } from '../rule/work.ts';

/** A handler's first run in its chain. */
export function startRun(draft: Draft, command: CommandOf<'startRun'>): ReplyTo<'startRun'> {
  const { execution, session } = fenced(draft, command.fence);
  const workflow = workflowRow(draft, session.workflowId);
  mayStartRun(draft, workflow, execution);
  mustBeActiveVersion(workflow, session);
  if (command.delivery !== undefined) checkDelivery(draft, workflow, command.handler, command.delivery);
  return { run: createRun(draft, workflow, session, command.handler, command.delivery ?? null) };
}

/** One run at a time, and none while a person, a cancel or a repair stands in the way. */
export function mayStartRun(draft: Draft, workflow: Workflow, execution: Execution): void {
  const active = draft.one('activeRun', workflow.id);
  if (active) {
    refuse(
      'busy',
      `workflow ${workflow.name} is running ${active.handlerName}`,
      'a workflow runs one handler at a time',
      {
        next: ['wait until it ends'],
        ids: { workflow: workflow.id, run: active.id },
      },
    );
  }
  if (execution.cancelRequestedAt !== null || !isStartable(workflow)) {
    const why =
      execution.cancelRequestedAt !== null ? `cancelled by ${execution.cancelRequestedBy}` : standing(workflow);
    refuse('held', `no run of workflow ${workflow.name} may start`, why, {
      next: [{ label: 'see what it waits for', argv: ['pawl', 'status'] }],
      ids: { workflow: workflow.id },
    });
  }
}

function standing(workflow: Workflow): string {
  return workflow.maintenance ? 'it waits for a repair' : `it is ${workflow.status}: ${workflow.holds.join(', ')}`;
}

/** A run keeps its version to its end, but none begins under a version that was replaced. */
function mustBeActiveVersion(workflow: Workflow, session: Session): void {
  if (session.scriptId === workflow.activeScriptId) return;
  refuse('held', `session ${session.id} has a version that was replaced`, 'no run begins under it any more', {
    next: ['end the session: the next one has the new version'],
    ids: { session: session.id, workflow: workflow.id },
  });
}

function checkDelivery(draft: Draft, workflow: Workflow, handler: string, id: DeliveryId): void {
  checkId('delivery', id);
  const delivery = draft.one('delivery', id) ?? notFound('delivery', id);
  if (delivery.workflowId === workflow.id && delivery.handlerName === handler && delivery.status === 'pending') return;
  refuse(
    'wrong-state',
    `delivery ${id} cannot be handed to ${handler}`,
    `it is ${delivery.status} and for ${delivery.handlerName}`,
    { next: ['take a pending delivery of this webhook'], ids: { delivery: id } },
  );
}

export function createRun(
  draft: Draft,
  workflow: Workflow,
  session: Session,
  handlerName: string,
  deliveryId: DeliveryId | null,
  expected?: ExpectedRun,
): RunId {
  const id = expected ? draft.takeId(expected.run) : draft.newId('run');
  const script = scriptRow(draft, session.scriptId);
  const isConsumer = script.handlers.consumers.some((consumer) => consumer.name === handlerName);
  if (!isConsumer && !script.handlers.producers.some((producer) => producer.name === handlerName)) {
    refuse(
      'not-found',
      `version ${script.major}.${script.minor} of ${workflow.name} has no handler ${handlerName}`,
      'handlers are declared in the script',
      { next: ['name a handler of this version'], ids: { workflow: workflow.id, script: script.id } },
    );
  }
  if (isConsumer && workflow.pendingRetryRunId !== null) {
    refuse('busy', `consumer ${handlerName} must wait`, `run ${workflow.pendingRetryRunId} is to be retried first`, {
      next: ['retry it'],
      ids: { run: workflow.pendingRetryRunId },
    });
  }
  const common = {
    id,
    scriptRunId: session.id,
    scriptId: script.id,
    workflowId: workflow.id,
    rootRunId: id,
    retryOf: null,
    attempt: 0,
    handlerName,
    status: 'active',
    prepareResult: null,
    mutationOutcome: '',
    outputState: null,
    error: null,
    errorType: null,
    suspects: [],
    cost: 0,
    startSeq: workflow.eventSeq,
    startTimestamp: Math.min(expected?.startedAt ?? draft.now, draft.now),
    endTimestamp: null,
  } as const;
  const row: Run = isConsumer
    ? { ...common, handlerType: 'consumer', phase: 'preparing', deliveryId: null }
    : { ...common, handlerType: 'producer', phase: 'executing', deliveryId };
  draft.write({ set: 'run.created', row });
  return id;
}
