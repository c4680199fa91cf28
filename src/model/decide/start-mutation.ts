import { assert, sha256 } from '#base';
import type { Call, CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import {
  APPROVAL_MS_MAX,
  NAME_CHARS_MAX,
  RESULT_CHARS_MAX,
  TITLE_CHARS_MAX,
  VISIBILITY_MS_DEFAULT,
} from '../limits.ts';
import type { ConsumerRun, Event, Execution, Mutation, Workflow } from '../rows.ts';
import { fencedRun, mustBeActive, mustBeConsumer, workflowRow } from '../rule/find.ts';
import { checkJson, checkText, refuse } from '../rule/refusal.ts';
import { stopRun } from '../rule/stop.ts';

/**
 * The ledger row, before the first byte goes out. Whatever stops the run from here on, the row says that the call may have
 * happened. A call that needs approval is recorded the same way, and waits.
 */
export function startMutation(draft: Draft, command: CommandOf<'startMutation'>): ReplyTo<'startMutation'> {
  const found = fencedRun(draft, command.fence, command.run);
  const run = mustBeConsumer(found.run);
  mustBeActive(run, 'sent on a call');
  if (run.phase !== 'mutating') {
    refuse('wrong-phase', `run ${run.id} is ${run.phase}, so it cannot make a call`, 'calls are made while mutating', {
      next: ['move it to mutating first'],
      ids: { run: run.id },
    });
  }
  const made = draft.one('ledger', run.rootRunId);
  if (made) {
    refuse('wrong-state', `run ${run.id} has made its call already: ${made.id}`, 'a run makes at most one call', {
      next: ['make one call in mutate'],
      ids: { run: run.id, mutation: made.id },
    });
  }
  checkCall(command.call);
  const reason = whyNot(workflowRow(draft, run.workflowId), found.execution);
  if (reason) return { ...stopRun(draft, run, 'cancelled', { error: reason }), reason };
  return record(draft, run, command.call);
}

function checkCall(call: Call): void {
  checkText('the connection', call.connection, NAME_CHARS_MAX);
  checkText('the method', call.method, NAME_CHARS_MAX);
  checkJson('the call', call.params, RESULT_CHARS_MAX);
  checkText('the preview', call.preview, RESULT_CHARS_MAX);
  if (call.title !== null) checkText('the title', call.title, TITLE_CHARS_MAX);
  if (call.approvalWhy !== undefined) checkText('why it is asked for', call.approvalWhy, RESULT_CHARS_MAX);
  if (!(call.timeoutMs > 0 && Number.isSafeInteger(call.timeoutMs)))
    refuse('invalid', `a call with a timeout of ${call.timeoutMs} ms cannot be made`, 'it would never be over', {
      next: ['give it a timeout in milliseconds'],
    });
  const { visibilityMs = VISIBILITY_MS_DEFAULT } = call;
  if (!(visibilityMs >= 0 && Number.isSafeInteger(visibilityMs)))
    refuse(
      'invalid',
      `a call with a visibility delay of ${visibilityMs} ms cannot be made`,
      'nobody could tell when it shows',
      {
        next: ['give it a delay in milliseconds, or none'],
      },
    );
}

/** Nothing may go out while anyone or anything asked the workflow to stand still. */
function whyNot(workflow: Workflow, execution: Execution): string | undefined {
  if (execution.cancelRequestedAt !== null) return `cancelled by ${execution.cancelRequestedBy}`;
  if (workflow.holds.length > 0) return `the workflow is on hold: ${workflow.holds.join(', ')}`;
  if (workflow.maintenance) return 'the workflow waits for a repair';
  return undefined;
}

function record(draft: Draft, run: ConsumerRun, call: Call): ReplyTo<'startMutation'> {
  const events = draft.find('reserved', run.id).sort((a, b) => (a.id < b.id ? -1 : 1));
  const first = events[0];
  assert(first, `run ${run.id} is mutating and has reserved nothing`);
  const row = ledgerRow(draft, run, call, events, first);
  draft.write({ set: 'mutation.recorded', row });
  if (call.needsApproval) {
    const reason = call.approvalWhy ?? `${call.connection}.${call.method} needs approval`;
    return { ...stopRun(draft, run, 'paused:approval', { error: reason }), mutation: row.id, reason };
  }
  return { mutation: row.id, idempotencyKey: row.idempotencyKey, deadline: draft.now + call.timeoutMs };
}

function ledgerRow(draft: Draft, run: ConsumerRun, call: Call, events: readonly Event[], first: Event): Mutation {
  const effectHash = sha256(
    JSON.stringify([
      run.workflowId,
      run.handlerName,
      events.map((e) => e.id),
      call.connection,
      call.method,
      call.params,
    ]),
  );
  // After the provider's own refusal the same call is a new request; after anything else it must look the same to the provider.
  const refusals = draft
    .find('ledgerOfEvent', first.id)
    .filter((row) => row.effectHash === effectHash && row.status === 'failed' && row.resolvedBy === 'provider').length;
  return {
    id: draft.newId('mutation'),
    handlerRunId: run.id,
    rootRunId: run.rootRunId,
    scriptId: run.scriptId,
    workflowId: run.workflowId,
    status: call.needsApproval ? 'pending' : 'in_flight',
    connection: call.connection,
    method: call.method,
    params: call.params,
    effectHash,
    eventIds: events.map((event) => event.id),
    firstEventId: first.id,
    idempotencyKey: sha256(`${effectHash} ${refusals}`).slice(0, 32),
    uiTitle: call.title,
    preview: call.preview,
    result: null,
    error: null,
    canReconcile: call.canReconcile,
    visibilityMs: call.visibilityMs ?? VISIBILITY_MS_DEFAULT,
    callTimeoutMs: call.timeoutMs,
    callDeadline: call.needsApproval ? null : draft.now + call.timeoutMs,
    callEndedAt: null,
    approvedAt: null,
    approvedBy: null,
    approvalExpiresAt: call.needsApproval ? draft.now + APPROVAL_MS_MAX : null,
    reconcileAt: null,
    reconcileOwner: null,
    reconcileUntil: null,
    reconcileCount: 0,
    setAsideAt: null,
    resolvedBy: null,
    resolvedByName: null,
    resolvedAt: null,
    createdAt: draft.now,
  };
}
