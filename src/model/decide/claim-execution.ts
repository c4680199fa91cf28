import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Execution } from '../rows.ts';
import { endExecution } from '../rule/end-execution.ts';
import { mustStep } from '../rule/execution-step.ts';
import { executionOf, livingWorker, workflowRow } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { beginQuiet } from '../rule/settle.ts';
import { sendMessage } from '../rule/stop.ts';
import { reschedule } from '../rule/work.ts';
import { mustTakeWork } from '../rule/worker-status.ts';

/** A worker takes what was handed off, at the epoch of the handoff, and opens the session. */
export function claimExecution(draft: Draft, command: CommandOf<'claimExecution'>): ReplyTo<'claimExecution'> {
  const execution = executionOf(draft, command.execution);
  const { owner, epoch } = command;
  mustTakeWork(livingWorker(draft, owner));
  mustStep(execution, 'running');
  if (execution.epoch !== epoch) {
    refuse(
      'fenced',
      `execution ${execution.id} was handed off anew`,
      `it is at epoch ${execution.epoch}, the message says ${epoch}`,
      {
        next: ['drop the message'],
        ids: { execution: execution.id },
      },
    );
  }
  if (execution.cancelRequestedAt !== null) return cancel(draft, execution);
  const { activeScriptId } = workflowRow(draft, execution.workflowId);
  assert(activeScriptId, `workflow ${execution.workflowId} has no active version`);
  draft.write({ set: 'execution.running', execution: execution.id, epoch, owner, at: draft.now });
  const session = draft.newId('session');
  draft.write({
    set: 'session.created',
    row: {
      id: session,
      executionId: execution.id,
      scriptId: activeScriptId,
      workflowId: execution.workflowId,
      trigger: execution.trigger,
      result: '',
      error: null,
      cost: 0,
      handlerRunCount: 0,
      startTimestamp: draft.now,
      endTimestamp: null,
    },
  });
  sendMessage(draft, 'execution.status_changed', execution);
  return { session, fence: { execution: execution.id, epoch, owner } };
}

function cancel(draft: Draft, execution: Execution): { cancelled: true } {
  endExecution(draft, execution, 'cancelled');
  beginQuiet(draft, execution.workflowId);
  sendMessage(draft, 'execution.status_changed', execution);
  sendMessage(draft, 'execution.completed', execution);
  reschedule(draft, execution.workflowId);
  return { cancelled: true };
}
