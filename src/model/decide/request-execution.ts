import { assert, type ExecutionId, type WorkflowId } from '#base';
import type { CommandOf, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import type { Execution, Workflow } from '../rows.ts';
import { audit, mustBeNamed, scriptRow, workflowOf } from '../rule/find.ts';
import { keep, keptState } from '../rule/keep.ts';
import { checkWord, refuse } from '../rule/refusal.ts';
import { endQuiet } from '../rule/settle.ts';
import { isLive } from '../rule/standing.ts';
import { sendMessage } from '../rule/stop.ts';
import { busyExecution, reschedule } from '../rule/work.ts';
import { TRIGGERS, type Trigger } from '../states.ts';

/** Ask for a session. One request waits at a time: later ones are folded into it, and the strongest trigger stays. */
export function requestExecution(draft: Draft, command: CommandOf<'requestExecution'>): ReplyTo<'requestExecution'> {
  const workflow = workflowOf(draft, command.workflow);
  checkWord('a trigger', command.trigger, TRIGGERS);
  mustRun(workflow);
  if (command.trigger === 'manual') runNow(draft, workflow, command.by ?? '');
  endQuiet(draft, workflow.id);
  return request(draft, workflow, command.trigger);
}

function mustRun(workflow: Workflow): void {
  if (isLive(workflow)) return;
  refuse(
    'wrong-state',
    `workflow ${workflow.name} is ${workflow.status}, so it cannot run`,
    'only a workflow with an active version runs',
    {
      next: [{ label: 'deploy a version', argv: ['pawl', 'deploy'] }],
      ids: { workflow: workflow.id },
    },
  );
}

/** A person wants it now: every producer is due, nobody rests, nobody waits out a backoff. */
function runNow(draft: Draft, workflow: Workflow, by: string): void {
  mustBeNamed(by);
  const busy = busyExecution(draft, workflow);
  if (busy) {
    refuse('busy', `workflow ${workflow.name} is running already`, `execution ${busy.id} is ${busy.status}`, {
      next: ['wait until it ends', { label: 'watch it', argv: ['pawl', 'show', busy.id] }],
      ids: { workflow: workflow.id, execution: busy.id },
    });
  }
  if (workflow.status !== 'active' || workflow.maintenance) {
    refuse(
      'held',
      `workflow ${workflow.name} waits and cannot be run now`,
      workflow.maintenance ? 'it needs a repair' : workflow.holds.join(', '),
      {
        next: [{ label: 'see what it waits for', argv: ['pawl', 'status'] }],
        ids: { workflow: workflow.id },
      },
    );
  }
  assert(workflow.activeScriptId, `live workflow ${workflow.id} has no active version`);
  const { handlers } = scriptRow(draft, workflow.activeScriptId);
  for (const { name, webhook } of handlers.producers) {
    const kept = keptState(draft, workflow.id, name);
    keep(draft, kept, { backoffUntil: null, nextAt: webhook ? kept.nextAt : draft.now });
  }
  for (const { name } of handlers.consumers) {
    keep(draft, keptState(draft, workflow.id, name), { restedSeq: null, backoffUntil: null });
  }
  audit(draft, by, 'run now', workflow.id);
}

export function request(
  draft: Draft,
  workflow: Workflow,
  trigger: Trigger,
): { execution: ExecutionId; folded: boolean } {
  const waiting = requested(draft, workflow.id);
  const execution = waiting ?? newExecution(draft, workflow, trigger);
  if (waiting) fold(draft, waiting, trigger);
  else draft.write({ set: 'execution.requested', row: execution });
  const id = draft.newId('enforcement');
  draft.write({
    set: 'enforcement.created',
    row: { id, workflowId: workflow.id, executionId: execution.id, trigger, createdAt: draft.now },
  });
  sendMessage(draft, 'enforcement.created', execution);
  if (!waiting) sendMessage(draft, 'execution.requested', execution);
  reschedule(draft, workflow.id);
  return { execution: execution.id, folded: waiting !== undefined };
}

/** The request of a workflow that waits to be scheduled, if there is one. */
export function requested(draft: Draft, workflow: WorkflowId): Execution | undefined {
  return draft.find('openExecutions', workflow).find((execution) => execution.status === 'requested');
}

export function fold(draft: Draft, waiting: Execution, trigger: Trigger): void {
  if (TRIGGERS.indexOf(trigger) <= TRIGGERS.indexOf(waiting.trigger)) return;
  draft.write({ set: 'execution.folded', execution: waiting.id, from: waiting.trigger, to: trigger });
}

function newExecution(draft: Draft, workflow: Workflow, trigger: Trigger): Execution {
  return {
    id: draft.newId('execution'),
    workflowId: workflow.id,
    status: 'requested',
    trigger,
    epoch: 0,
    owner: null,
    cancelRequestedAt: null,
    cancelRequestedBy: null,
    schedulingUntil: null,
    requestedAt: draft.now,
    startedAt: null,
    endedAt: null,
    waitsFor: null,
    slots: [],
  };
}
