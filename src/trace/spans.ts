import {
  type ExecutionId,
  idTimeOf,
  type MutationId,
  type RunId,
  type SessionId,
  sha256,
  type WorkflowId,
} from '#base';
import { Recent } from '#metrics';
import type { Write } from '#model';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  /** A call to the outside is a client's. */
  readonly isCall: boolean;
  readonly startMs: number;
  readonly endMs: number;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, string | number>>;
}

type Begun = Omit<Span, 'endMs' | 'isError'>;

/** What is under way and remembered; far more than an engine does at once. */
const BEGUN_MAX = 10_000;

/**
 * Turns what each command wrote into spans that have ended. Ids follow from those of the rows, so that whatever process tells its part of
 * an execution tells it in the same trace.
 */
export function spansOf(tell: (span: Span) => void, now: () => number): (writes: readonly Write[]) => void {
  const begun: Begins = {
    executions: new Recent(BEGUN_MAX),
    sessions: new Recent(BEGUN_MAX),
    runs: new Recent(BEGUN_MAX),
    calls: new Recent(BEGUN_MAX),
  };
  return (writes) => {
    for (const write of writes) begin(write, begun);
    for (const write of writes) {
      const span = ended(write, begun, now);
      if (span) tell(span);
    }
  };
}

interface Begins {
  readonly executions: Recent<ExecutionId, Begun>;
  readonly sessions: Recent<SessionId, Begun>;
  readonly runs: Recent<RunId, Begun>;
  readonly calls: Recent<MutationId, Begun>;
}

const TRACE_CHARS = 32;
const SPAN_CHARS = 16;
const spanIdOf = (id: string): string => sha256(id).slice(0, SPAN_CHARS);

function begin(write: Write, { executions, sessions, runs, calls }: Begins): void {
  switch (write.set) {
    case 'execution.requested': {
      const { id, workflowId, trigger, requestedAt } = write.row;
      executions.set(id, triggered(id, workflowId, trigger, requestedAt));
      return;
    }
    case 'session.created': {
      const { id, executionId, workflowId, trigger, startTimestamp } = write.row;
      // Another process may have asked for it: this one will end it, and tells of it then.
      if (executions.get(executionId) === undefined) {
        const askedAt = Math.min(idTimeOf(executionId) ?? startTimestamp, startTimestamp);
        executions.set(executionId, triggered(executionId, workflowId, trigger, askedAt));
      }
      const attributes = { 'pawl.workflow': workflowId, 'pawl.session': id, 'pawl.trigger': trigger };
      sessions.set(id, child(executionId, spanIdOf(executionId), id, 'session', startTimestamp, attributes));
      return;
    }
    case 'run.created': {
      const { id, scriptRunId, workflowId, handlerName, attempt, startTimestamp } = write.row;
      const parent = sessions.get(scriptRunId);
      if (!parent) return;
      const attributes = {
        'pawl.workflow': workflowId,
        'pawl.run': id,
        'pawl.handler': handlerName,
        'pawl.attempt': attempt,
      };
      runs.set(id, { ...under(parent, id, startTimestamp), name: `run ${handlerName}`, isCall: false, attributes });
      return;
    }
    case 'mutation.recorded': {
      const { id, handlerRunId, workflowId, connection, method, createdAt } = write.row;
      const parent = runs.get(handlerRunId);
      if (!parent) return;
      const attributes = {
        'pawl.workflow': workflowId,
        'pawl.run': handlerRunId,
        'pawl.mutation': id,
        'pawl.connection': connection,
        'pawl.method': method,
      };
      calls.set(id, { ...under(parent, id, createdAt), name: `${connection}.${method}`, isCall: true, attributes });
    }
  }
}

function triggered(id: ExecutionId, workflow: WorkflowId, trigger: string, startMs: number): Begun {
  return {
    traceId: sha256(id).slice(-TRACE_CHARS),
    spanId: spanIdOf(id),
    parentSpanId: null,
    name: `trigger ${trigger}`,
    isCall: false,
    startMs,
    attributes: { 'pawl.workflow': workflow, 'pawl.execution': id },
  };
}

function child(
  execution: ExecutionId,
  parentSpanId: string,
  id: string,
  name: string,
  startMs: number,
  attributes: Span['attributes'],
): Begun {
  const traceId = sha256(execution).slice(-TRACE_CHARS);
  return { traceId, spanId: spanIdOf(id), parentSpanId, name, isCall: false, startMs, attributes };
}

function under({ traceId, spanId }: Begun, id: string, startMs: number) {
  return { traceId, spanId: spanIdOf(id), parentSpanId: spanId, startMs };
}

/** Stops that no one would call an error. */
const QUIET_STOPS: readonly string[] = ['cancelled', 'paused:approval'];

function ended(write: Write, begun: Begins, now: () => number): Span | undefined {
  switch (write.set) {
    case 'execution.ended':
      return end(begun.executions.get(write.execution), write.at, write.to !== 'completed', {
        'pawl.status': write.to,
      });
    case 'session.completed':
      return end(begun.sessions.get(write.session), write.at, false, { 'pawl.result': 'completed' });
    case 'session.failed':
      return end(begun.sessions.get(write.session), write.at, true, { 'pawl.result': 'failed' });
    case 'run.committed':
      return end(begun.runs.get(write.run), write.at, false, { 'pawl.status': 'committed' });
    case 'run.stopped':
      return end(begun.runs.get(write.run), write.at, !QUIET_STOPS.includes(write.status), {
        'pawl.status': write.status,
      });
    case 'mutation.applied':
    case 'mutation.failed': {
      // What was unknown before has had its span, and is settled by somebody else.
      if (write.from !== 'in_flight') return undefined;
      const outcome = write.set === 'mutation.applied' ? 'applied' : 'failed';
      const attributes = { 'pawl.outcome': outcome, 'pawl.resolved_by': write.resolvedBy };
      return end(begun.calls.get(write.mutation), write.at, outcome === 'failed', attributes);
    }
    case 'mutation.unknown':
      if (write.from !== 'in_flight') return undefined;
      return end(begun.calls.get(write.mutation), write.callEndedAt ?? now(), true, { 'pawl.outcome': 'unknown' });
    default:
      return undefined;
  }
}

function end(begun: Begun | undefined, endMs: number, isError: boolean, more: Span['attributes']): Span | undefined {
  return (
    begun && { ...begun, endMs: Math.max(endMs, begun.startMs), isError, attributes: { ...begun.attributes, ...more } }
  );
}
