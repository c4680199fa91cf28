import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { SCHEDULING_LEASE_MS } from '../limits.ts';
import type { Execution } from '../rows.ts';
import { mustStep } from '../rule/execution-step.ts';
import { executionOf, workflowRow } from '../rule/find.ts';
import { refuse } from '../rule/refusal.ts';
import { checkSlots, isFull, limitsOf, takeSlots } from '../rule/slots.ts';
import { isBusy, isStartable, reschedule } from '../rule/work.ts';

/** The executor takes a request: from here it has a lease to hand it off, or the sweeper gives it back. */
export function beginScheduling(draft: Draft, command: CommandOf<'beginScheduling'>): ReplyTo<'beginScheduling'> {
  const execution = executionOf(draft, command.execution);
  mustStep(execution, 'scheduling');
  const workflow = workflowRow(draft, execution.workflowId);
  if (!isStartable(workflow) || isBusy(draft, workflow)) {
    const why = isStartable(workflow)
      ? 'another execution of it is under way'
      : workflow.holds.join(', ') || 'it needs a repair';
    refuse('held', `workflow ${workflow.name} cannot be scheduled now`, why, {
      next: ['the request waits; it is taken up when the way is free'],
      ids: { workflow: workflow.id, execution: execution.id },
    });
  }
  const { slots = [] } = command;
  checkSlots(slots);
  const limits = limitsOf(draft, slots);
  const full = limits.filter((limit) => isFull(draft, limit))[0];
  if (full) return wait(draft, execution, full.name);
  takeSlots(draft, execution, limits);
  const until = draft.now + SCHEDULING_LEASE_MS;
  draft.write({ set: 'execution.scheduling', execution: execution.id, until, slots: limits.map(({ name }) => name) });
  reschedule(draft, workflow.id);
  return { until };
}

/** It stays a request. Whoever ends and frees a place is heard of, and the oldest that waits for it comes first. */
function wait(draft: Draft, { id, workflowId, waitsFor }: Execution, limit: string): { waitsFor: string } {
  if (waitsFor !== limit) draft.write({ set: 'execution.waits', execution: id, for: limit });
  reschedule(draft, workflowId);
  return { waitsFor: limit };
}
