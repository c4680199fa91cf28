import type { MutationId, RunId, WorkerId, WorkflowId } from '#base';
import { Recent } from '#metrics';
import type { Mutation, Run, Write } from '#model';
import type { Line } from './line.ts';

/** Runs and calls whose workflow is remembered: far more than are under way at once. */
const REMEMBERED_MAX = 1_000;

type About = Line['about'];

/** Turns what each command wrote into lines. Keeps only ids; a run or a call from before this process has its own id at least. */
export function journal(tell: (line: Line) => void): (writes: readonly Write[]) => void {
  const runs = new Recent<RunId, About>(REMEMBERED_MAX);
  const calls = new Recent<MutationId, About>(REMEMBERED_MAX);
  const here = new Set<WorkerId>();
  const known: Known = {
    run: (run) => runs.get(run) ?? { run },
    call: (mutation) => calls.get(mutation) ?? { mutation },
    isHere: (worker) => here.has(worker),
  };
  return (writes) => {
    for (const write of writes) {
      if (write.set === 'run.created') runs.set(write.row.id, aboutRun(write.row));
      if (write.set === 'mutation.recorded') calls.set(write.row.id, aboutCall(write.row));
      // A process registers only itself.
      if (write.set === 'worker.registered') here.add(write.row.id);
    }
    const named = writes.flatMap((write) => ('workflow' in write ? [write.workflow] : []))[0];
    for (const write of writes) {
      const line = fenced(write, writes) ?? outOfTime(write, writes) ?? lineOf(write, known);
      if (line) tell(named === undefined ? line : { ...line, about: { ...workflowIn(line, named), ...line.about } });
    }
  };
}

interface Known {
  run(run: RunId): About;
  call(mutation: MutationId): About;
  /** Whether it is the one that tells. */
  isHere(worker: WorkerId): boolean;
}

/** The workflow that the same command named, for lines about a thing of which only the id is known. */
function workflowIn({ about }: Line, workflow: WorkflowId): About {
  return 'run' in about || 'mutation' in about ? { workflow } : {};
}

function aboutRun({ id, workflowId, handlerName, scriptRunId }: Run): About {
  return { workflow: workflowId, session: scriptRunId, run: id, handler: handlerName };
}

function aboutCall({ id, workflowId, handlerRunId, connection, method }: Mutation): About {
  return { workflow: workflowId, run: handlerRunId, mutation: id, connection, method };
}

function lineOf(write: Write, known: Known): Line | undefined {
  switch (write.set) {
    case 'run.created':
      return { level: 'debug', message: 'a run began', about: known.run(write.row.id) };
    case 'run.committed':
    case 'run.finished':
      return { level: 'debug', message: 'a run committed', about: known.run(write.run) };
    case 'run.stopped':
      return stopped(write, known.run(write.run));
    case 'mutation.recorded':
      return write.row.status === 'pending'
        ? { level: 'info', message: 'a call waits for approval', about: known.call(write.row.id) }
        : { level: 'debug', message: 'a call is recorded and goes out', about: known.call(write.row.id) };
    case 'mutation.sent':
      return { level: 'debug', message: 'an approved call goes out', about: known.call(write.mutation) };
    case 'mutation.applied':
    case 'mutation.failed':
      return settled(write, known.call(write.mutation));
    case 'mutation.unknown':
      return unknown(write, known.call(write.mutation));
    default:
      return lineOfOther(write, known);
  }
}

function lineOfOther(write: Write, known: Known): Line | undefined {
  switch (write.set) {
    case 'workflow.standing': {
      const { workflow, to, holds } = write;
      if (write.from === to) return undefined;
      return { level: 'info', message: `a workflow is ${to}`, about: { workflow, holds: holds.join(' ') } };
    }
    case 'connection.changed':
      if (write.refusedAt === null) return undefined;
      return { level: 'warn', message: 'a connection was refused', about: { connection: write.name } };
    case 'worker.registered':
      return { level: 'info', message: 'a process joined', about: { worker: write.row.id, name: write.row.name } };
    case 'worker.ended':
      return known.isHere(write.worker)
        ? { level: 'info', message: 'a process left', about: { worker: write.worker } }
        : {
            level: 'warn',
            message: 'a process that ended without a word was struck off',
            about: { worker: write.worker },
          };
    case 'task.opened':
      return {
        level: 'warn',
        message: `a case was opened: ${write.row.kind}`,
        about: { workflow: write.row.workflowId, run: write.row.runId, task: write.row.id },
      };
    case 'notice.tried':
      if (write.to === 'sent') return undefined;
      return {
        level: 'warn',
        message: 'a notice could not be sent',
        about: { notice: write.notice, status: write.to },
      };
    case 'audit.appended':
      return {
        level: 'info',
        message: 'a person acted',
        about: { act: write.act, by: write.actor, on: write.subject },
      };
    default:
      return undefined;
  }
}

/** What else it was about stands in the same command. A limit that is met by what is well is too low. */
function outOfTime(write: Write, writes: readonly Write[]): Line | undefined {
  if (write.set !== 'execution.ended' || write.timeoutMs === undefined) return undefined;
  const { execution, timeoutMs } = write;
  const about: Record<string, string | number> = {};
  for (const each of writes) {
    if (each.set === 'message.sent' && each.row.executionId === execution) about.workflow = each.row.workflowId;
    if (each.set === 'session.completed' || each.set === 'session.failed') about.session = each.session;
  }
  return { level: 'warn', message: 'a session was ended by its time limit', about: { ...about, execution, timeoutMs } };
}

/** What nobody has claimed has no owner: it was cancelled, and nobody came to say so. */
function fenced(write: Write, writes: readonly Write[]): Line | undefined {
  if (write.set !== 'execution.fenced') return undefined;
  const about = { execution: write.execution };
  const isUnclaimed = writes.some((each) => each.set === 'execution.ended' && each.from === 'scheduled');
  return isUnclaimed
    ? { level: 'info', message: 'a cancelled execution was ended that nobody had taken', about }
    : { level: 'warn', message: 'an execution was taken from its owner', about };
}

/** A stop that goes on by itself is no news at night. */
const QUIET_STOPS: readonly string[] = ['cancelled', 'paused:transient'];

function stopped(write: Extract<Write, { set: 'run.stopped' }>, about: About): Line {
  const { status, errorType } = write;
  return {
    level: QUIET_STOPS.includes(status) ? 'info' : 'warn',
    message: `a run stopped: ${status}`,
    about: { ...about, status, ...(errorType !== null && { errorType }) },
  };
}

function settled(write: Extract<Write, { set: 'mutation.applied' | 'mutation.failed' }>, about: About): Line {
  const isOrdinary = write.resolvedBy === 'provider' && write.set === 'mutation.applied';
  const what = write.set === 'mutation.applied' ? 'a call was applied' : 'a call was not done';
  // A call that was not done may never have reached a provider: nobody else is to be named for it.
  const isUnasked = write.resolvedBy === 'provider' && write.set === 'mutation.failed';
  const by = isUnasked ? {} : { by: write.resolvedBy };
  return { level: isOrdinary ? 'debug' : 'info', message: what, about: { ...about, ...by } };
}

function unknown(write: Extract<Write, { set: 'mutation.unknown' }>, about: About): Line | undefined {
  if (write.from === write.to) return undefined;
  const what = write.to === 'indeterminate' ? 'and nobody can look it up' : 'and it will be looked up';
  return { level: 'warn', message: `nobody knows what came of a call, ${what}`, about };
}
