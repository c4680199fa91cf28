import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { mustStep } from '../rule/execution-step.ts';
import { executionOf } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { reschedule } from '../rule/work.ts';

/** An executor died between taking a request and handing it off: the request waits again. */
export function sweepScheduling(draft: Draft, command: CommandOf<'sweepScheduling'>): ReplyTo<'sweepScheduling'> {
  const execution = executionOf(draft, command.execution);
  mustStep(execution, 'requested');
  if ((execution.schedulingUntil ?? 0) > draft.now) {
    refuse('too-early', `execution ${execution.id} is being scheduled`, 'its scheduling lease has not run out', {
      next: ['come back when it has'],
      notBefore: execution.schedulingUntil ?? 0,
      retryable: true,
      ids: { execution: execution.id },
    });
  }
  draft.write({ set: 'execution.returned', execution: execution.id });
  reschedule(draft, execution.workflowId);
  return { requested: true };
}
