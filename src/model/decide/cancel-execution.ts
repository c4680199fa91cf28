import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { endExecution } from '../rule/end-execution.ts';
import { audit, executionOf, mustBeNamed } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { beginQuiet } from '../rule/settle.ts';
import { reschedule } from '../rule/work.ts';

/** Before the handoff the executor ends it, and no worker ever hears of it. After it, the owner reads a flag at its next safe point. */
export function cancelExecution(draft: Draft, command: CommandOf<'cancelExecution'>): ReplyTo<'cancelExecution'> {
  const execution = executionOf(draft, command.execution);
  mustBeNamed(command.by);
  if (execution.endedAt !== null || execution.cancelRequestedAt !== null) {
    const why = execution.endedAt !== null ? 'it is over' : `${execution.cancelRequestedBy} asked for it already`;
    refuse('wrong-state', `execution ${execution.id} is ${execution.status} and cannot be cancelled`, why, {
      next: [{ label: 'see what became of it', argv: ['pawl', 'show', execution.id] }],
      ids: { execution: execution.id },
    });
  }
  draft.write({ set: 'execution.cancelRequested', execution: execution.id, at: draft.now, by: command.by });
  audit(draft, command.by, 'cancel', execution.id);
  const handedOff = execution.status === 'scheduled' || execution.status === 'running';
  if (handedOff) return { cancelled: false };
  endExecution(draft, execution, 'cancelled');
  beginQuiet(draft, execution.workflowId);
  reschedule(draft, execution.workflowId);
  return { cancelled: true };
}
