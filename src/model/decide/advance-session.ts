import type { RunId } from '#base';
import type { CommandOf, ExpectedRun, ReplyTo } from '../command.ts';
import type { Draft } from '../draft.ts';
import { SESSION_RUNS_MAX, SESSION_STAY_MS_MAX } from '../limits.ts';
import type { Execution, Session, Workflow } from '../rows.ts';
import { fenced, runOf, workflowRow } from '../rule/find.ts';
import { keptState } from '../rule/keep.ts';
import { endSession } from '../rule/stop.ts';
import { isStartable, type Work, workOf } from '../rule/work.ts';
import type { ExecutionEnd } from '../states.ts';
import { retry } from './create-retry-run.ts';
import { mustBeIdle } from './finish-session.ts';
import { createRun } from './start-run.ts';

/**
 * The next run of a session, or its end when nothing is due, its budget or its time is used up, or something asks it to stand still. One that
 * stays waits instead where nothing is due.
 */
export function advanceSession(draft: Draft, command: CommandOf<'advanceSession'>): ReplyTo<'advanceSession'> {
  const { execution, session } = fenced(draft, command.fence);
  mustBeIdle(draft, session);
  const workflow = workflowRow(draft, session.workflowId);
  const isLate = draft.now - session.startTimestamp >= (command.timeoutMs ?? Number.POSITIVE_INFINITY);
  const work = !isLate && mayGoOn(workflow, execution, session) ? dueWork(draft, workflow, session) : undefined;
  if (work) return begin(draft, workflow, session, work, command.expected);
  if (!isLate && command.stays && mayStay(draft, workflow, execution, session)) return { waits: true };
  const ended = endFor(execution, isLate);
  endSession(draft, session, { to: ended, timeoutMs: command.timeoutMs });
  return { ended };
}

function endFor({ cancelRequestedAt }: Execution, isLate: boolean): ExecutionEnd {
  if (cancelRequestedAt !== null) return 'cancelled';
  return isLate ? 'timeout' : 'completed';
}

function mayGoOn(workflow: Workflow, execution: Execution, session: Session): boolean {
  return isStartable(workflow) && execution.cancelRequestedAt === null && session.handlerRunCount < SESSION_RUNS_MAX;
}

/** Not where anybody waits for its end: a new version, a request behind it, or those who want its place under a limit. */
function mayStay(draft: Draft, workflow: Workflow, execution: Execution, session: Session): boolean {
  if (!mayGoOn(workflow, execution, session) || workflow.activeScriptId !== session.scriptId) return false;
  if (draft.now - session.startTimestamp >= SESSION_STAY_MS_MAX) return false;
  return execution.slots.length === 0 && draft.find('openExecutions', workflow.id).length === 1;
}

/** A session keeps to its version: handlers of a version activated meanwhile wait for the next session. */
function dueWork(draft: Draft, workflow: Workflow, session: Session): Work | undefined {
  if (workflow.activeScriptId !== session.scriptId) return undefined;
  return workOf(draft, workflow).find((work) => work.at <= draft.now);
}

function begin(
  draft: Draft,
  workflow: Workflow,
  session: Session,
  work: Work,
  expected: ExpectedRun | undefined,
): { run: RunId; isOther?: true } {
  if (expected && isAsExpected(draft, workflow, session, work, expected))
    return { run: createRun(draft, workflow, session, expected.handler, null, expected) };
  const other = expected ? ({ isOther: true } as const) : {};
  switch (work.kind) {
    case 'retry':
      return { run: retry(draft, workflow, session, runOf(draft, work.run)).run, ...other };
    case 'delivery':
      return { run: createRun(draft, workflow, session, work.handler, work.delivery), ...other };
    case 'producer':
    case 'consumer':
      return { run: createRun(draft, workflow, session, work.handler, null), ...other };
  }
}

/** What was prepared is worth something only to the run it was prepared for, on the state that handler still has. */
function isAsExpected(draft: Draft, workflow: Workflow, session: Session, work: Work, expected: ExpectedRun): boolean {
  if (work.kind !== 'consumer' || work.handler !== expected.handler || session.scriptId !== expected.script)
    return false;
  // What it was not shown may have come before what it was.
  if (expected.newIn !== undefined && !draft.wasEmpty(workflow, expected.newIn)) return false;
  return keptState(draft, session.workflowId, work.handler).state === expected.state;
}
