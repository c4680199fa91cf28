import { assert } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Execution } from '../rows.ts';
import { endExecution } from '../rule/end-execution.ts';
import { mustStep } from '../rule/execution-step.ts';
import { executionOf } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { freeSlots } from '../rule/slots.ts';
import { reschedule } from '../rule/work.ts';
import { fold, requested } from './request-execution.ts';

/** An executor died between taking a request and handing it off: the request waits again. */
export function sweepScheduling(draft: Draft, command: CommandOf<'sweepScheduling'>): ReplyTo<'sweepScheduling'> {
  const execution = executionOf(draft, command.execution);
  mustStep(execution, 'requested');
  const { schedulingUntil } = execution;
  assert(schedulingUntil !== null, `execution ${execution.id} is being scheduled without a lease`);
  if (schedulingUntil > draft.now) {
    refuse('too-early', `execution ${execution.id} is being scheduled`, 'its scheduling lease has not run out', {
      next: ['come back when it has'],
      notBefore: schedulingUntil,
      retryable: true,
      ids: { execution: execution.id },
    });
  }
  giveBack(draft, execution);
  reschedule(draft, execution.workflowId);
  return { requested: true };
}

/** One request waits at a time: where another came meanwhile, this one is folded into it and is over. */
function giveBack(draft: Draft, execution: Execution): void {
  const waiting = requested(draft, execution.workflowId);
  if (waiting) {
    fold(draft, waiting, execution.trigger);
    return endExecution(draft, execution, 'cancelled');
  }
  freeSlots(draft, execution);
  draft.write({ set: 'execution.returned', execution: execution.id });
}
