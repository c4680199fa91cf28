import { assert, type EventId } from '#base';
import type { ApprovalCause, StopOptions, Stopped } from '../command.ts';
import type { Draft } from '../draft.ts';
import { ABANDONED_MAX, FAILED_REPAIRS_MAX, NAME_CHARS_MAX, TRANSIENT_MS_MAX } from '../limits.ts';
import type { Event, Mutation, Run, Session } from '../rows.ts';
import { type ExecutionEnd, MESSAGE_VERSION, type StopStatus } from '../states.ts';
import { boundaryOf, ON_BOUNDARY } from './boundary.ts';
import { endExecution } from './end-execution.ts';
import { consumerSpec, eventOf, executionRow, scriptRow, sessionRow, workflowRow } from './find.ts';
import { backoffMs, keep, keptState } from './keep.ts';
import { checkCost, checkText, checkWhole, checkWord, refuse } from './refusal.ts';
import { beginQuiet } from './settle.ts';
import { changeStanding } from './standing.ts';
import { reschedule } from './work.ts';

/**
 * Every failure, pause, crash and cancel of a run, in one place: the boundary decides over events and pointer, the asked status
 * over holds and repairs, and the session ends with it, all in one transaction.
 */
export function stopRun(draft: Draft, run: Run, asked: StopStatus, options: StopOptions, end?: Ending): Stopped {
  const ledger = draft.one('ledger', run.rootRunId);
  const reserved = draft.find('reserved', run.id);
  const boundary = boundaryOf(run, ledger, reserved.length);
  // While the outcome is unknown that is what matters: the asked status is kept only as a word.
  const known = boundary === 'unknown' ? undefined : mustBeKnown(run, asked);
  if (known === 'paused:approval' && boundary !== 'held') mustHaveCause(run, options.cause);
  for (const suspect of options.suspects ?? []) eventOf(draft, suspect);
  checkCost(options.cost);
  if (options.nextAt != null) checkWhole('the next time', options.nextAt);
  const status = known ?? 'paused:reconciliation';
  draft.write({
    set: 'run.stopped',
    run: run.id,
    status,
    error: options.error,
    errorType: status === asked ? (options.errorType ?? null) : asked,
    suspects: options.suspects ?? [],
    cost: options.cost ?? 0,
    at: draft.now,
  });
  if (ledger?.status === 'in_flight') loseTrack(draft, ledger, options);
  if (ON_BOUNDARY[boundary].events === 'release') releaseEvents(draft, run);
  if (ON_BOUNDARY[boundary].pointer) pointAt(draft, run, ledger);
  if (reserved.length === 0) wakeAgain(draft, run);
  if (end?.to === 'abandoned') countCrash(draft, run, reserved);
  if (known) applyAsked(draft, run, known, options);
  changeStanding(draft, run.workflowId);
  const session = sessionRow(draft, run.scriptRunId);
  endSession(draft, session, end ?? { to: endOf(draft, session, asked, options) }, {
    error: options.error,
    cost: options.cost ?? 0,
  });
  return { run: run.id, status };
}

type KnownStop = Exclude<StopStatus, 'paused:reconciliation'>;

function mustBeKnown(run: Run, asked: StopStatus): KnownStop {
  if (asked !== 'paused:reconciliation') return asked;
  return refuse(
    'wrong-state',
    `run ${run.id} has no call of unknown outcome`,
    'paused:reconciliation is for calls nobody can tell about',
    {
      next: ['stop it with the status of its error'],
      ids: { run: run.id },
    },
  );
}

function mustHaveCause(run: Run, cause: ApprovalCause | undefined): void {
  if (!cause) {
    refuse('invalid', `run ${run.id} cannot wait for an approval nobody can give`, 'paused:approval needs its cause', {
      next: ['name the connection that refused, or the missing permission'],
      ids: { run: run.id },
    });
  }
  checkWord('a cause to wait for', cause.kind, ['auth', 'permission']);
  if (cause.kind === 'permission') return;
  checkText('the connection that refused', cause.connection, NAME_CHARS_MAX);
  checkWhole('the version of the connection', cause.version);
}

