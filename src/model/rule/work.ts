import { assert, type DeliveryId, type RunId, type WorkflowId } from '#base';
import type { Draft } from '../draft.ts';
import { SLOT_LOOK_MS } from '../limits.ts';
import type { Execution, HandlerState, Handlers, Mutation, Run, Workflow } from '../rows.ts';
import { BUSY_EXECUTION, type ExecutionStatus, type Trigger } from '../states.ts';
import { boundaryOfRun } from './boundary.ts';
import { lastRunRow, scriptRow, workflowRow } from './find.ts';

/** One thing a session could do, and from when on. Listed in the order a session does them. */
export type Work =
  | { readonly kind: 'retry'; readonly run: RunId; readonly at: number }
  | { readonly kind: 'delivery'; readonly handler: string; readonly delivery: DeliveryId; readonly at: number }
  | { readonly kind: 'producer'; readonly handler: string; readonly at: number }
  | { readonly kind: 'consumer'; readonly handler: string; readonly woken: boolean; readonly at: number };

/** 0 means at once: a time that has always come. */
const AT_ONCE = 0;
/** A consumer that no event waits for comes last. */
const AFTER_ALL_IDS = '~';

/**
 * Everything a workflow has to do: the pending retry; set-aside runs that may go on, oldest first; producers; consumers, oldest
 * pending event first. While a retry is pending no other consumer runs.
 */
export function workOf(draft: Draft, workflow: Workflow): Work[] {
  assert(workflow.activeScriptId, `workflow ${workflow.id} has no version to work with`);
  const { handlers } = scriptRow(draft, workflow.activeScriptId);
  const states = new Map(draft.find('handlerStates', workflow.id).map((state) => [state.handlerName, state]));
  const work: Work[] = [...retries(draft, workflow, states), ...setAsideRetries(draft, workflow, states)];
  work.push(...deliveries(draft, workflow, handlers, states), ...producers(handlers, states));
  if (workflow.pendingRetryRunId === null) work.push(...consumers(draft, workflow, handlers, states));
  return work;
}

function retries(draft: Draft, workflow: Workflow, states: ReadonlyMap<string, HandlerState>): Work[] {
  if (workflow.pendingRetryRunId === null) return [];
  const run = draft.one('run', workflow.pendingRetryRunId);
  return run && mayRetry(draft, run)
    ? [{ kind: 'retry', run: run.id, at: notBefore(states.get(run.handlerName)) }]
    : [];
}

function setAsideRetries(draft: Draft, workflow: Workflow, states: ReadonlyMap<string, HandlerState>): Work[] {
  return draft
    .find('openLedger', workflow.id)
    .filter((row) => row.setAsideAt !== null)
    .sort(byId)
    .map((row) => lastRunRow(draft, row.rootRunId))
    .filter((run) => run.id !== workflow.pendingRetryRunId && run.status !== 'active' && mayRetry(draft, run))
    .map((run) => ({ kind: 'retry', run: run.id, at: notBefore(states.get(run.handlerName)) }));
}

/** After the boundary only `next` is left; an approved call may be sent as it was recorded. */
function mayRetry(draft: Draft, run: Run): boolean {
  const boundary = boundaryOfRun(draft, run);
  return boundary === 'after' || (boundary === 'held' && isApproved(draft.one('ledger', run.rootRunId)));
}

function isApproved(ledger: Mutation | undefined): boolean {
  return ledger?.approvedAt != null;
}

/**
 * Oldest first, and the oldest of each webhook by itself: one that this version dropped, or that waits out a backoff, must not
 * stand before the others.
 */
function deliveries(
  draft: Draft,
  workflow: Workflow,
  handlers: Handlers,
  states: ReadonlyMap<string, HandlerState>,
): Work[] {
  return handlers.producers
    .filter((producer) => producer.webhook)
    .flatMap(({ name }) => draft.find('deliveriesTo', workflow.id, name).sort(byId).slice(0, 1))
    .sort(byId)
    .map(({ id, handlerName }) => {
      return { kind: 'delivery', handler: handlerName, delivery: id, at: notBefore(states.get(handlerName)) };
    });
}

