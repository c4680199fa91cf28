import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Execution } from '../rows.ts';
import { endExecution } from '../rule/end-execution.ts';
import { mustStep } from '../rule/execution-step.ts';
import { executionOf } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { beginQuiet } from '../rule/settle.ts';
import { endSession, sendMessage, stopRun } from '../rule/stop.ts';
import { reschedule } from '../rule/work.ts';
import type { ExecutionEnd } from '../states.ts';

/**
 * The owner is dead or must be taken for dead. First the epoch, so that nothing it still does can land; then its active run, by
 * the boundary. A session without one had only committed runs: it is completed.
 */
export function reapExecution(draft: Draft, command: CommandOf<'reapExecution'>): ReplyTo<'reapExecution'> {
  const execution = executionOf(draft, command.execution);
  mustStep(execution, 'abandoned');
  if (execution.epoch !== command.epoch) {
    refuse(
      'fenced',
      `execution ${execution.id} has moved on`,
      `it is at epoch ${execution.epoch}, not ${command.epoch}`,
      {
        next: ['look again: somebody else was faster'],
        ids: { execution: execution.id },
      },
    );
  }
  if (!command.provenDead && command.timeoutMs === undefined) mustHaveExpired(draft, execution);
  draft.write({ set: 'execution.fenced', execution: execution.id, from: execution.epoch, to: execution.epoch + 1 });
  const { timeoutMs } = command;
  const ended = endFor(execution, timeoutMs !== undefined);
  const session = draft.one('openSession', execution.workflowId);
  if (!session || session.executionId !== execution.id)
    return { ended: endUnclaimed(draft, execution, ended), run: null };
  const active = draft.one('activeRun', execution.workflowId);
  if (!active) {
    endSession(draft, session, { to: ended, timeoutMs });
    return { ended, run: null };
  }
  const error = timeoutMs !== undefined ? 'the session took too long' : 'its process died';
  const stop = { error, callEnded: command.provenDead };
  return { ended, run: stopRun(draft, active, 'crashed', stop, { to: ended, timeoutMs }) };
}

function endFor(execution: Execution, isLate: boolean): ExecutionEnd {
  if (execution.cancelRequestedAt !== null) return 'cancelled';
  return isLate ? 'timeout' : 'abandoned';
}

/** The database's clock decides, not the worker's: until its lease has run out it may still be writing. */
function mustHaveExpired(draft: Draft, execution: Execution): void {
  const worker = execution.owner === null ? undefined : draft.one('worker', execution.owner);
  if (!worker || worker.endedAt !== null || worker.leaseUntil <= draft.now) return;
  refuse('too-early', `worker ${worker.id} still holds execution ${execution.id}`, 'its lease has not run out', {
    next: ['come back when it has'],
    notBefore: worker.leaseUntil,
    retryable: true,
    ids: { execution: execution.id, worker: worker.id },
  });
}

/** Handed off, and nobody came: the work itself is untouched and due again. */
function endUnclaimed(draft: Draft, execution: Execution, ended: ExecutionEnd): ExecutionEnd {
  endExecution(draft, execution, ended);
  if (execution.cancelRequestedAt !== null) beginQuiet(draft, execution.workflowId);
  sendMessage(draft, 'execution.completed', execution);
  reschedule(draft, execution.workflowId);
  return ended;
}
