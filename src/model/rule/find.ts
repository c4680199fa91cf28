import type { EventId, ExecutionId, MutationId, RunId, WorkflowId } from '#base';
import { assert } from '#base';
import type { Fence } from '../command.ts';
import type { Draft } from '../draft.ts';
import { NAME_CHARS_MAX } from '../limits.ts';
import type { ConsumerRun, ConsumerSpec, Event, Execution, Mutation, Run, Script, Session, Workflow } from '../rows.ts';
import type { Worker } from '../rows-of-fleet.ts';
import { isLiveStatus } from '../states.ts';
import { checkId, checkText, notFound, refuse } from './refusal.ts';

/** Rows by the ids a command names; each id is checked, each missing row refused in words. */

export function workflowOf(draft: Draft, id: WorkflowId): Workflow {
  checkId('workflow', id);
  return draft.one('workflow', id) ?? notFound('workflow', id);
}

export function executionOf(draft: Draft, id: ExecutionId): Execution {
  checkId('execution', id);
  return draft.one('execution', id) ?? notFound('execution', id);
}

export function runOf(draft: Draft, id: RunId): Run {
  checkId('run', id);
  return draft.one('run', id) ?? notFound('run', id);
}

export function mutationOf(draft: Draft, id: MutationId): Mutation {
  checkId('mutation', id);
  return draft.one('mutation', id) ?? notFound('mutation', id);
}

export function eventOf(draft: Draft, id: EventId): Event {
  checkId('event', id);
  return draft.one('event', id) ?? notFound('event', id);
}

/** Rows that other rows point at are there: references say so, or they are never deleted. */
export function workflowRow(draft: Draft, id: WorkflowId): Workflow {
  const workflow = draft.one('workflow', id);
  assert(workflow, `workflow ${id} is missing`);
  return workflow;
}

export function scriptRow(draft: Draft, id: Script['id']): Script {
  const script = draft.one('script', id);
  assert(script, `script ${id} is missing`);
  return script;
}

export function sessionRow(draft: Draft, id: Session['id']): Session {
  const session = draft.one('session', id);
  assert(session, `session ${id} is missing`);
  return session;
}

export function executionRow(draft: Draft, id: ExecutionId): Execution {
  const execution = draft.one('execution', id);
  assert(execution, `execution ${id} is missing`);
  return execution;
}

export function lastRunRow(draft: Draft, root: RunId): Run {
  const run = draft.lastRunOf(root);
  assert(run, `chain ${root} has no run`);
  return run;
}

/** Only the worker that claimed an execution, at the epoch it claimed it, may act for it. */
export function fenced(draft: Draft, fence: Fence): { execution: Execution; session: Session } {
  const execution = executionOf(draft, fence.execution);
  if (execution.status !== 'running' || execution.epoch !== fence.epoch || execution.owner !== fence.owner) {
    refuse(
      'fenced',
      `execution ${execution.id} no longer belongs to ${fence.owner}`,
      `it is ${execution.status} at epoch ${execution.epoch} for ${execution.owner ?? 'nobody'}; you came with epoch ${fence.epoch}`,
      {
        next: ['stop: kill the sandbox, send nothing, report what you know as evidence'],
        ids: { execution: execution.id },
      },
    );
  }
  const session = draft.one('openSession', execution.workflowId);
  assert(session?.executionId === execution.id, `running execution ${execution.id} has no open session`);
  return { execution, session };
}

export function fencedRun(draft: Draft, fence: Fence, id: RunId): { run: Run; execution: Execution; session: Session } {
  const { execution, session } = fenced(draft, fence);
  const run = runOf(draft, id);
  if (run.scriptRunId !== session.id) {
    refuse(
      'fenced',
      `run ${run.id} is not of session ${session.id}`,
      'a worker may only touch runs of the session it holds',
      {
        next: ['use the run the session started'],
        ids: { run: run.id, session: session.id },
      },
    );
  }
  return { run, execution, session };
}

export function mustBeActive(run: Run, verb: string): void {
  if (run.status === 'active') return;
  refuse('not-active', `run ${run.id} is ${run.status}, so it cannot be ${verb}`, 'a run stops or commits once', {
    next: [{ label: 'see what became of it', argv: ['pawl', 'show', run.id] }],
    ids: { run: run.id },
  });
}

export function mustBeConsumer(run: Run): ConsumerRun {
  if (run.handlerType === 'consumer') return run;
  return refuse(
    'wrong-state',
    `run ${run.id} is of producer ${run.handlerName}`,
    'only consumers have phases, reservations and calls',
    {
      next: ['commit it with commitProducer'],
      ids: { run: run.id },
    },
  );
}

export function consumerSpec(script: Script, name: string): ConsumerSpec | undefined {
  return script.handlers.consumers.find((consumer) => consumer.name === name);
}

/** The version a retry of this run would run under: the active one if it has the consumer, else the run's own. */
export function retryScript(draft: Draft, workflow: Workflow, run: Run): Script {
  assert(workflow.activeScriptId, `workflow ${workflow.id} ran without a version`);
  const active = scriptRow(draft, workflow.activeScriptId);
  return consumerSpec(active, run.handlerName) ? active : scriptRow(draft, run.scriptId);
}

export function mustBeNamed(by: string): void {
  checkText('the name of the person who does this', by, NAME_CHARS_MAX);
}

export function audit(draft: Draft, by: string, act: string, subject: string, detail = ''): void {
  draft.write({ set: 'audit.appended', at: draft.now, actor: by, act, subject, detail });
}

/** An incarnation that has ended never comes back. */
export function livingWorker(draft: Draft, id: Worker['id']): Worker {
  checkId('worker', id);
  const worker = draft.one('worker', id) ?? notFound('worker', id);
  if (worker.endedAt === null) return worker;
  return refuse('wrong-state', `worker ${id} has ended`, 'an incarnation ends once', {
    next: ['register a new one'],
    ids: { worker: id },
  });
}

export function mustBeLive(workflow: Workflow, verb: string): void {
  if (isLiveStatus(workflow.status)) return;
  refuse(
    'wrong-state',
    `workflow ${workflow.name} is ${workflow.status}, so it cannot be ${verb}`,
    'it has no active version',
    {
      next: [{ label: 'deploy a version', argv: ['pawl', 'deploy'] }],
      ids: { workflow: workflow.id },
    },
  );
}