function producers(handlers: Handlers, states: ReadonlyMap<string, HandlerState>): Work[] {
  const work: Work[] = [];
  for (const { name } of handlers.producers) {
    const state = states.get(name);
    if (state?.nextAt == null) continue;
    work.push({ kind: 'producer', handler: name, at: Math.max(state.nextAt, notBefore(state)) });
  }
  return work;
}

function consumers(
  draft: Draft,
  workflow: Workflow,
  handlers: Handlers,
  states: ReadonlyMap<string, HandlerState>,
): Work[] {
  const heads = draft.headsOf(workflow);
  const waiting: { oldestId: string; work: Work }[] = [];
  for (const { name, subscribe } of handlers.consumers) {
    const state = states.get(name);
    const own = heads.filter((head) => subscribe.includes(head.topic));
    const fresh = own.filter((head) => state?.restedSeq == null || head.newestSeq > state.restedSeq);
    const oldestId = own.map((head) => head.oldestId).sort(compare)[0] ?? AFTER_ALL_IDS;
    if (fresh.length > 0) {
      waiting.push({ oldestId, work: { kind: 'consumer', handler: name, woken: false, at: notBefore(state) } });
    } else if (state?.wakeAt != null) {
      const at = Math.max(state.wakeAt, notBefore(state));
      waiting.push({ oldestId, work: { kind: 'consumer', handler: name, woken: true, at } });
    }
  }
  return waiting.sort((a, b) => compare(a.oldestId, b.oldestId)).map(({ work }) => work);
}

function notBefore(state: HandlerState | undefined): number {
  return state?.backoffUntil ?? AT_ONCE;
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export const TRIGGER_OF: Readonly<Record<Work['kind'], Trigger>> = {
  retry: 'retry',
  delivery: 'webhook',
  producer: 'schedule',
  consumer: 'event',
};

/** After a cancel only what comes from outside starts the workflow again. */
export function mayStart(workflow: Workflow, work: Work): boolean {
  return !workflow.quiet || work.kind === 'producer';
}

export function isStartable(workflow: Workflow): boolean {
  return workflow.status === 'active' && !workflow.maintenance;
}

export function isBusy(draft: Draft, workflow: Workflow): boolean {
  return busyExecution(draft, workflow) !== undefined;
}

/** The execution that holds the workflow, if any: nothing else of it may be scheduled. */
export function busyExecution(draft: Draft, workflow: Workflow): Execution | undefined {
  return draft
    .find('openExecutions', workflow.id)
    .find(({ status }) => (BUSY_EXECUTION as readonly ExecutionStatus[]).includes(status));
}

/**
 * Set when the scheduler must next look. Null while an execution is under way (its end looks again) and while a hold or a
 * repair stands (its lifting looks again).
 */
export function reschedule(draft: Draft, id: WorkflowId): void {
  const workflow = workflowRow(draft, id);
  const due = dueAt(draft, workflow);
  const sameMoment =
    due === workflow.dueAt ||
    (due !== null && workflow.dueAt !== null && due <= draft.now && workflow.dueAt <= draft.now);
  if (!sameMoment)
    draft.write({ set: 'workflow.due', workflow: id, at: due === null ? null : Math.max(due, draft.now) });
}

export function dueAt(draft: Draft, workflow: Workflow): number | null {
  if (!isStartable(workflow)) return null;
  if (isBusy(draft, workflow)) return null;
  // Under way but not busy: a request that waits to be scheduled, or for room under a limit.
  const [waiting] = draft.find('openExecutions', workflow.id);
  if (waiting) return waiting.waitsFor === null ? AT_ONCE : draft.now + SLOT_LOOK_MS;
  const times = workOf(draft, workflow)
    .filter((work) => mayStart(workflow, work))
    .map((work) => work.at);
  return times.length > 0 ? Math.min(...times) : null;
}
