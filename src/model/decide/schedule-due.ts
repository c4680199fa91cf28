import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Workflow } from '../rows.ts';
import { workflowOf, workflowRow } from '../rule/find.ts';
import { endQuiet } from '../rule/settle.ts';
import { isBusy, isStartable, mayStart, reschedule, TRIGGER_OF, workOf } from '../rule/work.ts';
import type { Trigger } from '../states.ts';
import { request, requested } from './request-execution.ts';

/** The scheduler's look at a workflow whose time has come: what is due becomes a request, or the time is set anew. */
export function scheduleDue(draft: Draft, command: CommandOf<'scheduleDue'>): ReplyTo<'scheduleDue'> {
  const workflow = workflowOf(draft, command.workflow);
  const waiting = requested(draft, workflow.id);
  if (waiting && isStartable(workflow) && !isBusy(draft, workflow)) return { execution: waiting.id };
  const trigger = dueTrigger(draft, workflow);
  if (trigger) {
    endQuiet(draft, workflow.id);
    return { execution: request(draft, workflow, trigger).execution };
  }
  reschedule(draft, workflow.id);
  return { idle: workflowRow(draft, workflow.id).dueAt };
}

function dueTrigger(draft: Draft, workflow: Workflow): Trigger | undefined {
  if (!isStartable(workflow) || isBusy(draft, workflow)) return undefined;
  const work = workOf(draft, workflow).find((candidate) => mayStart(workflow, candidate) && candidate.at <= draft.now);
  if (!work) return undefined;
  return work.kind === 'consumer' && work.woken ? 'wake' : TRIGGER_OF[work.kind];
}