/** The call may or may not have happened, and from now on nobody is awaiting its answer. */
function loseTrack(draft: Draft, ledger: Mutation, options: StopOptions): void {
  draft.write({
    set: 'mutation.unknown',
    mutation: ledger.id,
    from: 'in_flight',
    to: ledger.canReconcile ? 'needs_reconcile' : 'indeterminate',
    error: options.error,
    callEndedAt: options.callEnded ? draft.now : null,
    reconcileAt: ledger.canReconcile ? draft.now : null,
    reconcileCount: 0,
  });
}

/** Released events count as newly pending: a resting consumer wakes for them. */
export function releaseEvents(draft: Draft, run: Run): void {
  const count = draft.find('reserved', run.id).length;
  if (count === 0) return;
  draft.write({ set: 'events.released', run: run.id, count, pendingSeq: nextSeq(draft, run.workflowId) });
}

/**
 * A run that reserved nothing has already overwritten the wake time its consumer had, and its commit never came: the consumer
 * has not rested, and what it was woken for is owed.
 */
function wakeAgain(draft: Draft, run: Run): void {
  if (run.handlerType !== 'consumer' || run.phase === 'preparing') return;
  keep(draft, keptState(draft, run.workflowId, run.handlerName), { wakeAt: draft.now });
}

/** Every transaction that makes events pending raises the workflow's event clock, once. */
export function nextSeq(draft: Draft, workflowId: Run['workflowId']): number {
  const { eventSeq } = workflowRow(draft, workflowId);
  draft.write({ set: 'workflow.seq', workflow: workflowId, from: eventSeq, to: eventSeq + 1 });
  return eventSeq + 1;
}

/** The next session begins with this run. Where another run holds the pointer, this one was set aside before, and is again. */
function pointAt(draft: Draft, run: Run, ledger: Mutation | undefined): void {
  const workflow = workflowRow(draft, run.workflowId);
  if (workflow.pendingRetryRunId === null) {
    draft.write({ set: 'workflow.retry', workflow: workflow.id, from: null, to: run.id });
  } else {
    assert(ledger, `run ${run.id} is past its boundary while ${workflow.pendingRetryRunId} waits, and made no call`);
    draft.write({ set: 'mutation.setAside', mutation: ledger.id, from: null, to: draft.now });
  }
}

function applyAsked(draft: Draft, run: Run, asked: KnownStop, options: StopOptions): void {
  switch (asked) {
    case 'paused:approval':
      if (options.cause) awaitApproval(draft, run, options.cause, options.error);
      return;
    case 'paused:transient':
      return backOff(draft, run, options);
    case 'failed:logic':
      return needRepair(draft, run);
    case 'failed:internal':
      return changeStanding(draft, run.workflowId, { put: ['error'], errorReason: options.error });
    case 'cancelled':
      return useUpTick(draft, run, options.nextAt);
    case 'crashed':
      return;
  }
}

/** The tick a cancelled producer ran for must not start it again at once: after a cancel the next trigger does. */
function useUpTick(draft: Draft, run: Run, nextAt: number | null | undefined): void {
  const isTick = run.handlerType === 'producer' && run.deliveryId === null;
  if (nextAt === undefined || !isTick || run.scriptId !== workflowRow(draft, run.workflowId).activeScriptId) return;
  keep(draft, keptState(draft, run.workflowId, run.handlerName), { nextAt });
}

/** A refusal of credentials that have been renewed since must not hold anyone. */
function awaitApproval(draft: Draft, run: Run, cause: ApprovalCause, error: string): void {
  if (cause.kind === 'permission') return changeStanding(draft, run.workflowId, { grantMissing: true });
  const { connection: name, version } = cause;
  const row = draft.one('connection', name);
  if (row && row.version !== version) return;
  if (!row)
    draft.write({ set: 'connection.created', row: { name, version, refusedAt: draft.now, refusedReason: error } });
  else if (row.refusedAt === null) {
    draft.write({
      set: 'connection.changed',
      name,
      from: version,
      to: version,
      refusedAt: draft.now,
      refusedReason: error,
    });
  }
  const { heldConnections } = workflowRow(draft, run.workflowId);
  changeStanding(draft, run.workflowId, { heldConnections: [...new Set([...heldConnections, name])].sort() });
}

function backOff(draft: Draft, run: Run, options: StopOptions): void {
  const kept = keptState(draft, run.workflowId, run.handlerName);
  const transientSince = kept.transientSince ?? draft.now;
  const delayMs = backoffMs(run, kept.transientCount, options.retryAfterMs ?? 0);
  keep(draft, kept, { transientSince, transientCount: kept.transientCount + 1, backoffUntil: draft.now + delayMs });
  if (draft.now - transientSince >= TRANSIENT_MS_MAX) {
    const errorReason = `${run.handlerName} has not worked for a day: ${options.error}`;
    changeStanding(draft, run.workflowId, { put: ['error'], errorReason });
  }
}

function needRepair(draft: Draft, run: Run): void {
  const { maintenanceRunId } = workflowRow(draft, run.workflowId);
  draft.write({ set: 'workflow.maintenance', workflow: run.workflowId, from: maintenanceRunId, to: run.id });
  const kept = keptState(draft, run.workflowId, run.handlerName);
  const failedRepairs = kept.failedRepairs + (kept.repaired ? 1 : 0);
  keep(draft, kept, { failedRepairs, repaired: false });
  if (failedRepairs >= FAILED_REPAIRS_MAX) {
    const errorReason = `${run.handlerName} failed again after ${failedRepairs} repairs`;
    changeStanding(draft, run.workflowId, { put: ['error'], errorReason });
  }
}

/** A script that takes its process down would do so for ever: after three times on the same event a person must look. */
function countCrash(draft: Draft, run: Run, reserved: readonly Event[]): void {
  const kept = keptState(draft, run.workflowId, run.handlerName);
  const crashEventId = firstEventOf(draft, run, reserved);
  const crashCount = kept.crashCount > 0 && kept.crashEventId === crashEventId ? kept.crashCount + 1 : 1;
  keep(draft, kept, { crashCount, crashEventId });
  if (crashCount >= ABANDONED_MAX) {
    const errorReason = `${run.handlerName} took its process down ${crashCount} times on the same event`;
    changeStanding(draft, run.workflowId, { put: ['error'], errorReason });
  }
}

/** What it had reserved, or would look at next. A producer looks at none. */
function firstEventOf(draft: Draft, run: Run, reserved: readonly Event[]): EventId | null {
  const topics = consumerSpec(scriptRow(draft, run.scriptId), run.handlerName)?.subscribe ?? [];
  const heads = draft.headsOf(workflowRow(draft, run.workflowId)).filter(({ topic }) => topics.includes(topic));
  const ids = reserved.length > 0 ? reserved.map((event) => event.id) : heads.map((head) => head.oldestId);
  return ids.sort()[0] ?? null;
}

function endOf(draft: Draft, session: Session, asked: StopStatus, options: StopOptions): ExecutionEnd {
  const { cancelRequestedAt } = executionRow(draft, session.executionId);
  if (cancelRequestedAt !== null || asked === 'cancelled') return 'cancelled';
  return options.timeout ? 'timeout' : 'failed';
}

/** How the execution of a session ends; with the limit of its time, where that is why. */
export interface Ending {
  readonly to: ExecutionEnd;
  readonly timeoutMs?: number | undefined;
}

/** A session and its execution end together; what is due next is decided from the same snapshot. */
export function endSession(
  draft: Draft,
  session: Session,
  { to, timeoutMs }: Ending,
  failure?: { error: string; cost: number },
): void {
  if (failure) draft.write({ set: 'session.failed', session: session.id, ...failure, at: draft.now });
  else draft.write({ set: 'session.completed', session: session.id, at: draft.now });
  const execution = executionRow(draft, session.executionId);
  endExecution(draft, execution, to, timeoutMs);
  sendMessage(draft, 'execution.status_changed', execution);
  sendMessage(draft, 'execution.completed', execution);
  if (execution.cancelRequestedAt !== null) beginQuiet(draft, session.workflowId);
  reschedule(draft, session.workflowId);
}

export function sendMessage(
  draft: Draft,
  type:
    | 'enforcement.created'
    | 'execution.requested'
    | 'execution.scheduled'
    | 'execution.status_changed'
    | 'execution.completed',
  execution: { id: Session['executionId']; workflowId: Session['workflowId']; epoch: number },
): void {
  const { id: executionId, workflowId, epoch } = execution;
  const id = draft.newId('message');
  draft.write({
    set: 'message.sent',
    row: { id, type, executionId, workflowId, epoch, version: MESSAGE_VERSION, createdAt: draft.now },
  });
}
